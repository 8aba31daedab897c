defmodule PtcRunner.SubAgent.TypeExtractor do
  @moduledoc """
  Extracts the signature and the description of a tool from its function's `@spec` and `@doc`.

  | type | signature |
  |---|---|
  | `String.t()`, `binary()` | `:string` |
  | `integer()`, `non_neg_integer()`, `pos_integer()` | `:int` |
  | `float()`, `number()` | `:float` |
  | `boolean()` | `:bool` |
  | `atom()` | `:keyword` |
  | `any()`, `term()` | `:any` |
  | `map()` | `:map` |
  | `%{key: t}`, `%Struct{key: t}` | `{key T}` |
  | `list(t)`, `[t]` | `[T]` |
  | `DateTime.t()`, `Date.t()`, `Time.t()`, `NaiveDateTime.t()` | `:string` |
  | `t \\| nil` | `T?` |
  | `{:ok, a} \\| {:error, b}` | `{result A, error B?}` |
  | the module's own types without parameters | their definitions, three levels deep |
  | anything else | `:any` |

  ## Costs

  The docs and specs of a module are read from its compiled file, which takes milliseconds. The
  result is memoized by module, function, arity and the module's MD5, so a newly loaded version
  is read again. At most 10,000 functions are memoized.
  """

  alias PtcRunner.SubAgent.TypeExtractor.{Docs, Memo, Spec}

  require Logger

  @doc """
  The signature and the description of a function; each is `nil` if the module does not have it.

  The signature comes from the `@spec` of that name with the highest arity. The names of the
  parameters and the first line of the `@doc` come from the docs of the function itself. Never raises.

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
  def extract(fun) when is_function(fun) do
    with {:type, :external} <- Function.info(fun, :type) do
      {:module, module} = Function.info(fun, :module)
      {:name, name} = Function.info(fun, :name)
      {:arity, arity} = Function.info(fun, :arity)
      {:ok, Memo.fetch(module, name, arity, &external/3)}
    else
      {:type, :local} -> {:ok, {nil, nil}}
    end
  end

  def extract(other) do
    Logger.warning("no signature from #{PtcRunner.Shown.text(other)}: not a function")
    {:ok, {nil, nil}}
  end

  defp external(module, name, arity) do
    {names, description} = Docs.fetch(module, name, arity)
    {Spec.signature(module, name, names), description}
  rescue
    error ->
      function = Exception.format_mfa(module, name, arity)

      Logger.warning(
        "no signature from #{function}: #{PtcRunner.Shown.cut(Exception.message(error), 2_000)}"
      )

      {nil, nil}
  end
end
