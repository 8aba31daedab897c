defmodule PtcRunner.Agent.Judging do
  @moduledoc false
  # Whether the value of a run is the result that its signature declares.

  alias PtcRunner.Agent.{Feedback, Result, Run}
  alias PtcRunner.Firewall.{Marks, Shape}
  alias PtcRunner.Json.{Deadline, Values}
  alias PtcRunner.SubAgent.Signature.Annotations

  @doc "Validates the value of a run."
  @spec judged(term(), keyword(), Run.info()) ::
          {:ok, term(), Run.info()} | {:error, term(), String.t(), Run.info()}
  def judged(value, opts, info) do
    signature = Keyword.get(opts, :returns)
    allowed = if signature, do: Annotations.of!(opts, elem(signature, 2)).enums, else: %{}
    # The check of enumerations has the time of a run of its own.
    enums = {allowed, Deadline.from_now(opts[:timeout] || :infinity)}

    with :no <- whole(info, signature, enums) do
      case fit(value, signature, enums, info.shape) do
        {:ok, value, warnings} ->
          {:ok, value, %{info | warnings: info.warnings ++ warnings}}

        {:error, errors} ->
          errors = Shape.errors(errors, info.shape, &Result.wanted(&1, signature, allowed))
          feedback = Feedback.result(errors, Shape.conceal(value, info.shape), info.made)
          {:error, {:invalid_result, errors}, feedback, info}
      end
    end
  end

  # A signature does not know structs, and programs read them as maps of their fields.
  defp fit(value, signature, enums, shape) do
    with {:error, errors} <- Result.fit(value, signature, enums, shape) do
      case Values.plain(value) do
        ^value ->
          {:error, errors}

        plain ->
          with {:error, _} <- Result.fit(plain, signature, enums, shape), do: {:error, errors}
      end
    end
  end

  # If the result declares the field `result`, an object that fits it as a whole is the result, although the
  # rules of memory take only the value of that field.
  defp whole(%{whole: {%{"result" => _value} = whole, shape, told}} = info, signature, enums) do
    with true <- Result.declares?(signature, "result"),
         {:ok, value, warnings} <- Result.fit(whole, signature, enums, shape) do
      memory = info.before |> Map.merge(whole) |> Marks.put(whole, shape, told, info.before)
      info = %{info | delta: whole, memory: memory, shape: shape}
      {:ok, value, %{info | warnings: info.warnings ++ warnings}}
    else
      _no -> :no
    end
  end

  defp whole(_info, _signature, _enums), do: :no
end
