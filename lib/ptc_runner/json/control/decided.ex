defmodule PtcRunner.Json.Control.Decided do
  @moduledoc false
  # A decision about a call, with who or what has decided, when, and a note.

  alias PtcRunner.IsoTime
  alias PtcRunner.Json.Call
  alias PtcRunner.Sandbox.Guarded
  alias PtcRunner.Shown

  # Bytes of a name and of a note that are kept.
  @name 256
  @note 1_000

  defstruct [:decision, :by, :note, :at]

  @typedoc "`by`: a name, or what has decided if there is no name. `at`: an ISO 8601 text, if it is not the time of the call."
  @type t :: %__MODULE__{
          decision: term(),
          by: String.t() | atom(),
          note: String.t() | nil,
          at: String.t() | nil
        }

  @doc """
  The decision of a term, bare or as `{:decided, decision, by: name, note: text, at: time}`; `by`: who has decided if the term
  does not say so.

      iex> alias PtcRunner.Json.Control.Decided
      iex> Decided.of({:decided, :approve, by: "Ann", note: "asked by phone", at: ~U[2026-02-28 09:00:00Z]}, :resume)
      {:ok, %Decided{decision: :approve, by: "Ann", note: "asked by phone", at: "2026-02-28T09:00:00Z"}}

      iex> for term <- [:run, {:deny, "no"}, {:decided, :run, boss: 1}, nil, {:run, [1]}], do: elem(PtcRunner.Json.Control.Decided.of(term, :on_call), 0)
      [:ok, :ok, :error, :error, :error]

  """
  @spec of(term(), atom()) :: {:ok, t()} | {:error, String.t()}
  def of({:decided, decision, more}, by) do
    with {:ok, decided} <- of(decision, by),
         :ok <- keyword(more),
         do: said(more, decided)
  end

  def of(decision, by) when decision in [:run, :approve, :pause],
    do: {:ok, %__MODULE__{decision: decision, by: by}}

  # A program always gives a tool a map.
  def of({:run, args} = decision, _by) when not is_map(args) or is_struct(args),
    do: {:error, "#{Shown.text(decision, 200)}, whose arguments are no map"}

  def of({kind, _what} = decision, by) when kind in [:run, :answer, :deny],
    do: {:ok, %__MODULE__{decision: decision, by: by}}

  def of(other, _by), do: {:error, Shown.text(other, 200)}

  @doc "What the function of `:on_call` decides. One that fails, or returns something else, denies the call."
  @spec asked((Call.t() -> term()), Call.t()) :: t()
  def asked(hook, call) do
    returned = hook.(call)

    case of(returned, :on_call) do
      {:ok, %{decision: decision} = decided} when decision != :approve -> decided
      {:ok, _approve} -> denied("returned #{Shown.text(returned, 200)}")
      {:error, why} -> denied("returned #{why}")
    end
  catch
    kind, reason -> denied(Guarded.failure(kind, reason, __STACKTRACE__))
  end

  defp denied(why),
    do: %__MODULE__{decision: {:deny, "the function of :on_call #{why}"}, by: :on_call}

  defp keyword(more) do
    if Keyword.keyword?(more),
      do: :ok,
      else: {:error, "what is said of a decision is no keyword list: #{Shown.text(more, 200)}"}
  end

  defp said([], decided), do: {:ok, decided}

  defp said([{:by, name} | rest], decided) when is_binary(name),
    do: said(rest, %{decided | by: Shown.cut(name, @name)})

  defp said([{:by, name} | rest], decided) when is_atom(name) and name != nil,
    do: said(rest, %{decided | by: name})

  defp said([{:note, text} | rest], decided) when is_binary(text),
    do: said(rest, %{decided | note: Shown.cut(text, @note)})

  defp said([{:note, nil} | rest], decided), do: said(rest, decided)
  defp said([{:at, nil} | rest], decided), do: said(rest, decided)

  defp said([{:at, time} | rest], decided) do
    case time(time) do
      {:ok, text} -> said(rest, %{decided | at: text})
      :error -> {:error, "the :at of a decision is no time: #{Shown.text(time, 200)}"}
    end
  end

  defp said([{name, value} | _rest], _decided),
    do: {:error, "a decision has no #{inspect(name)}: #{Shown.text(value, 200)}"}

  defp time(%DateTime{} = time), do: {:ok, DateTime.to_iso8601(time)}

  defp time(text) when is_binary(text),
    do: if(match?({:ok, _, _}, IsoTime.datetime(text)), do: {:ok, text}, else: :error)

  defp time(_other), do: :error
end
