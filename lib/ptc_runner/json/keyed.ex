defmodule PtcRunner.Json.Keyed do
  @moduledoc false
  # The arguments of a call, with what its tool is told of the call itself: its key, its place in the program, and which attempt it is.
  #
  # The key is the id of the run and that of the call in it. Neither changes when the run is paused, goes on, or is recovered
  # from its journal, so a service that knows a key has had this call before.

  alias PtcRunner.Json.{Entry, Paused}

  @enforce_keys [:args, :call]
  defstruct @enforce_keys

  @key __MODULE__

  @typedoc "What a tool of two arguments gets in the second one, beside the context."
  @type call :: %{key: String.t(), path: [term()] | nil, attempt: pos_integer()}

  @type t :: %__MODULE__{args: term(), call: call()}

  @doc """
  The key of a call; its id may be the text of it.

      iex> for id <- [3, "3", {4, 0, 1}], do: PtcRunner.Json.Keyed.key("f3Jx0aZ_9bQe", id)
      ["f3Jx0aZ_9bQe.3", "f3Jx0aZ_9bQe.3", "f3Jx0aZ_9bQe.4.0.1"]

  """
  @spec key(String.t(), Entry.id() | String.t()) :: String.t()
  def key(run, text) when is_binary(text), do: run <> "." <> text
  def key(run, id), do: key(run, Entry.text(id))

  @doc """
  The id of a paused run. One that an earlier release has made may have none: what it is known by is then what identifies it, so that its calls have
  the same keys whenever it goes on.
  """
  @spec run(Paused.t()) :: String.t()
  def run(%Paused{run_id: id}) when is_binary(id), do: id

  def run(%Paused{made_at: made_at, now: now, fingerprint: fingerprint}) do
    {made_at, now, fingerprint}
    |> :erlang.term_to_binary(minor_version: 2)
    |> :erlang.md5()
    |> binary_part(0, 9)
    |> Base.url_encode64()
  end

  @doc """
  The arguments alone.

      iex> call = %{key: "f3Jx0aZ_9bQe.1", path: ["program"], attempt: 1}
      iex> for given <- [%PtcRunner.Json.Keyed{args: %{"n" => 1}, call: call}, %{"n" => 1}], do: PtcRunner.Json.Keyed.args(given)
      [%{"n" => 1}, %{"n" => 1}]

  """
  @spec args(t() | term()) :: term()
  def args(%__MODULE__{args: args}), do: args
  def args(args), do: args

  @doc "The call with other arguments."
  @spec with_args(t() | term(), term()) :: t() | term()
  def with_args(%__MODULE__{} = keyed, args), do: %{keyed | args: args}
  def with_args(_args, args), do: args

  @doc "Calls a function that may ask what is said of one of several calls."
  @spec of(t() | term(), (() -> result)) :: result when result: term()
  def of(%__MODULE__{call: call}, fun), do: within(call, fun)
  def of(_args, fun), do: fun.()

  @doc """
  Calls a function in the process of the tool, which knows then what is said of the call.

      iex> alias PtcRunner.Json.Keyed
      iex> call = %{key: "f3Jx0aZ_9bQe.1", path: ["program"], attempt: 1}
      iex> {Keyed.within(call, &Keyed.known/0), Keyed.known()}
      {%{key: "f3Jx0aZ_9bQe.1", path: ["program"], attempt: 1}, %{}}

  """
  @spec within(call(), (() -> result)) :: result when result: term()
  def within(call, fun) do
    before = Process.put(@key, call)
    result = fun.()
    if before, do: Process.put(@key, before), else: Process.delete(@key)
    result
  end

  @doc """
  Calls a function that gets several calls at once, in the process of the tool. It is told `calls`, what is said of each.

      iex> alias PtcRunner.Json.Keyed
      iex> call = %{key: "f3Jx0aZ_9bQe.1", path: ["program"], attempt: 1}
      iex> Keyed.within_all([%Keyed{args: %{"n" => 1}, call: call}], &Keyed.known/0)
      %{calls: [%{key: "f3Jx0aZ_9bQe.1", path: ["program"], attempt: 1}]}

  """
  @spec within_all([t() | term(), ...], (() -> result)) :: result when result: term()
  def within_all([%__MODULE__{} | _] = calls, fun),
    do: within(%{calls: Enum.map(calls, & &1.call)}, fun)

  def within_all(_calls, fun), do: fun.()

  @doc "What is said of the call, or the calls, for which this process calls a tool."
  @spec known() :: call() | %{calls: [call()]} | %{}
  def known, do: Process.get(@key) || %{}
end
