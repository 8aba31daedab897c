defmodule PtcRunner.Json.Paused.Sound do
  @moduledoc false
  # Whether a paused run, which may come from anywhere, is one that this library could have made.

  alias PtcRunner.Json.{Call, Entry, Given, Paused, Plan}
  alias PtcRunner.Options

  # The kinds of the options of a run, some of which a paused run keeps as they are.
  @kinds Options.kinds(Given.limits() ++ Given.control_options())

  @doc "Checks a run with the entries of its journal: `:ok`, or what is wrong."
  @spec check(Paused.t(), [Entry.t()]) :: :ok | {:error, String.t()}
  def check(paused, entries) do
    with nil <- wrong_field(paused),
         :ok <- calls(paused.calls),
         :ok <- journal(paused, entries) do
      :ok
    else
      name when is_atom(name) -> invalid(name)
      error -> error
    end
  end

  # The calls of most runs wait after all that were answered.
  defp journal(%{calls: [call], forks: true} = paused, entries) do
    with {:ok, last} <- Entry.in_order(entries),
         {:ok, id} = Entry.id(call.id),
         true <- last == nil or Entry.before?(last, id),
         do: :ok,
         else: (_other -> searched(paused, entries))
  end

  defp journal(paused, entries), do: searched(paused, entries)

  defp searched(%{calls: calls, forks: forks?, recovered: recovered?}, entries) do
    ids = for call <- calls, {:ok, id} <- [Entry.id(call.id)], do: id
    waiting = Map.new(ids, &{&1, []})

    # After a crash the calls that were started are known, and those that waited are not.
    known = if recovered?, do: :unknown, else: waiting

    with :ok <- Entry.whole(Entry.list(entries), forks?, known),
         do: apart(ids, waiting, entries)
  end

  @doc "The error of a field."
  @spec invalid(String.t() | atom()) :: {:error, String.t()}
  def invalid(name), do: {:error, "the paused run has no valid \"#{name}\""}

  defp wrong_field(%Paused{} = paused) do
    cond do
      not program?(paused.program) -> :program
      not is_map(paused.memory) -> :memory
      not is_binary(paused.now) -> :now
      not is_binary(paused.made_at) -> :made_at
      not (paused.expires_at == nil or is_binary(paused.expires_at)) -> :expires_at
      paused.edition not in [1, 2] -> :edition
      not kept?(paused, :keys) -> :keys
      not kept?(paused, :strict) -> :strict
      not kept?(paused, :structs) -> :structs
      not kept?(paused, :max_depth) -> :max_depth
      not is_binary(paused.fingerprint) -> :fingerprint
      not is_boolean(paused.forks) -> :forks
      not is_boolean(paused.recovered) -> :recovered
      not count?(paused.max_tool_calls) -> :max_tool_calls
      not kept?(paused, :tool_concurrency) -> :tool_concurrency
      not is_boolean(paused.firewall) -> :firewall
      not kept?(paused, :timeout) -> :timeout
      not count?(paused.max_heap) -> :max_heap
      not kept?(paused, :pause_ttl) -> :pause_ttl
      not is_list(paused.hooks) or paused.hooks -- Paused.hooks() != [] -> :hooks
      not plans?(paused.within) -> :within
      not kept?(paused, :unknown) -> :unknown
      not (paused.plan == nil or plans?([paused.plan])) -> :plan
      not (paused.run_id == nil or is_binary(paused.run_id)) -> :run_id
      not attempts?(paused.attempts) -> :attempts
      not lisp?(paused.lisp, paused.program) -> :lisp
      true -> nil
    end
  end

  # What it has is checked where the run goes on.
  defp lisp?(nil, _program), do: true
  defp lisp?(lisp, program), do: is_map(lisp) and is_binary(program)

  defp attempts?(attempts) do
    is_map(attempts) and
      Enum.all?(attempts, fn {id, count} ->
        match?({:ok, _id}, Entry.id(id)) and is_integer(count) and count > 0
      end)
  end

  defp plans?(plans) do
    is_list(plans) and not List.improper?(plans) and
      Enum.all?(plans, &match?({:ok, _plan}, Plan.from_map(&1)))
  end

  defp kept?(paused, name), do: Options.good?(@kinds[name], Map.fetch!(paused, name))

  defp count?(most), do: most == nil or integer?(most)
  defp integer?(count), do: is_integer(count) and count >= 0

  # A struct could be taken for a compiled program.
  defp program?(program),
    do: is_binary(program) or (is_map(program) and not is_map_key(program, :__struct__))

  defp calls([call | rest]), do: if(call?(call), do: calls(rest), else: invalid(:calls))
  defp calls([]), do: :ok
  defp calls(_other), do: invalid(:calls)

  defp call?(%Call{} = call) do
    match?({:ok, _id}, Entry.id(call.id)) and is_binary(call.tool) and
      call.effect in [:read, :write] and is_integer(call.number) and call.number > 0 and
      is_binary(call.text) and (call.path == nil or is_list(call.path)) and
      is_boolean(call.approve) and is_boolean(call.started) and
      (call.key == nil or is_binary(call.key)) and is_integer(call.attempt)
  end

  defp call?(_other), do: false

  # No call waits twice, or has an answer already.
  defp apart(ids, waiting, entries) do
    case ids -- Enum.uniq(ids) do
      [id | _] -> {:error, "The call #{Entry.text(id)} waits twice"}
      [] -> unanswered(waiting, entries)
    end
  end

  defp unanswered(waiting, entries) do
    case for {id, _, _, _} <- entries, is_map_key(waiting, id), do: id do
      [] -> :ok
      [id | _] -> {:error, "The call #{Entry.text(id)} waits, but the journal has its answer"}
    end
  end
end
