defmodule PtcRunner.SubAgent.Signature.Enums do
  @moduledoc false
  # Checks values against the enumerations of their fields (see `Annotations`).
  #
  # The type is read once, into a plan of the fields that have an enumeration. The walk then looks at these
  # fields only, takes linear time, ends at a deadline, and renders each enumeration once and a limited number of errors.

  alias PtcRunner.SubAgent.Signature.Base
  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Loop.JsonHandler.Atomizer
  alias PtcRunner.SubAgent.Signature.{Annotations, ErrorText, Firewall}

  # Maximum number of errors that are listed.
  @most 1_000
  # Number of values between two looks at the clock.
  @between 1_024

  @typep plan ::
           nil
           | {:optional, plan()}
           | {:list, plan()}
           | {:fields, [{String.t(), atom() | String.t(), plan()}]}
           | {:values, MapSet.t(), String.t()}

  @doc """
  An error for each of the first values that is not in the enumeration of its field, and one with the number of further
  ones. Only values that match the type are checked. `:timeout` if the walk has not ended at `until`, a
  `System.monotonic_time/1` in milliseconds.

      iex> type = {:list, {:map, [{"status", {:optional, :string}}]}}
      iex> enums = %{"status" => ["open"]}
      iex> PtcRunner.SubAgent.Signature.Enums.errors([%{"status" => "opne"}, %{}], type, enums, :infinity)
      [%{path: [0, "status"], message: ~s(expected one of "open", got "opne")}]

  """
  @spec errors(term(), term(), %{String.t() => [term()]}, integer() | :infinity) ::
          [map()] | :timeout
  def errors(_value, _type, enums, _until) when enums == %{}, do: []

  def errors(value, type, enums, until) do
    plan = plan(type, "", enums, concerned(enums))
    {errors, count, _left} = walk(plan, value, [], {[], 0, {@between, until}})
    errors = Enum.reverse(errors)
    if count > @most, do: errors ++ [more(count - @most)], else: errors
  catch
    {__MODULE__, :timeout} -> :timeout
  end

  @doc """
  Errors of validation with those of the enumerations of other values, so that all are told at once.

      iex> alias PtcRunner.SubAgent.Signature.Enums
      iex> type = {:map, [{"status", :string}, {"n", :int}]}
      iex> Enums.beside([%{path: ["n"], message: "expected int, got string"}], %{"status" => "opne", "n" => "x"}, type, %{"status" => ["open"]}, :infinity)
      [%{path: ["n"], message: "expected int, got string"}, %{path: ["status"], message: ~s(expected one of "open", got "opne")}]

  """
  @spec beside([map()], term(), term(), %{String.t() => [term()]}, integer() | :infinity) :: [
          map()
        ]
  def beside(errors, value, type, enums, until) do
    case errors(value, type, enums, until) do
      [_ | _] = more ->
        known = MapSet.new(errors, & &1.path)
        errors ++ Enum.reject(more, &(&1.path in known))

      _none ->
        errors
    end
  end

  defp more(1), do: %{path: [], message: "1 more value is not among those allowed"}
  defp more(count), do: %{path: [], message: "#{count} more values are not among those allowed"}

  # The paths that have an enumeration, and all paths above them.
  defp concerned(enums) do
    for {path, _values} <- enums, above <- above(path), into: MapSet.new(), do: above
  end

  defp above(path) do
    path |> :binary.split(".", [:global]) |> Enum.scan(&Annotations.join(&2, &1))
  end

  defp plan({:optional, type}, path, enums, concerned) do
    with plan when plan != nil <- plan(type, path, enums, concerned), do: {:optional, plan}
  end

  defp plan({:list, type}, path, enums, concerned) do
    with plan when plan != nil <- plan(type, path, enums, concerned), do: {:list, plan}
  end

  defp plan({kind, _, _} = type, path, enums, concerned) when kind in [:where, :struct, :defs],
    do: plan(Base.bare(type), path, enums, concerned)

  defp plan({kind, fields}, path, enums, concerned) when kind in [:map, :closed_map] do
    plans =
      for {name, type} <- fields,
          below = Annotations.join(path, name),
          below in concerned,
          plan = plan(type, below, enums, concerned),
          do: {name, Atomizer.safe_to_atom(name), plan}

    if plans != [], do: {:fields, plans}
  end

  defp plan(_scalar, path, enums, _concerned) do
    case enums do
      %{^path => values} -> {:values, MapSet.new(values), shown(values)}
      %{} -> nil
    end
  end

  defp shown(values), do: Shown.few(values, &Shown.text(&1, 200))

  defp walk(nil, _value, _at, found), do: found
  defp walk({:optional, _plan}, nil, _at, found), do: due(found)
  defp walk({:optional, plan}, value, at, found), do: walk(plan, value, at, found)

  defp walk({:list, plan}, values, at, found) when is_list(values),
    do: each(values, 0, plan, at, found)

  defp walk({:fields, fields}, map, at, found) when is_map(map) do
    Enum.reduce(fields, due(found), fn {name, atom, plan}, found ->
      case map do
        %{^name => value} -> walk(plan, value, [name | at], found)
        %{^atom => value} -> walk(plan, value, [name | at], found)
        %{} -> found
      end
    end)
  end

  defp walk({:values, set, shown}, value, at, found) do
    {errors, count, left} = due(found)

    cond do
      MapSet.member?(set, value) -> {errors, count, left}
      count < @most -> {[error(value, shown, at) | errors], count + 1, left}
      true -> {errors, count + 1, left}
    end
  end

  defp walk(_plan, _value, _at, found), do: found

  defp each([value | values], index, plan, at, found),
    do: each(values, index + 1, plan, at, walk(plan, value, [index | at], found))

  defp each(_end, _index, _plan, _at, found), do: found

  defp due({errors, count, {left, until}}) when left > 0, do: {errors, count, {left - 1, until}}

  defp due({errors, count, {0, until}}) do
    # An integer is less than any atom.
    if System.monotonic_time(:millisecond) >= until, do: throw({__MODULE__, :timeout})
    {errors, count, {@between, until}}
  end

  defp error(value, shown, at) do
    got = if Firewall.below?(at), do: ErrorText.kind(value), else: Shown.text(value, 200)
    %{path: Enum.reverse(at), message: "expected one of #{shown}, got #{got}"}
  end
end
