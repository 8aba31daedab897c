defmodule PtcRunner.SubAgent.Signature.FromEcto.Validations do
  @moduledoc false
  # The rules of a changeset: which fields it requires, and what it says of their values.

  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.FromEcto.Pattern
  alias PtcRunner.SubAgent.Signature.RuleCheck

  @bounds %{
    greater_than: :exclusive_min,
    greater_than_or_equal_to: :min,
    less_than: :exclusive_max,
    less_than_or_equal_to: :max
  }

  @lower [:min, :exclusive_min, :min_length, :min_items]
  @upper [:max, :exclusive_max, :max_length, :max_items]

  @not_whole "a signature has no such rule"

  @typedoc "What a changeset says: the fields that it requires, and by field its validations in the order in which they were made."
  @type t :: %{required: [atom()], rules: %{atom() => [term()]}}

  @typedoc "What is kept of a validation: rules of the value, rules of the items of a list, and what is not kept."
  @type read :: {keyword(), keyword(), [{keyword :: String.t(), why :: String.t()}]}

  @doc "What a schema says without a changeset."
  @spec none() :: t()
  def none, do: %{required: [], rules: %{}}

  @doc """
  What the changeset of a schema says; an error if it cannot be made. `functions` has those of the option `:changeset`, by schema, or is
  false.
  """
  @spec of(module(), %{module() => term()} | false) :: {:ok, t()} | {:error, String.t()}
  def of(_module, false), do: {:ok, none()}

  def of(module, functions) do
    case Map.fetch(functions, module) do
      {:ok, false} -> {:ok, none()}
      {:ok, fun} -> made(fun, module)
      :error -> if default?(module), do: made(&module.changeset/2, module), else: {:ok, none()}
    end
  end

  defp default?(module), do: function_exported?(module, :changeset, 2)

  # The function is the application's, and is made for parameters of a form.
  defp made(fun, module) do
    case fun.(module.__struct__(), %{}) do
      %{__struct__: _changeset, required: required, validations: validations}
      when is_list(required) and is_list(validations) ->
        rules = validations |> Enum.reverse() |> Enum.group_by(&elem(&1, 0), &elem(&1, 1))
        {:ok, %{required: required, rules: rules}}

      other ->
        {:error, "the function gives no changeset: #{Shown.text(other, 200)}"}
    end
  rescue
    error -> {:error, "the function raised #{Shown.exception(error)}"}
  catch
    kind, _reason -> {:error, "the function ended with #{kind}"}
  end

  @doc "A type with a field's validations, and what of them is not kept."
  @spec put(Signature.type(), [term()]) :: {Signature.type(), [{String.t(), String.t()}]}
  def put(type, validations) do
    Enum.reduce(validations, {type, []}, fn validation, {type, dropped} ->
      {rules, items, lost} = read(validation, bare(type))
      {type, dropped} = each(rules, type, dropped ++ lost, &ruled/2)
      each(items, type, dropped, &items_ruled/2)
    end)
  end

  defp each(rules, type, dropped, put) do
    Enum.reduce(rules, {type, dropped}, fn {name, _value} = rule, {type, dropped} ->
      case put.(type, [rule]) do
        {:ok, type} -> {type, dropped}
        {:error, why} -> {type, dropped ++ [{Atom.to_string(name), why}]}
      end
    end)
  end

  defp bare({:where, type, _rules}), do: type
  defp bare(type), do: type

  @doc """
  A type with more rules, each with those that it has; an error if they do not go together.

      iex> alias PtcRunner.SubAgent.Signature.FromEcto.Validations
      iex> Validations.ruled({:where, :int, [min: 1]}, min: 3)
      {:ok, {:where, :int, [min: 3]}}
      iex> Validations.ruled(:bool, min: 3)
      {:error, ":min does not fit :bool"}

  """
  @spec ruled(Signature.type(), keyword()) :: {:ok, Signature.type()} | {:error, String.t()}
  def ruled({:where, type, old}, rules) do
    with {:ok, rules} <- together(rules, Map.new(old)),
         do: RuleCheck.checked(type, RuleCheck.ordered(rules), %{})
  end

  def ruled(type, rules), do: RuleCheck.checked(type, RuleCheck.ordered(rules), %{})

  defp items_ruled({:where, {:list, type}, rules}, new) do
    with {:ok, type} <- ruled(type, new), do: {:ok, {:where, {:list, type}, rules}}
  end

  defp items_ruled({:list, type}, new) do
    with {:ok, type} <- ruled(type, new), do: {:ok, {:list, type}}
  end

  defp together([], old), do: {:ok, old}

  defp together([{name, value} | rest], old) do
    case old do
      %{^name => ^value} ->
        together(rest, old)

      %{^name => before} ->
        with({:ok, old} <- both(name, before, value, old), do: together(rest, old))

      _new ->
        together(rest, Map.put(old, name, value))
    end
  end

  # The narrower one of two.
  defp both(name, before, value, old) when name in @lower or name in @upper do
    narrower? = RuleCheck.beyond?(if(name in @lower, do: :min, else: :max), value, before)
    {:ok, if(narrower?, do: Map.put(old, name, value), else: old)}
  end

  defp both(:enum, before, values, old) do
    case Enum.filter(before, &(&1 in values)) do
      [] -> {:error, "no value is among both"}
      values -> {:ok, %{old | enum: values}}
    end
  end

  defp both(name, _before, _value, _old), do: {:error, "there is a rule :#{name} already"}

  # What is kept of a validation of a field of this type.
  @spec read(term(), Signature.type()) :: read()
  defp read({:length, opts}, type) when is_list(opts), do: lengths(opts, type, opts[:count])

  defp read({:number, opts}, _type) when is_list(opts) do
    kept =
      Enum.flat_map(opts, fn
        {:equal_to, number} -> [min: number, max: number]
        {name, number} when is_map_key(@bounds, name) -> [{@bounds[name], number}]
        _other -> []
      end)

    {kept, [], if(opts[:not_equal_to], do: [{"not_equal_to", @not_whole}], else: [])}
  end

  defp read({:inclusion, first..last//1}, type) when type in [:int, :float, :decimal],
    do: {[min: first, max: last], [], []}

  defp read({:inclusion, values}, _type), do: {[enum: Enum.to_list(values)], [], []}
  defp read({:subset, values}, {:list, _type}), do: {[], [enum: Enum.to_list(values)], []}

  defp read({:format, %Regex{} = regex}, _type) do
    case Pattern.of(regex) do
      {:ok, pattern} -> {[pattern: pattern], [], []}
      {:error, why} -> {[], [], [{"format", why}]}
    end
  end

  defp read({:acceptance, _opts}, :bool), do: {[enum: [true]], [], []}
  defp read({name, _about}, _type) when is_atom(name), do: lost(name)
  defp read(name, _type) when is_atom(name), do: lost(name)
  defp read(other, _type), do: {[], [], [{Shown.text(other, 100), @not_whole}]}

  defp lost(name), do: {[], [], [{Atom.to_string(name), @not_whole}]}

  defp lengths(opts, {:list, _type}, _count), do: {counts(opts, :min_items, :max_items), [], []}

  # A text has at most as many characters as bytes.
  defp lengths(opts, _type, :bytes) do
    {for({:max_length, _most} = rule <- counts(opts, :min_length, :max_length), do: rule), [],
     [{"length", "a signature does not count bytes"}]}
  end

  defp lengths(opts, _type, _count), do: {counts(opts, :min_length, :max_length), [], []}

  defp counts(opts, least, most) do
    Enum.flat_map(opts, fn
      {:min, count} -> [{least, count}]
      {:max, count} -> [{most, count}]
      {:is, count} -> [{least, count}, {most, count}]
      _other -> []
    end)
  end
end
