defmodule PtcRunner.Lisp.Firewalled do
  @moduledoc false
  # Runs of PTC-Lisp with `firewall: true`. Nothing follows firewalled data through a program of PTC-Lisp, so none gets any: a program that reads
  # data with firewalled fields is refused before it runs, and an answer with them is an error of the tool.

  alias PtcRunner.Firewall.{Hidden, Marks, Public}
  alias PtcRunner.Lisp.{Data, Given, Program, Remembered, ToolAnswer, Tools}
  alias PtcRunner.Shown

  # Maximum number of parts of a value that are looked at; one with more parts may have such fields.
  @parts 1_000_000

  @what "PTC-Lisp does not follow firewalled fields, whose names begin with _, through a program. Give data without them, " <>
          "use PTC-JSON, or say with firewall: false that the program may read them"

  @doc """
  Whether a program may run with what it is given: `:ok`, or why not.

      iex> alias PtcRunner.Lisp.{Firewalled, Given}
      iex> {:ok, program} = PtcRunner.Lisp.compile("(map :id data/users)")
      iex> given = Given.read(context: %{"users" => [%{"id" => 1, "_pin" => 2}], "other" => 1}, firewall: true)
      iex> {:error, :validation_error, text} = Firewalled.check(program, given)
      iex> String.slice(text, 0, 43)
      "data/users has firewalled data: PTC-Lisp do"
      iex> Firewalled.check(program, %{given | firewall: false})
      :ok

  """
  @spec check(Program.t(), Given.t()) :: :ok | {:error, :validation_error, String.t()}
  def check(_program, %Given{firewall: false}), do: :ok

  def check(program, %Given{context: context, memory: memory, history: history}) do
    data = for {name, {:ok, value}} <- Data.parts(program, context), do: {"data/#{name}", value}

    kept =
      for name <- program.names.globals,
          {:ok, value} <- [Remembered.fetch(memory, name)],
          do: {name, value}

    marked = Marks.names(memory)

    case Enum.find(data ++ kept ++ [{"the history", history}], &hidden?(&1, marked)) do
      nil ->
        :ok

      {name, _value} ->
        {:error, :validation_error, "#{Shown.name(name)} has firewalled data: #{@what}"}
    end
  end

  # A name of the data or of the memory is no field.
  defp hidden?({name, value}, marked), do: name in marked or hidden?(value)

  # Pairs, as keyword lists have them, are fields too: programs print what they cannot read.
  defp hidden?(value),
    do: Hidden.in?([value]) or not match?({:ok, ^value}, Public.part(value, @parts))

  @doc "The tools of a run; with a firewall, an answer with firewalled fields is their error."
  @spec tools(Tools.t(), Given.t()) :: Tools.t()
  def tools(tools, %Given{firewall: false}), do: tools
  def tools(tools, _given), do: Map.new(tools, fn {name, fun} -> {name, &answer(fun.(&1))} end)

  @spec answer(ToolAnswer.t()) :: ToolAnswer.t()
  defp answer({:value, value} = answer) do
    if hidden?(value) do
      text = "its answer has firewalled data: #{@what}"
      {:failed, inspect(text, printable_limit: :infinity), text}
    else
      answer
    end
  end

  defp answer(failed), do: failed
end
