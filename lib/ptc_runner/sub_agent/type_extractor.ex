defmodule PtcRunner.SubAgent.TypeExtractor do
  @moduledoc """
  Makes the signature and the description of a tool out of its function's `@spec` and `@doc`.

  | type | signature |
  |---|---|
  | `String.t()`, `binary()` | `:string` |
  | `integer()`, `non_neg_integer()`, `pos_integer()` | `:int` |
  | `float()`, `number()` | `:float` |
  | `boolean()` | `:bool` |
  | `atom()` | `:keyword` |
  | `any()`, `term()` | `:any` |
  | `map()` | `:map` |
  | `%{key: t}` | `{key T}` |
  | `list(t)`, `[t]` | `[T]` |
  | `DateTime.t()`, `Date.t()`, `Time.t()`, `NaiveDateTime.t()` | `:string` |
  | `t \\| nil` | `T?` |
  | `{:ok, a} \\| {:error, b}` | `{result A, error B?}` |
  | the module's own types without parameters | what they stand for, three deep |
  | anything else | `:any` |
  """

  alias PtcRunner.SubAgent.TypeExtractor.{Docs, Spec}

  require Logger

  @doc """
  The signature and the description of a function; each is `nil` where the module has none.

  The signature comes from the `@spec` of that name with the highest arity; the names of the
  parameters and the first line of the `@doc` come from the docs of just this function. Never raises.

      iex> alias PtcRunner.SubAgent.TypeExtractor
      iex> {:ok, {signature, description}} = TypeExtractor.extract(&PtcRunner.SubAgent.Signature.format_error/2)
      iex> signature
      "(error {path [:any], message :string}, data :any) -> :string"
      iex> description
      "One validation error as one line."

      iex> PtcRunner.SubAgent.TypeExtractor.extract(fn x -> x end)
      {:ok, {nil, nil}}

  """
  @spec extract((... -> term())) :: {:ok, {String.t() | nil, String.t() | nil}}
  def extract(fun) do
    {:ok, from(fun)}
  rescue
    error ->
      Logger.warning("no signature from #{inspect(fun)}: #{Exception.message(error)}")
      {:ok, {nil, nil}}
  end

  defp from(fun) when is_function(fun) do
    info = Function.info(fun)

    case info[:type] do
      :external -> external(info[:module], info[:name], info[:arity])
      :local -> {nil, nil}
    end
  end

  defp from(other) do
    Logger.warning("no signature from #{PtcRunner.Shown.text(other)}: not a function")
    {nil, nil}
  end

  defp external(module, name, arity) do
    {names, description} = Docs.fetch(module, name, arity)
    {Spec.signature(module, name, names), description}
  end
end
