defmodule PtcRunner.SubAgent.Signature.Coercion do
  @moduledoc """
  Coerces values to types: corrects unambiguous mistakes of LLMs, natively, in one walk.

  | from | to | becomes | warning |
  |---|---|---|---|
  | `"42"` | `:int` | `42` | yes |
  | `"3.14"` | `:float` | `3.14` | yes |
  | `"true"`, `"false"` | `:bool` | `true`, `false` | yes |
  | `42` | `:float` | `42.0` | no |
  | `:atom` | `:string` | `"atom"` | yes |
  | `"atom"` | `:keyword` | `:atom`, if the atom exists | yes |
  | dates and times | `:string` | ISO 8601 | yes |
  | a `Decimal` | `:int`, `:float` | the number that it exactly is | yes |
  | a `Decimal` | `:string` | its digits | yes |
  | ISO 8601 with an offset | `:datetime` | `%DateTime{}` in UTC | yes |
  | `42.0` | `:int` | an error | |
  | `"3 apples"`, `"1,234.50"` | `:float` | an error: the whole text must be a number | |

  A key is found under the declared name, as an atom or a string.

  ## Valid values

  What `PtcRunner.SubAgent.Signature.Validator.validate/2` accepts is coerced to a value that it accepts:

    * If coercion by the declared names fails, the keys that validation takes are found too: `"user-id"` for `user_id`. They
      stay as they are.
    * If one key stands for two fields, and what the one needs is wrong for the other (`{user_id :int, user-id :float}`), the
      value stays as it is.

  The exceptions are errors: a required field under an atom with hyphens that is not its name (`:"user-id"` for `user_id`), a
  string for `:keyword` that is the name of no atom, and an integer for `:float` beyond the largest float.

  ## Sharing with the input

  Valid parts are not copied: a value that needs no change is returned as the same term. In a changed value,
  the unchanged fields, elements and parts are shared with the input, and so is the tail
  of a list after its last changed element. Keys that the type does not declare are
  dropped, which is a change.
  """

  alias PtcRunner.{Native, Options, Quanta}
  alias PtcRunner.Native.{Panic, Telemetry}
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.{Conversions, ErrorText, Findings, Spelling}
  alias PtcRunner.SubAgent.Signature.{UnknownType, Validator}
  require Quanta
  require Telemetry

  @typedoc "The value and the warnings, or the reason for the failure."
  @type result :: {:ok, term(), warnings :: [String.t()]} | {:error, reason :: String.t()}

  @typedoc """
    * `:enabled` - coerce, with warnings
    * `:warn_only` - the same here; see `PtcRunner.SubAgent.Signature.call_tool/4`
    * `:strict` - coerce nothing, and refuse undeclared keys
    * `:disabled` - accept everything
  """
  @type mode :: :enabled | :warn_only | :strict | :disabled

  @modes [:enabled, :warn_only, :strict, :disabled]
  @options %{mode: {:one_of, @modes}, nested: :any}

  @doc """
  Coerces a value to a type; stops at the first failure.

      iex> PtcRunner.SubAgent.Signature.Coercion.coerce("42", :int)
      {:ok, 42, ["coerced string \\"42\\" to integer"]}

      iex> PtcRunner.SubAgent.Signature.Coercion.coerce(42, :float)
      {:ok, 42.0, []}

      iex> PtcRunner.SubAgent.Signature.Coercion.coerce("1,234.50", :float)
      {:error, "cannot coerce string \\"1,234.50\\" to float"}

      iex> PtcRunner.SubAgent.Signature.Coercion.coerce("hello", :int)
      {:error, "cannot coerce string \\"hello\\" to integer"}

      iex> PtcRunner.SubAgent.Signature.Coercion.coerce("hello", :keyword)
      {:ok, :hello, ["coerced string \\"hello\\" to keyword"]}

      iex> type = {:map, [{"id", :int}, {"name", :string}]}
      iex> PtcRunner.SubAgent.Signature.Coercion.coerce(%{"id" => "42", "name" => "Alice"}, type)
      {:ok, %{"id" => 42, "name" => "Alice"}, ["coerced string \\"42\\" to integer"]}

  Values in firewalled fields are coerced too, but neither warnings nor errors show them:

      iex> PtcRunner.SubAgent.Signature.Coercion.coerce(%{"_pin" => "1234"}, {:map, [{"_pin", :int}]})
      {:ok, %{"_pin" => 1234}, ["coerced string to integer"]}

      iex> PtcRunner.SubAgent.Signature.Coercion.coerce(%{"_pin" => "s3cret"}, {:map, [{"_pin", :int}]})
      {:error, "cannot coerce string to integer"}

  """
  @spec coerce(term(), Signature.type()) :: result()
  def coerce(value, type), do: told(value, type, false)

  @doc false
  # A value of JSON, whose null, true and false are no texts: of data of Elixir these are atoms, and so have a name.
  @spec json(term(), Signature.type()) :: result()
  def json(value, type), do: told(value, type, true)

  defp told(value, type, of_json?) do
    if Telemetry.on?(),
      do: Telemetry.coerce(fn -> coerced(value, type, of_json?) end),
      else: coerced(value, type, of_json?)
  end

  defp coerced(value, type, of_json?) do
    case walk(type, value, nil, of_json?) do
      {:ask, questions} -> walk(type, value, Conversions.answers(questions), of_json?)
      other -> other
    end
    |> Spelling.settled(value, type)
    |> Conversions.result()
  catch
    :error, :nif_panicked -> {:error, Panic.caught()}
  end

  @doc """
  Coerces a value to a type in a mode.

  ## Options

    * `:mode` - see `t:mode/0`, by default `:enabled`
    * `:nested` - accepted, without effect

  Other options are ignored, unless their name is close to one of these.

  In the mode `:strict` the error contains all mistakes:

      iex> type = {:map, [{"id", :int}, {"name", :string}]}
      iex> PtcRunner.SubAgent.Signature.Coercion.coerce(%{"id" => "42"}, type, mode: :strict)
      {:error, "id: expected integer, got string \\"42\\"; name: expected field, got nil"}

      iex> PtcRunner.SubAgent.Signature.Coercion.coerce("42", :int, mode: :disabled)
      {:ok, "42", []}

  """
  @spec coerce(term(), Signature.type(), keyword()) :: result()
  def coerce(value, type, opts) do
    Options.check_close!(opts, @options, "PtcRunner.SubAgent.Signature.Coercion.coerce/3")

    case Keyword.get(opts, :mode, :enabled) do
      mode when mode in [:enabled, :warn_only] -> coerce(value, type)
      :strict -> strict(value, type)
      :disabled -> {:ok, value, []}
    end
  end

  @doc false
  # Data of a JSON Schema: keys are as declared, other keys of open maps stay, null, true and false are no texts, and all errors are reported.
  @spec data(term(), Signature.type()) ::
          {:ok, term(), warnings :: [String.t()]} | {:error, [Signature.error()] | String.t()}
  def data(value, type) do
    reply =
      with {:ask, questions} <- data(type, value, nil),
           do: data(type, value, Conversions.answers(questions))

    case reply do
      {:ok, _value, _warnings} = done -> done
      {:error, errors, whole?} -> {:error, Findings.finish(errors, whole?)}
      :too_much -> {:error, "too many warnings"}
      {:unknown, type} -> UnknownType.raise!(type)
    end
  catch
    :error, :nif_panicked -> {:error, Panic.caught()}
  end

  defp data(type, value, answers), do: Quanta.run(Native.signature_data(type, value, answers))

  defp walk(type, value, answers, of_json?),
    do: Quanta.run(Native.signature_coerce(type, value, answers, of_json?))

  @doc false
  def mode, do: {:one_of, @modes}

  defp strict(value, type) do
    case Validator.validate_closed(value, type) do
      :ok -> {:ok, value, []}
      {:error, errors} -> {:error, errors |> ErrorText.lines(value) |> Enum.join("; ")}
    end
  end
end
