defmodule PtcRunner.Json.Explain.Encoded do
  @moduledoc false
  # The JSON of an explanation, of a program or of a form of PTC-Lisp; without the result.

  alias PtcRunner.Json.Codec

  @doc """
  `outcome`: how the run ended, as text; `operation` and `path`: their terms of JSON.

      iex> explanation = %{failed_at: nil, duration: 1, words: 2, operations: [3], findings: [], near: []}
      iex> text = PtcRunner.Json.Explain.Encoded.text(explanation, "ok", &(&1 + 1), & &1)
      iex> PtcRunner.Json.Codec.decode!(text)
      %{"duration" => 1, "failed_at" => nil, "findings" => [], "near" => [], "operations" => [4], "outcome" => "ok", "words" => 2}

  """
  @spec text(map(), String.t(), (map() -> map()), (term() -> term())) :: String.t()
  def text(explanation, outcome, operation, path) do
    Codec.encode!(%{
      outcome: outcome,
      failed_at: path.(explanation.failed_at),
      duration: explanation.duration,
      words: explanation.words,
      operations: Enum.map(explanation.operations, operation),
      findings: Enum.map(explanation.findings, &%{&1 | path: path.(&1.path)}),
      near: explanation.near
    })
  end
end
