defmodule PtcRunner.Lisp.FaultWords do
  @moduledoc false
  # The words for errors of a run: a code, the function as the program writes it, a detail and terms become a reason and a message.
  #
  # The codes of one family of built-ins stand in one module. A message is a sentence about the program: it names the function, what was
  # expected and what came, and never shows the implementation.

  alias PtcRunner.Lisp.FaultWords.{
    Arguments,
    Calls,
    Collections,
    Functions,
    Names,
    Numbers,
    Reasons,
    Texts
  }

  alias PtcRunner.Lisp.Names, as: KnownNames
  alias PtcRunner.Shown

  @typedoc "The reason of an error, and its message without the reason's prefix, see `PtcRunner.Lisp.FaultWords.Reasons`."
  @type words :: {reason :: atom(), text :: String.t()}

  @families [Arguments, Calls, Names, Numbers, Collections, Functions, Texts]

  @doc """
  The reason and the message of a fault of the language.

      iex> PtcRunner.Lisp.FaultWords.message(:arity, "inc", nil, [2, 1, 1])
      {:arity_error, "arity error: inc expects 1 argument(s), got 2"}

      iex> PtcRunner.Lisp.FaultWords.message(:argument, "count", "seqable", [1, 5])
      {:type_error, "type_error: count: arg 1 expected seqable, got number"}

  """
  @spec message(atom(), String.t() | nil, String.t() | nil, [term()]) :: {atom(), String.t()}
  def message(code, name, detail, terms) do
    case Enum.find_value(@families, & &1.words(code, name, detail, terms)) do
      {reason, text} -> {reason, Reasons.prefixed(reason, text)}
      {:exactly, reason, text} -> {reason, text}
      nil -> {:runtime_error, Reasons.prefixed(:runtime_error, other(code, name, terms))}
    end
  end

  # A code without words of its own still names the function and what it was given.
  defp other(code, name, terms) do
    what = code |> Atom.to_string() |> String.replace("_", " ")
    given = if terms == [], do: "", else: ", got #{types(terms)}"
    "#{name || "the program"}: #{what}#{given}"
  end

  defp types(terms),
    do: terms |> Enum.take(20) |> Enum.map_join(", ", &PtcRunner.Lisp.Words.type/1)

  @doc """
  The reason, the message and the details of whatever a run has failed with.

      iex> PtcRunner.Lisp.FaultWords.of({:timeout, 50})
      {:timeout, "execution exceeded 50ms limit", %{}}

  """
  @spec of(term()) :: {reason :: atom(), message :: String.t(), details :: map()}
  def of({:expensive_to_inspect, fault}), do: of(fault)

  # The form ends with the error of one of its workers.
  def of({:inside, form, {:execution, :ended_in_worker, name, _detail, _terms}}),
    do: of_form(form, "#{name} called inside #{form}", %{})

  def of({:inside, form, fault}) do
    {_reason, message, details} = of(fault)
    of_form(form, message, details)
  end

  def of({:execution, code, name, detail, terms}) do
    {reason, message} = message(code, name, detail, terms)
    {reason, message, %{}}
  end

  def of({:timeout, timeout}), do: {:timeout, "execution exceeded #{timeout}ms limit", %{}}

  def of({:memory_exceeded, bytes}) do
    {:memory_exceeded, "the program has built more than its heap limit of #{bytes} bytes",
     %{limit_bytes: bytes}}
  end

  def of({:tool_failed, text}), do: {:tool_error, text, %{}}

  def of({:unknown_tool, name, known}),
    do: {:unknown_tool, KnownNames.unknown(Shown.string(name), known), %{}}

  def of({:too_many_calls, name, most}) do
    {:tool_call_limit_exceeded,
     "tool_call_limit_exceeded: the call of tool '#{Shown.name(name)}' was not made, because no more than " <>
       "#{most} tool calls are allowed", %{}}
  end

  def of({:worded, reason, message}), do: {reason, message, %{}}
  def of({reason, text}) when is_atom(reason) and is_binary(text), do: {reason, text, %{}}

  defp of_form(form, text, details) do
    reason = if form == "pmap", do: :pmap_error, else: :pcalls_error
    {reason, Reasons.prefixed(reason, text), details}
  end
end
