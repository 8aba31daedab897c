defmodule PtcRunner.Json.Explain.Noticed do
  @moduledoc false
  # Runs a program once and records only what findings are made of: fields that no value had, the filters
  # that kept nothing for lack of one, and conversions that gave only null to a sum or the like. The program is compiled for this, without fusion and with a mark before
  # each look-up; a mark whose fields were found costs a few nanoseconds.

  alias PtcRunner.Firewall.Faults
  alias PtcRunner.Json.{Budget, Control, Explain, Hints, Limits, Message, Program, Run, Runner}
  alias PtcRunner.Json.Explain.Findings
  alias PtcRunner.{Native, Quanta}
  require Quanta

  # Maximum number of fields that are reported.
  @most 20

  @typedoc "`field`: the field that no value had, or the place of the conversion, as text; nil for a filter that kept nothing."
  @type finding :: %{
          kind: :kept_nothing | :key_not_found | :not_converted,
          path: Explain.path(),
          message: String.t(),
          field: String.t() | nil
        }

  @doc """
  Like `PtcRunner.Json.Runner.run/1`; the value comes with the findings.

      iex> node = %{"op" => "sum", "field" => "totl"}
      iex> rows = %{"__input" => [%{"total" => 1}, %{"total" => 2}]}
      iex> run = %PtcRunner.Json.Run{program: {:checked, node}, memory: rows, limits: {1_000, 0, 100}}
      iex> {:ok, {0, [finding]}, _words} = PtcRunner.Json.Explain.Noticed.run(run)
      iex> {finding.field, finding.message, finding.path}
      {"totl", "none of 2 had totl", ["program"]}

  If the run meets a limit before its first call of a tool, it is repeated without a record, because that may take less
  time and memory. A call that was answered by a journal or a hook, or refused, is a call too: it was counted.
  """
  @spec run(Run.t()) ::
          {:ok, {term(), [finding()]}, non_neg_integer()} | {:error, Message.fault()}
  def run(%Run{tools: tools, limits: limits} = run) do
    called = :atomics.new(1, [])
    noting = Map.new(tools, fn {name, fun} -> {name, noting(fun, called)} end)
    counted = counted(run)

    case noticed(told(%{run | tools: noting, limits: Limits.resolve(limits)}, called)) do
      {:error, {limit, _most}} = met when limit in [:timeout, :memory_exceeded] ->
        if :atomics.get(called, 1) == 0 and counted(run) == counted,
          do: %{run | program: plain(run.program, limits)} |> Runner.run() |> unnoticed(),
          else: met

      outcome ->
        outcome
    end
  end

  defp unnoticed({:ok, value, words}), do: {:ok, {value, []}, words}
  defp unnoticed(error), do: error

  # A program that is compiled for observation, as one that is not.
  defp plain(%Program{observed: detail} = program, limits) when detail != nil do
    {timeout, max_heap, reading} = Limits.about(limits, program)

    case Program.observe(program, reading, nil, {timeout, max_heap}) do
      {:ok, plain} -> plain
      _error -> program
    end
  end

  defp plain(program, _limits), do: program

  defp noting(fun, called) do
    fn args ->
      :atomics.put(called, 1, 1)
      fun.(args)
    end
  end

  # The control is told each call, also one that no tool answers.
  defp told(%Run{control: %Control{} = control} = run, called) do
    watch = noting_calls(control.rules.watch, called, control.keeps?)
    %{run | control: Control.with_rules(control, watch: watch)}
  end

  defp told(run, _called), do: run

  # Where nothing is kept, the functions of the tools note the calls that are made as if nobody decided.
  defp noting_calls(nil, called, false),
    do: {:decisions, fn _call -> :atomics.put(called, 1, 1) end}

  defp noting_calls({:decisions, watch}, called, false),
    do: {:decisions, noting_calls(watch, called, true)}

  defp noting_calls({:decisions, watch}, called, true), do: noting_calls(watch, called, true)

  defp noting_calls(watch, called, _keeps?) do
    fn call ->
      :atomics.put(called, 1, 1)
      watch && watch.(call)
    end
  end

  # A call whose arguments are too large for the process of the tools is counted, and does not start.
  defp counted(%Run{budget: nil}), do: nil
  defp counted(%Run{budget: budget}), do: Budget.counted(budget)

  defp noticed(%Run{limits: {timeout, max_heap, reading}} = run) do
    case Program.observe(run.program, reading, :findings, {timeout, max_heap}) do
      {:ok, program} ->
        observation = Native.observation(program.handle)
        limits = {timeout, max_heap, Program.reading(program, reading)}
        observed = %{run | program: {:observed, observation, program}, limits: limits}

        with {:ok, value, words} <- Runner.run(observed) do
          numbers? = fn -> not Faults.reads?(program, run.context, run.memory) end
          {:ok, {value, noted(observation, program, numbers?)}, words}
        end

      {:rejected, error, _path} ->
        error

      {:error, limit} when is_atom(limit) ->
        {:error, Program.error(limit, {timeout, max_heap})}

      error ->
        error
    end
  end

  # The number of items that a program has made may be a firewalled one.
  defp noted(observation, program, numbers?),
    do: observation |> counts(program) |> found(numbers?) |> Hints.of_findings(program)

  @doc "The counts of an observed run: see `PtcRunner.Native`."
  @spec counts(reference(), Program.t()) :: {non_neg_integer() | nil, [tuple()]} | nil
  def counts(observation, program),
    do: Quanta.run(Native.observed(observation, program.consts))

  # The record was lost because of a bug in the native library.
  defp found(nil, _numbers?), do: []

  defp found({_innermost, rows}, numbers?) do
    numbered = Enum.with_index(rows)
    lost = lost(numbered, rows)

    missing = for {row, number} <- numbered, missing?(row) or number in lost, do: number

    case Enum.take(missing, @most) do
      [] -> []
      missing -> findings(missing, lost, {List.to_tuple(rows), numbers?.()})
    end
  end

  defp missing?({_parent, _place, _op, _counts, keys}),
    do: Enum.any?(keys, fn {_key, looked, found} -> looked > 0 and found == 0 end)

  # The numbers of the conversions that gave only null to a sum or the like.
  defp lost(numbered, rows) do
    case for {row, number} <- numbered, Findings.lost?(op(row), values(row)), do: number do
      [] ->
        []

      lost ->
        nothing? = Enum.any?(rows, &Findings.nothing?(op(&1), values(&1)))
        rows = List.to_tuple(rows)
        total? = &Findings.total?(op(elem(rows, &1)))
        Enum.filter(lost, &(nothing? or Enum.any?(above(&1, rows, []), total?)))
    end
  end

  defp op({_parent, _place, op, _counts, _keys}), do: op

  defp values({_parent, _place, _op, {_, _, _, _, _, _, _, _, _, _, _, _, given, some, made}, _}),
    do: {given, some, made}

  defp findings(missing, lost, {rows, numbers?}) do
    around = for number <- missing, at <- above(number, rows, []), uniq: true, do: at

    for number <- Enum.sort(around),
        finding <-
          about(elem(rows, number), number, {rows, numbers?}) ++
            converted(number, lost, {rows, numbers?}),
        do: finding
  end

  defp converted(number, lost, {rows, numbers?}) do
    if number in lost do
      row = elem(rows, number)
      path = path(number, rows)
      {given, _some, _made} = values(row)
      finding = Findings.not_converted(path, op(row), if(numbers?, do: given))
      [Map.put(finding, :field, Explain.path_text(path) <> " " <> op(row))]
    else
      []
    end
  end

  # The numbers of an operation and of those around it.
  defp above(nil, _rows, numbers), do: numbers

  defp above(number, rows, numbers),
    do: above(elem(elem(rows, number), 0), rows, [number | numbers])

  defp about({_parent, _place, op, counts, keys}, number, {rows, numbers?}) do
    {_runs, _ended, _lists_in, items_in, lists_out, items_out, _, _, _, _, _, _, _, _, _} = counts
    kept_nothing? = Findings.filter?(op) and lists_out > 0 and items_out == 0 and items_in > 0
    path = fn -> path(number, rows) end

    lost =
      for {key, looked, 0} when looked > 0 <- keys, uniq: true do
        path.()
        |> Findings.not_found(key, if(numbers?, do: looked))
        |> Map.put(:field, Findings.field(key))
      end

    if kept_nothing?,
      do: [
        path.() |> Findings.kept_nothing(if(numbers?, do: items_in)) |> Map.put(:field, nil)
        | lost
      ],
      else: lost
  end

  @doc "The path of an operation, along the operations around it."
  @spec path(non_neg_integer(), rows :: tuple()) :: Explain.path()
  def path(number, rows),
    do: ["program" | Enum.flat_map(above(number, rows, []), &elem(elem(rows, &1), 1))]
end
