defmodule PtcRunner.Json.Explain.Observed do
  @moduledoc false
  # Compiles a program for observation, runs it, and converts the native counts to operations.

  alias PtcRunner.Native
  alias PtcRunner.Json.{Explain, Hints, Limits, Message, Near, Program, Run, Runner}
  alias PtcRunner.Json.Explain.{About, Findings, Noticed}

  # Maximum parts at the start and at the end of a path that is not shown whole.
  @most_parts 32

  # A map of twenty entries, with its text.
  @words_of_operation 80

  @doc """
  Runs a program; returns its value (or the error), and the explanation without a result. The explanation takes at most `most` milliseconds;
  by default those that the run has left.

      iex> node = %{"op" => "load", "name" => "n"}
      iex> run = %PtcRunner.Json.Run{program: {:checked, node}, context: %{"n" => 1}, limits: {1_000, 0, 100}}
      iex> {result, explanation} = PtcRunner.Json.Explain.Observed.run(run)
      iex> {elem(result, 1), Enum.map(explanation.operations, & &1.about)}
      {1, ["load n"]}

  """
  @spec run(Run.t(), timeout()) ::
          {{:ok, term(), non_neg_integer()} | {:error, PtcRunner.Json.error()},
           %Explain{result: nil}}
  def run(%Run{program: source, limits: {timeout, max_heap, depth} = limits} = run, most \\ 0) do
    began = System.monotonic_time()

    case compile(source, limits) do
      {:ok, program} ->
        observation = Native.observation(program.handle)
        limits = {left(timeout, began), max_heap, Program.reading(program, depth)}
        # Its calls do not overlap, so that each counts for its own operation.
        run = alone(%{run | program: {:observed, observation, program}, limits: limits})
        result = run |> Runner.run() |> given(timeout)
        ms = div(since(began), 1_000_000)
        noted = Noticed.counts(observation, program)
        {:ok, node} = Program.term(program)

        {result, explanation} =
          explained(noted, node, result, {began, max(timeout, most), max_heap})

        findings = Hints.of_findings(explanation.findings, {:checked, node})

        near =
          Near.found(
            {timeout, max_heap, depth},
            {ms, explanation.words},
            Near.budget(run),
            error(result)
          )

        {result, %{explanation | findings: findings, near: near}}

      {:error, error, path} ->
        {{:error, error}, failed(path, began)}
    end
  end

  defp alone(%Run{control: nil} = run), do: %{run | most: 1, settings: %{}}

  defp alone(%Run{control: control} = run) do
    forks? = control.forks? || false
    %{run | most: 1, settings: %{}, control: %{control | forks?: forks?}}
  end

  @doc """
  Checks a program's text without a run: `:ok`, or the error and its path, if that is known.

      iex> PtcRunner.Json.Explain.Observed.check(~s({"program": {"op": "not", "condition": {"op": "fitler"}}}))
      {:error, {:validation_error, "Unknown operation 'fitler'. Did you mean 'filter'?"}, ["program", "condition"]}

  """
  @spec check(String.t()) :: :ok | {:error, PtcRunner.Json.error(), Explain.path() | nil}
  def check(text) do
    with {:ok, _program} <- compile(text, Limits.default()), do: :ok
  end

  defp compile(source, {timeout, max_heap, reading}) do
    limits = {timeout, max_heap}

    case Program.observe(source, reading, :observed, limits) do
      {:rejected, {:error, fault}, path} ->
        {:error, Program.error(fault, limits), ["program" | path]}

      {:error, fault} ->
        {:error, Program.error(fault, limits), nil}

      compiled ->
        compiled
    end
  end

  # Parsing and compiling count: the run gets the remaining time.
  defp left(:infinity, _began), do: :infinity
  defp left(timeout, began), do: max(timeout - div(since(began), 1_000_000), 0)

  defp given({:error, {:timeout, _left}}, timeout), do: {:error, {:timeout, timeout}}
  defp given({:error, fault}, _timeout), do: {:error, Message.error(fault)}
  defp given(result, _timeout), do: result

  defp error({:error, error}), do: error
  defp error(_result), do: nil

  defp since(began),
    do: System.convert_time_unit(System.monotonic_time() - began, :native, :nanosecond)

  defp failed(path, began),
    do: %Explain{result: nil, failed_at: path, duration: since(began)}

  # The run was lost because of a bug in the native library.
  defp explained(nil, _node, result, {began, _, _}), do: {result, failed(nil, began)}

  # An explanation counts against the limits of the run, too.
  defp explained({innermost, rows}, node, result, {began, _, _} = limits) do
    failed? = match?({:error, _}, result)
    path = if failed? and innermost, do: Noticed.path(innermost, List.to_tuple(rows))
    # A run that has failed may have used up its time: then its explanation has as much again.
    limits = if failed?, do: put_elem(limits, 0, System.monotonic_time()), else: limits

    case operations(rows, node, limits) do
      {:ok, operations} -> {result, explanation(with_totals(operations), path, began)}
      error when elem(result, 0) == :ok -> {error, failed(nil, began)}
      _error -> {result, failed(path, began)}
    end
  end

  defp explanation(operations, failed_at, began) do
    %Explain{
      result: nil,
      failed_at: failed_at,
      operations: Enum.map(operations, &Map.drop(&1, [:parent, :values, :totalled?])),
      findings: Findings.of(operations),
      duration: since(began),
      words: operations |> Enum.map(& &1.words) |> Enum.sum()
    }
  end

  # A part comes after the operation around it, whose data is looked up by its number.
  defp operations(rows, node, limits) do
    known = %{nil => {{:whole, ["program"], 1}, -1, node, false}}

    {operations, _known} =
      Enum.map_reduce(Enum.with_index(rows), {known, %{}, 0}, fn {row, number},
                                                                 {known, lists, words} ->
        {parent, place, op, counts, keys} = row
        {above, depth, around, totalled?} = Map.fetch!(known, parent)
        at = below(above, place)
        path = path(at)
        words = within(words + @words_of_operation + 2 * length(path), limits)
        {own, lists} = if parent, do: inside(place, around, [parent], lists), else: {node, lists}
        more = %{parent: parent, about: About.text(op, own), totalled?: totalled?}
        operation = op |> operation(path, depth + 1, counts, keys) |> Map.merge(more)
        inside = {at, depth + 1, own, totalled? or Findings.total?(op)}

        {operation, {Map.put(known, number, inside), lists, words}}
      end)

    {:ok, operations}
  catch
    {:beyond, error} -> {:error, error}
  end

  # Whole paths would grow with the square of a program's depth: of a long one its beginning and its end are kept.
  defp below({:whole, path, count}, place) do
    {path, count} = {path ++ place, count + length(place)}

    if count <= 2 * @most_parts + 1,
      do: {:whole, path, count},
      else: {:cut, Enum.take(path, @most_parts), Enum.take(path, -@most_parts)}
  end

  defp below({:cut, first, last}, place),
    do: {:cut, first, Enum.take(last ++ place, -@most_parts)}

  defp path({:whole, path, _count}), do: path
  defp path({:cut, first, last}), do: first ++ ["…" | last]

  defp within(words, {began, timeout, max_heap}) do
    if max_heap > 0 and words > max_heap,
      do: throw({:beyond, {:memory_exceeded, Limits.bytes(max_heap)}})

    if timeout != :infinity and div(since(began), 1_000_000) > timeout,
      do: throw({:beyond, {:timeout, timeout}})

    words
  end

  # A list is converted to a tuple once, and kept under its place: there may be many parts in it.
  defp inside([], part, _at, lists), do: {part, lists}

  defp inside([index | place], list, at, lists) when is_list(list) and is_integer(index) do
    lists = Map.put_new_lazy(lists, at, fn -> parts(list) end)
    parts = Map.fetch!(lists, at)
    part = if index < tuple_size(parts), do: elem(parts, index)
    inside(place, part, [index | at], lists)
  end

  defp inside([key | place], map, at, lists) when is_map(map),
    do: inside(place, Map.get(map, key), [key | at], lists)

  defp inside(_place, _part, _at, lists), do: {nil, lists}

  defp parts(list), do: if(List.improper?(list), do: {}, else: List.to_tuple(list))

  defp operation(op, path, depth, counts, keys) do
    {runs, ended, lists_in, items_in, lists_out, items_out, held, nanos, words, calls, waited,
     breaks, given, some, made} = counts

    %{
      path: path,
      op: op,
      depth: depth,
      runs: runs,
      ended: ended,
      items_in: if(lists_in > 0, do: items_in),
      items_out: if(lists_out > 0, do: items_out),
      held: held,
      time: nanos,
      total_time: nanos + waited,
      words: words,
      total_words: words,
      tool_calls: calls,
      tool_time: waited,
      breaks: breaks,
      values: {given, some, made},
      keys: for({key, looked, found} <- keys, do: %{key: key, looked: looked, found: found})
    }
  end

  # From the last operation to the first, adds the totals of each to those of the operation around it.
  defp with_totals(operations) do
    numbered = operations |> Enum.with_index() |> Enum.reverse()

    {operations, _inside} =
      Enum.map_reduce(numbered, %{}, fn {operation, number}, inside ->
        {time, words} = Map.get(inside, number, {0, 0})
        {time, words} = {operation.total_time + time, operation.total_words + words}
        add = fn {more_time, more_words} -> {more_time + time, more_words + words} end
        inside = Map.update(inside, operation.parent, {time, words}, add)
        {%{operation | total_time: time, total_words: words}, inside}
      end)

    Enum.reverse(operations)
  end
end
