defmodule PtcRunner.Agent.Paused do
  @moduledoc """
  A run or a loop of an agent that waits for a decision about calls of tools: what `PtcRunner.Agent.run/3` and
  `PtcRunner.Agent.loop/3` return as `{:paused, paused}`, and `PtcRunner.Agent.resume/3` goes on with.

    * `calls` - the calls that wait, each a `PtcRunner.Json.Call`
    * `run` - the run of the program, a `PtcRunner.Json.Paused`
    * `messages` - of a loop: the conversation so far, oldest message first
    * `kind` - `:run` or `:loop`

  It is plain data: it may be sent to another node and written by `:erlang.term_to_binary/1`, or as JSON, see `to_map/1`. The model, the tools, the context, what
  the tools were given (`:tool_context`) and the functions among the options are not in it. The other fields are the library's own.

  Not in `ptc_runner`.
  """

  alias PtcRunner.Agent.Approval
  alias PtcRunner.Json
  alias PtcRunner.Json.{Kept, Within}
  alias PtcRunner.Json.Paused.{Sealed, Stored, Used}
  alias PtcRunner.Shown

  # Of the form of `to_map/1`.
  @version 1
  @kinds %{"run" => :run, "loop" => :loop}
  # The parts that are terms.
  @terms [:messages, :tool_calls, :approvals, :opts, :loop]

  @enforce_keys [:kind, :calls, :run, :opts]
  defstruct @enforce_keys ++ [messages: [], tool_calls: [], approvals: [], made: "", loop: nil]

  @type t :: %__MODULE__{
          kind: :run | :loop,
          calls: [Json.Call.t()],
          run: Json.Paused.t(),
          messages: [PtcRunner.Agent.message()],
          tool_calls: [PtcRunner.Agent.tool_call()],
          approvals: [map()],
          made: String.t(),
          opts: keyword(),
          loop: map() | nil
        }

  # What is given again.
  @given [
           :context,
           :tools,
           :tool_context,
           :model,
           :on_call,
           :on_journal,
           :on_event,
           :approve,
           :budget,
           :resumes
         ] ++
           [:messages, :made_before, :tool_calls_before, :approvals_before]

  @doc false
  # A program's run that waits.
  @spec of_run(Json.Paused.t(), keyword(), map()) :: t()
  def of_run(run, opts, info) do
    %__MODULE__{
      kind: :run,
      calls: run.calls,
      run: run,
      opts:
        opts
        |> Keyword.drop(@given)
        |> Keyword.replace_lazy(:within, &plans/1)
        |> approved(opts[:approve]),
      tool_calls: info.tool_calls,
      approvals: Approval.entries(opts, info.approval),
      made: info.made
    }
  end

  # Who approved programs must not be left out by mistake.
  defp approved(opts, nil), do: opts
  defp approved(opts, _fun), do: [{:approve, :given_again} | opts]

  # A plan may have functions, which are given again.
  defp plans(within) do
    for %{plan: plan} <- Within.plans!(within, "PtcRunner.Agent.loop/3"),
        do: Json.Plan.to_map(plan)
  end

  @doc false
  # A loop that waits in a run of this answer: its text, its warnings, and what was counted before.
  @spec of_loop(t(), {String.t(), [String.t()], term()}, map()) :: t()
  def of_loop(paused, answer, state) do
    elapsed = System.monotonic_time(:millisecond) - state.began_at

    loop =
      state
      |> Map.drop([:opts, :tools, :budget, :within, :turn_began_at, :began_at])
      |> Map.merge(%{elapsed: elapsed, answer: answer})

    # A loop keeps itself what was decided about its programs.
    messages = Enum.reverse(state.messages)
    %{paused | kind: :loop, loop: loop, messages: messages, approvals: []}
  end

  @doc """
  The paused run or loop as a map that is JSON, for a database. `from_map/1` reads it.

      iex> tools = %{"pay" => {fn args -> "paid \#{args["id"]}" end, signature: "(id :int) -> :string", approve: true}}
      iex> program = ~s({"program": {"op": "call", "tool": "pay", "args": {"id": 7}}})
      iex> {:paused, paused} = PtcRunner.Agent.run(program, tools)
      iex> {:ok, text} = paused |> PtcRunner.Agent.Paused.to_map() |> PtcRunner.Json.Codec.encode()
      iex> {:ok, map} = PtcRunner.Json.Codec.decode(text)
      iex> {:ok, again} = PtcRunner.Agent.Paused.from_map(map)
      iex> {:ok, value, _info} = PtcRunner.Agent.resume(again, :approve, tools: tools)
      iex> value
      "paid 7"

  Raises `ArgumentError` if a part cannot be kept, for example a function among the messages.
  """
  @spec to_map(t()) :: map()
  def to_map(%__MODULE__{} = paused), do: with_run(paused, Json.Paused.to_map(paused.run))

  defp with_run(paused, run) do
    terms =
      for name <- @terms,
          into: %{},
          do: {Atom.to_string(name), kept!(name, Map.fetch!(paused, name))}

    Map.merge(terms, %{
      "agent_paused" => @version,
      "kind" => Atom.to_string(paused.kind),
      "run" => run,
      "made" => paused.made
    })
  end

  defp kept!(name, term) do
    case Kept.encode(term) do
      {:ok, json} ->
        json

      {:error, kind} ->
        raise ArgumentError, "the paused run cannot be kept: its #{name} have #{kind}"
    end
  end

  @doc """
  The paused run or loop of a map of `to_map/1`, or what is wrong with it.

      iex> PtcRunner.Agent.Paused.from_map(%{"agent_paused" => 9})
      {:error, "the paused run has version 9, and this library reads version 1"}

  """
  @spec from_map(term()) :: {:ok, t()} | {:error, String.t()}
  def from_map(map), do: read(map, &Json.Paused.from_map/1)

  defp read(
         %{"agent_paused" => @version, "kind" => kind, "run" => run, "made" => made} = map,
         of_run
       )
       when is_map_key(@kinds, kind) and is_binary(made) do
    # One of an earlier release has no approvals.
    map = Map.put_new(map, "approvals", [])

    with {:ok, run} <- of_run.(run),
         {:ok, terms} <- terms(@terms, map, %{}),
         :ok <- sound(@kinds[kind], terms) do
      {:ok,
       struct!(
         __MODULE__,
         Map.merge(terms, %{kind: @kinds[kind], run: run, calls: run.calls, made: made})
       )}
    end
  end

  defp read(%{"agent_paused" => @version}, _of_run),
    do: {:error, "no paused run of an agent: a part is missing"}

  defp read(%{"agent_paused" => other}, _of_run),
    do:
      {:error,
       "the paused run has version #{Shown.text(other, 50)}, and this library reads version #{@version}"}

  defp read(other, _of_run), do: {:error, "no paused run of an agent: #{Shown.text(other, 200)}"}

  @doc """
  The paused run or loop as one text that may be given away: see `PtcRunner.Json.Paused.seal/3`, whose keys and options it takes.

      iex> alias PtcRunner.Agent.Paused
      iex> keys = [:crypto.strong_rand_bytes(32)]
      iex> tools = %{"pay" => {fn args -> "paid \#{args["id"]}" end, signature: "(id :int) -> :string", approve: true}}
      iex> program = ~s({"program": {"op": "call", "tool": "pay", "args": {"id": 7}}})
      iex> {:paused, paused} = PtcRunner.Agent.run(program, tools)
      iex> text = Paused.seal(paused, keys, bind: "ada", ttl: 60_000)
      iex> {:ok, again} = Paused.open(text, keys, bind: "ada", used: PtcRunner.Json.Paused.Used.Ets)
      iex> {:ok, value, _info} = PtcRunner.Agent.resume(again, :approve, tools: tools)
      iex> {value, Paused.open(text, keys, bind: "ada", used: PtcRunner.Json.Paused.Used.Ets)}
      {"paid 7", {:error, :invalid_seal}}

  Raises `ArgumentError` also where `to_map/1` does.
  """
  @spec seal(t(), [binary()], keyword()) :: String.t()
  def seal(%__MODULE__{} = paused, keys, opts),
    do:
      Sealed.seal(
        "agent",
        with_run(paused, Stored.sealed(paused.run)),
        keys,
        opts,
        "PtcRunner.Agent.Paused.seal/3"
      )

  @doc """
  The paused run or loop of a text of `seal/3`, or one error that does not say why: see `PtcRunner.Json.Paused.open/3`.

      iex> PtcRunner.Agent.Paused.open("no such text", [:crypto.strong_rand_bytes(32)], bind: "ada")
      {:error, :invalid_seal}

  """
  @spec open(term(), [binary()], keyword()) :: {:ok, t()} | {:error, :invalid_seal}
  def open(text, keys, opts) do
    {keys, bind, used} = Sealed.opening!(keys, opts, "PtcRunner.Agent.Paused.open/3")

    with {:ok, sealed, claim} <- Sealed.open("agent", text, keys, bind),
         {:ok, paused} <- read(sealed, &Stored.unsealed/1),
         true <- Used.first?(used, claim),
         do: {:ok, paused},
         else: (_other -> {:error, :invalid_seal})
  end

  defp terms([name | rest], map, terms) do
    with {:ok, json} <- Map.fetch(map, Atom.to_string(name)),
         {:ok, term} <- Kept.decode(json) do
      terms(rest, map, Map.put(terms, name, term))
    else
      :error ->
        {:error, "no valid #{inspect(Atom.to_string(name))} of the paused run"}

      {:error, sentence} ->
        {:error, "#{inspect(Atom.to_string(name))} of the paused run: #{sentence}"}
    end
  end

  defp terms([], _map, terms), do: {:ok, terms}

  defp sound(kind, terms) do
    cond do
      not Keyword.keyword?(terms.opts) ->
        {:error, ~s(no valid "opts" of the paused run)}

      not is_list(terms.messages) or List.improper?(terms.messages) ->
        {:error, ~s(no valid "messages" of the paused run)}

      not is_list(terms.tool_calls) or List.improper?(terms.tool_calls) ->
        {:error, ~s(no valid "tool_calls" of the paused run)}

      not decided?(terms.approvals) ->
        {:error, ~s(no valid "approvals" of the paused run)}

      not loop?(kind, terms.loop) ->
        {:error, ~s(no valid "loop" of the paused run)}

      true ->
        :ok
    end
  end

  defp decided?(approvals) do
    is_list(approvals) and not List.improper?(approvals) and
      Enum.all?(
        approvals,
        &match?(%{turn: _, decision: _, plan: _, by: _, at: _, note: _, error: _}, &1)
      )
  end

  defp loop?(:run, loop), do: loop == nil

  defp loop?(:loop, loop),
    do:
      match?(%{elapsed: _, number: _, answer: {_text, _warnings, _counts}}, loop) and
        not is_struct(loop)

  defimpl Inspect do
    alias PtcRunner.Shown.Brief

    # A paused loop has all of its messages.
    def inspect(paused, _opts) do
      calls = for call <- paused.calls, do: call.text
      "#PtcRunner.Agent.Paused<#{paused.kind}, waits for #{Brief.names(calls)}>"
    end
  end
end
