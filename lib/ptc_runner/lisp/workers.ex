defmodule PtcRunner.Lisp.Workers do
  @moduledoc false
  # The calls of `pmap` and `pcalls`, which run side by side as rounds of `PtcRunner.Json.Run.Rounds`: what each has printed and called, so
  # that it is kept in the order of the items.

  alias PtcRunner.Json.Run
  alias PtcRunner.Json.Run.{Driver, Reply}
  alias PtcRunner.Lisp.{Arguments, Asking, ErrorPlace}
  require Reply

  # `run`: the run that has the form, with its strategy; `asking`: by worker, its strategy, which has only what the worker has printed and
  # called; `began`: by worker, when its call began.
  @enforce_keys [:run, :form]
  defstruct [:run, :form, asking: %{}, began: %{}]

  @type t :: %__MODULE__{
          run: Run.t(),
          form: String.t(),
          asking: %{non_neg_integer() => Asking.t()},
          began: %{non_neg_integer() => PtcRunner.Lisp.Ledger.began()}
        }

  @doc """
  The workers of a form.

      iex> alias PtcRunner.Lisp.{Asking, Workers}
      iex> Workers.new(%PtcRunner.Json.Run{strategy: %Asking{}}, "pmap").asking
      %{}

  """
  @spec new(Run.t(), String.t()) :: t()
  def new(%Run{} = run, form), do: %__MODULE__{run: run, form: form}

  @doc "Answers what a worker asks for: a built-in, or a print."
  @spec asked(Reply.t(), t(), non_neg_integer()) ::
          {:resume, Driver.answer(), t()} | {:ended, term(), t()}
  def asked(Reply.ask() = ask, workers, worker) do
    {how, what, %Run{strategy: asking}} = Asking.request(ask, run_of(workers, worker))
    {how, what, with_asking(workers, worker, asking)}
  end

  @doc "A call of a worker as its tool gets it."
  @spec call(Reply.t(), t(), non_neg_integer()) :: {Reply.t(), t()}
  def call(Reply.call(args: asked) = call, workers, worker) do
    args = Arguments.of(asked)
    call = if args === asked, do: call, else: Reply.call(call, args: args, weight: nil)
    began = Map.put(workers.began, worker, PtcRunner.Lisp.Ledger.began())
    {call, %{workers | began: began}}
  end

  def call(other, workers, _worker), do: {other, workers}

  @doc "Keeps what a call of a worker was answered, by its tool or by the cache."
  @spec noted(
          {:ok, term(), non_neg_integer()} | {:error, term()},
          Reply.t(),
          t(),
          non_neg_integer(),
          boolean()
        ) :: t()
  def noted(result, Reply.call(tool: name, args: args), workers, worker, cached?) do
    began = Map.fetch!(workers.began, worker)
    asking = Asking.with_call(asking(workers, worker), {name, args, began}, result, cached?)
    with_asking(workers, worker, asking)
  end

  @doc "Goes on with a worker whose tool has failed, if it catches that."
  @spec failed(Reply.t(), term()) :: Reply.t() | {:uncaught, ErrorPlace.addresses()}
  def failed(Reply.call(tool: name) = call, failed), do: Asking.resume_failed(call, name, failed)

  @doc """
  The error of a form, one of whose workers has ended with an error. Limits of the run are errors of the run.

      iex> alias PtcRunner.Lisp.{Asking, Workers}
      iex> workers = Workers.new(%PtcRunner.Json.Run{strategy: %Asking{}}, "pmap")
      iex> Workers.error(workers, {:execution, :arity, "inc", nil, [2, 1, 1]})
      {:inside, "pmap", {:execution, :arity, "inc", nil, [2, 1, 1]}}
      iex> Workers.error(workers, :timeout)
      :timeout

  """
  @spec error(t(), term()) :: term()
  def error(workers, {:at, at, reason}), do: {:at, at, error(workers, reason)}

  def error(%{form: form}, {:tool_failed, name, failed}) do
    {_said, noted} = Asking.failure(failed)
    {:execution, :worker_failed, form, nil, [Asking.error(name, noted)]}
  end

  def error(%{form: form}, fault)
      when elem(fault, 0) in [:execution, :expensive_to_inspect, :inside],
      do: {:inside, form, fault}

  def error(_workers, reason), do: reason

  @doc "The run with what its workers have printed and called, those of the first item first."
  @spec joined(t(), Run.t()) :: Run.t()
  def joined(%{asking: all}, %Run{strategy: asking} = run) do
    asking =
      for {_worker, %Asking{prints: prints, calls: calls}} <- Enum.sort_by(all, &elem(&1, 0)),
          reduce: asking do
        asking -> %{asking | prints: prints ++ asking.prints, calls: calls ++ asking.calls}
      end

    %{run | strategy: asking}
  end

  defp run_of(%{run: run} = workers, worker), do: %{run | strategy: asking(workers, worker)}

  defp asking(%{asking: all, run: %Run{strategy: asking}}, worker) do
    case all do
      %{^worker => asking} -> asking
      _new -> %{asking | prints: [], calls: []}
    end
  end

  defp with_asking(workers, worker, asking),
    do: %{workers | asking: Map.put(workers.asking, worker, asking)}
end
