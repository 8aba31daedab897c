defmodule PtcRunner.Test.AnswerOracle do
  @moduledoc """
  The value of an answer, in plain Elixir, rule by rule, with any number of passes over the text: the
  oracle of the random tests.

      iex> alias PtcRunner.Test.AnswerOracle
      iex> AnswerOracle.parse("[Note] {\\"a\\": 1, \\"a\\": 2}")
      {:ok, %{"a" => 1}}
      iex> AnswerOracle.handle("[1, 2.5]", {:signature, [], {:list, :int}})
      {:error, [%{path: [1], message: "expected int, got float"}]}
  """

  alias PtcRunner.Test.AnswerOracle.{Find, Fit}

  @doc "As `PtcRunner.SubAgent.JsonParser.parse/1`."
  @spec parse(binary()) :: {:ok, term()} | {:error, :no_json_found | :invalid_json}
  defdelegate parse(text), to: Find

  @doc "The value, with the keys it is returned with, or the errors of the validation, or a text."
  @spec handle(binary(), tuple() | nil) :: {:ok, term()} | {:error, [map()] | String.t()}
  def handle(text, signature) do
    list? = match?({:signature, _, {:list, _}}, signature)

    case {parse(text), list?} do
      {{:ok, %{"items" => items}}, true} when is_list(items) -> Fit.fit(items, signature)
      {{:ok, map}, true} when is_map(map) -> {:error, "wrapper"}
      {{:ok, list}, true} when is_list(list) -> Fit.fit(list, signature)
      {{:ok, map}, false} when is_map(map) -> Fit.fit(map, signature)
      {{:ok, _other}, _} -> {:error, "object"}
      {{:error, reason}, _} -> {:error, Atom.to_string(reason)}
    end
  end
end
