defmodule PtcRunner.Json.Journal do
  @moduledoc false
  # The journal of a recorded run: a map that is JSON.

  alias PtcRunner.Json.{Control, Entry, Keyed, Now, Paused}
  alias PtcRunner.Json.Paused.{Packed, Sound}
  alias PtcRunner.Shown

  @version 1

  # What a run that has been recovered says of how it ran.
  @of_run [:memory, :now, :edition, :keys, :strict, :structs, :max_depth, :timeout, :max_heap]

  @doc "The journal of a run with this control at its end; nil if the program could not be compiled."
  @spec new(Control.t() | nil, PtcRunner.Json.program(), PtcRunner.Json.Limits.given()) :: map()
  def new(control, program, {_timeout, _max_heap, reading}) do
    {_depth, _any_keys?, _strict?, _values?, edition} = Paused.reading(program, reading)
    Map.put(written(control || %Control{}), "edition", edition)
  end

  @doc "The journal of a run of PTC-Lisp."
  @spec of_lisp(Control.t() | nil) :: map()
  def of_lisp(control), do: Map.put(written(control || %Control{}), "language", "lisp")

  defp written(control) do
    # An entry that cannot be kept has ended the run.
    calls =
      for entry <- Entry.list(control.entries),
          {:ok, json} <- [Entry.encode(entry)],
          do: Map.put(json, "key", Control.key(control, elem(entry, 0)))

    %{
      "journal" => @version,
      "now" => control.now,
      "forks" => control.forks? || false,
      "run_id" => control.key_run,
      "calls" => calls
    }
  end

  @doc "The control of a run that is replayed, and the options that the journal has."
  @spec control(term(), PtcRunner.Json.program(), keyword()) ::
          {:ok, Control.t(), keyword()} | {:error, PtcRunner.Json.error()}
  def control(%{"journal" => @version, "language" => "lisp"}, _program, _opts), do: of("PTC-Lisp")
  def control(%Paused{lisp: lisp}, _program, _opts) when lisp != nil, do: of("PTC-Lisp")

  def control(%{"journal" => @version, "calls" => calls} = journal, program, opts)
      when is_list(calls) do
    with :ok <- edition(journal["edition"], program, opts[:edition]),
         {:ok, control, defaults} <- of_run(journal) do
      {:ok, control, [{:edition, journal["edition"]} | defaults]}
    else
      {:error, text} -> {:error, {:execution_error, text}}
    end
  end

  def control(%Paused{} = paused, program, opts) do
    with {:ok, control, defaults} <- of_paused(paused),
         :ok <- edition(paused.edition, program, opts[:edition]) do
      {:ok, control, defaults}
    else
      {:error, text} -> {:error, {:execution_error, text}}
    end
  end

  def control([_ | _] = events, program, opts) do
    case Paused.recover(events) do
      {:ok, paused} -> control(paused, program, opts)
      {:error, text} -> {:error, {:execution_error, text}}
    end
  end

  def control(other, _program, _opts), do: none(other)

  @doc "The control of a replay of PTC-Lisp, and the options that the journal has."
  @spec lisp_control(term()) :: {:ok, Control.t(), keyword()} | {:error, PtcRunner.Json.error()}
  def lisp_control(%{"journal" => @version, "language" => "lisp", "calls" => calls} = journal)
      when is_list(calls) do
    with {:error, text} <- of_run(journal), do: {:error, {:execution_error, text}}
  end

  def lisp_control(%{"journal" => @version, "edition" => _edition}), do: of("PTC-JSON")
  def lisp_control(%Paused{lisp: nil}), do: of("PTC-JSON")

  def lisp_control(%Paused{lisp: lisp} = paused) do
    case of_paused(paused) do
      {:ok, control, kept} ->
        {history, lisp} = Map.pop(lisp, :history, [])
        own = Keyword.take(kept, [:memory, :now, :timeout, :max_heap])
        {:ok, control, own ++ [{:turn_history, Enum.reverse(history)} | Map.to_list(lisp)]}

      {:error, text} ->
        {:error, {:execution_error, text}}
    end
  end

  def lisp_control([_ | _] = events) do
    case Paused.recover(events) do
      {:ok, paused} -> lisp_control(paused)
      {:error, text} -> {:error, {:execution_error, text}}
    end
  end

  def lisp_control(other), do: none(other)

  # The control of a journal in its own form, whose calls are a list.
  defp of_run(%{"calls" => calls} = journal) do
    forks? = journal["forks"] == true

    with :ok <- now(journal["now"]),
         {:ok, entries} <- entries(calls, []),
         entries = Entry.list(entries),
         :ok <- Entry.whole(entries, forks?) do
      defaults = if journal["now"], do: [now: journal["now"]], else: []
      {:ok, replaying(entries, forks?, run(journal)), defaults}
    end
  end

  defp none(%{"journal" => version}) when version != @version,
    do:
      {:error,
       {:execution_error,
        "The journal has version #{Shown.text(version, 50)}, and this library reads version #{@version}"}}

  defp none(other), do: {:error, {:execution_error, "No journal: #{Shown.text(other, 200)}"}}

  defp of(language),
    do: {:error, {:execution_error, "The journal is one of #{language}: it has its own replay/3"}}

  @doc "The control of a replay of a run that has been recovered, and the options that it had."
  @spec of_paused(Paused.t()) :: {:ok, Control.t(), keyword()} | {:error, String.t()}
  def of_paused(%Paused{} = paused) do
    with {:ok, entries} <- Packed.unpack(paused.journal),
         :ok <- Sound.check(paused, entries) do
      kept = Map.take(paused, @of_run) |> Map.reject(fn {_name, value} -> value == nil end)
      control = replaying(entries, paused.forks, Keyed.run(paused))
      {:ok, control, Map.to_list(kept)}
    end
  end

  defp replaying(entries, forks?, run) do
    control = %Control{journal: entries, forks?: forks?, key_run: run}
    Control.with_rules(control, replay?: true)
  end

  # The calls have the keys of the run that was recorded. One of an earlier release has none.
  defp run(%{"run_id" => id}) when is_binary(id), do: id
  defp run(_journal), do: nil

  defp now(nil), do: :ok

  defp now(text) do
    if is_binary(text) and Now.text(text) == {:ok, text},
      do: :ok,
      else: {:error, "The journal has no valid time: #{Shown.text(text, 50)}"}
  end

  defp edition(own, _program, _asked) when own not in [1, 2],
    do: {:error, "The journal has no valid edition: #{Shown.text(own, 50)}"}

  defp edition(own, %{edition: edition}, _asked) when edition != own, do: another(own, edition)
  defp edition(own, _program, asked) when asked in [nil, own], do: :ok
  defp edition(own, _program, asked), do: another(own, asked)

  defp another(own, other),
    do:
      {:error,
       "The journal is of edition #{Shown.text(own, 50)} of the language, and the program of edition #{other}"}

  defp entries([], done), do: {:ok, Enum.reverse(done)}

  defp entries([json | rest], done) do
    case Entry.decode(json) do
      {:ok, entry} ->
        if Entry.started?(entry),
          do: {:error, "The journal has a call without an answer"},
          else: entries(rest, [entry | done])

      {:error, sentence} ->
        {:error, "The journal cannot be read: #{sentence}"}
    end
  end

  defp entries(_improper, _done),
    do: {:error, "The journal cannot be read: its calls are no list"}
end
