defmodule PtcRunner.Lisp.Firewalled do
  @moduledoc false
  # Runs of PTC-Lisp with `firewall: true`. Nothing follows firewalled data through a program of PTC-Lisp, so none gets any: a program sees the
  # public part of its data, its memory, its history and the answers of its tools. Whatever it makes of them, in a value, a print, an
  # argument, an error or a branch, has nothing of a firewalled field.
  #
  # A program that names such a field would find nothing there, so it is refused instead.

  alias PtcRunner.Firewall.{Hidden, Marks, Public}
  alias PtcRunner.Json.{Codec, Text}

  alias PtcRunner.Lisp.{
    Data,
    Function,
    Given,
    Keyword,
    Program,
    Remembered,
    ToolAnswer,
    Tools
  }

  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Signature.Firewall

  # Maximum number of parts of a value that are looked at; one with more parts may have such fields.
  @parts 1_000_000
  # Of a text that is decoded to be looked at.
  @words_per_part 8

  @what "Use PTC-JSON, or say with firewall: false that the program may read such fields"

  @typep refused :: {:error, :validation_error, String.t(), nil}

  @doc """
  What a program is given to see, or why it may not run.

      iex> alias PtcRunner.Lisp.{Firewalled, Given}
      iex> given = Given.read(context: %{"users" => [%{"id" => 1, "_pin" => 2}]}, firewall: true)
      iex> {:ok, program} = PtcRunner.Lisp.compile("(map :id data/users)")
      iex> {:ok, seen} = Firewalled.seen(program, given)
      iex> seen.context
      %{"users" => [%{"id" => 1}]}
      iex> {:ok, program} = PtcRunner.Lisp.compile("(map :_pin data/users)")
      iex> {:error, :validation_error, text, nil} = Firewalled.seen(program, given)
      iex> text =~ "The program names the field _pin, and data/users has firewalled data."
      true

  """
  @spec seen(Program.t(), Given.t()) :: {:ok, Given.t()} | refused()
  def seen(_program, %Given{firewall: false} = given), do: {:ok, given}

  def seen(program, %Given{} = given) do
    with {:ok, context} <- data(program, given.context),
         {:ok, memory} <- memory(program, given.memory),
         {:ok, history} <- public("the history", given.history, program),
         do: {:ok, %{given | context: context, memory: memory, history: history}}
  end

  defp data(program, context) do
    each(Data.parts(program, context), context, fn {name, {:ok, value}}, context ->
      with {:ok, public} <- public("data/#{name}", value, program),
           do: {:ok, if(public === value, do: context, else: replaced(context, name, public))}
    end)
  end

  # Under the spelling that the program reads first.
  defp replaced(context, name, value) do
    spellings = for text <- [name, String.replace(name, "-", "_")], key <- keys(text), do: key
    Map.put(context, Enum.find(spellings, &is_map_key(context, &1)), value)
  end

  defp keys(text) do
    [text, String.to_existing_atom(text)]
  rescue
    _no_atom in [ArgumentError, SystemLimitError] -> [text]
  end

  defp memory(program, memory) do
    marked = Marks.names(memory)
    names = program.names.globals ++ program.names.builtins
    kept = for name <- Enum.uniq(names), do: {name, Remembered.fetch(memory, name)}

    each(kept, memory, fn {name, {:ok, value}}, memory ->
      with :ok <- unmarked(name, marked),
           {:ok, public} <- public(name, value, program) do
        key = Enum.find(keys(name), &is_map_key(memory, &1))
        {:ok, if(public === value, do: memory, else: Map.put(memory, key, public))}
      end
    end)
  end

  defp each(parts, map, change) do
    Enum.reduce_while(parts, {:ok, map}, fn
      {_name, :error}, done -> {:cont, done}
      part, {:ok, map} -> part |> change.(map) |> continued()
    end)
  end

  defp continued({:ok, _map} = done), do: {:cont, done}
  defp continued(refused), do: {:halt, refused}

  defp unmarked(name, marked),
    do: if(name in marked, do: refused("#{Shown.name(name)} has firewalled data"), else: :ok)

  # The public part of a value that the program reads.
  defp public(name, value, program) do
    case part(value) do
      {:ok, public} when public === value ->
        {:ok, value}

      {:ok, public} ->
        case mentioned(program) do
          nil ->
            {:ok, public}

          field ->
            refused(
              "The program names the field #{field}, and #{Shown.name(name)} has firewalled data"
            )
        end

      :error ->
        refused(
          "#{Shown.name(name)} may have firewalled data: it has a function with such data, or more than #{@parts} parts"
        )
    end
  end

  defp refused(text), do: {:error, :validation_error, "#{text}. #{@what}", nil}

  @doc """
  The public part of a value; `:error` if it is too large to be looked at, or a function has firewalled data.

      iex> PtcRunner.Lisp.Firewalled.part([%{"id" => 1, "_pin" => 2}])
      {:ok, [%{"id" => 1}]}

  """
  @spec part(term()) :: {:ok, term()} | :error
  def part(%Text{} = text) do
    with true <- Text.hidden?(text),
         {:ok, value} <- Codec.decode(text.binary, max_heap: @words_per_part * @parts) do
      part(value)
    else
      false -> {:ok, text}
      {:error, %{reason: limit}} when limit in [:timeout, :memory_exceeded] -> :error
      # The run says what is wrong with it.
      {:error, _reason} -> {:ok, text}
    end
  end

  def part(value) do
    with {:ok, public} <- Public.part(value, @parts) do
      cond do
        public === value -> if(Hidden.in?([value]), do: :error, else: {:ok, value})
        Hidden.in?([public]) or function?(value) -> :error
        true -> {:ok, public}
      end
    else
      :too_large -> :error
    end
  end

  # Whether there is a function, or a text, in a value of which something is firewalled.
  defp function?(%module{}) when module in [Function, Text], do: true
  defp function?(%_struct{} = struct), do: struct |> Map.from_struct() |> function?()

  defp function?(map) when is_map(map),
    do: Enum.any?(map, fn {key, value} -> function?(key) or function?(value) end)

  defp function?([item | rest]), do: function?(item) or function?(rest)
  defp function?(tuple) when is_tuple(tuple), do: tuple |> Tuple.to_list() |> function?()
  defp function?(_leaf), do: false

  @doc """
  A firewalled name that a program, or a function of its memory, has as a keyword or a text.

      iex> {:ok, program} = PtcRunner.Lisp.compile("(fn [_] (get data/user \\"_pin\\"))")
      iex> PtcRunner.Lisp.Firewalled.mentioned(program)
      "_pin"

  """
  @spec mentioned(Program.t()) :: String.t() | nil
  def mentioned(%Program{consts: consts}),
    do: consts |> Tuple.to_list() |> Enum.find_value(&name/1)

  defp name(%Keyword{name: name}), do: if(Firewall.hidden?(name), do: Shown.name(name))
  defp name([item | rest]), do: name(item) || name(rest)
  defp name(text) when is_binary(text), do: if(text =~ ~r/\A[_-][a-z]\w*\z/iu, do: text)
  defp name(_other), do: nil

  @doc """
  The tools of a run; with a firewall, its program gets the public part of their answers. Where it names a firewalled field, an answer with firewalled data
  is an error of the tool.
  """
  @spec tools(Tools.t(), Given.t(), Program.t()) :: Tools.t()
  def tools(tools, %Given{firewall: false}, _program), do: tools

  def tools(tools, _given, program) do
    field = mentioned(program)
    Map.new(tools, fn {name, fun} -> {name, &answers(fun.(&1), field)} end)
  end

  # A tool that takes several calls answers with a list.
  defp answers(answers, field) when is_list(answers), do: Enum.map(answers, &answer(&1, field))
  defp answers(answer, field), do: answer(answer, field)

  @spec answer(ToolAnswer.t(), String.t() | nil) :: ToolAnswer.t()
  defp answer({:value, value} = answer, field) do
    case part(value) do
      {:ok, public} when public === value ->
        answer

      {:ok, public} when field == nil ->
        {:value, public}

      {:ok, _public} ->
        failed("its answer has firewalled data, and the program names the field #{field}")

      :error ->
        failed("its answer may have firewalled data: it has more than #{@parts} parts")
    end
  end

  defp answer(failed, _field), do: failed

  defp failed(text) do
    text = "#{text}. #{@what}"
    {:failed, inspect(text, printable_limit: :infinity), text}
  end
end
