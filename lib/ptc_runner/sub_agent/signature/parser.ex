defmodule PtcRunner.SubAgent.Signature.Parser do
  @moduledoc """
  Parses signatures.

  The parser is native and accepts any nesting; see the guide *Signatures* for the syntax.
  """

  alias PtcRunner.{Native, Quanta}
  alias PtcRunner.Native.Panic
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.SyntaxText
  require Quanta

  @doc """
  Parses a text that is one signature.

  Fields can be written as `{id :int, name :string}` or as `{:id :int :name :string}`; a `;` starts
  a comment that ends with the line. The column of an error is a byte offset in the
  text, counted from 0: the start of the signature, or the end of the signature if text follows it. The message then
  describes the error and its own offset.

      iex> PtcRunner.SubAgent.Signature.Parser.parse("(id :int) -> {name :string, email :string?}")
      {:ok,
       {:signature, [{"id", :int}],
        {:map, [{"name", :string}, {"email", {:optional, :string}}]}}}

      iex> PtcRunner.SubAgent.Signature.Parser.parse("[{:id :int :tags [:string]}] ; rows")
      {:ok, {:signature, [], {:list, {:map, [{"id", :int}, {"tags", {:list, :string}}]}}}}

      iex> {:error, message} = PtcRunner.SubAgent.Signature.Parser.parse("{id :int name :string}")
      iex> message
      "parse error at line 1, column 0: expected \\",\\" or \\"}\\", found \\"name\\" at offset 9"

      iex> PtcRunner.SubAgent.Signature.Parser.parse(:int)
      {:error, "signature must be a string, got :int"}

  """
  @spec parse(term()) :: {:ok, Signature.t()} | {:error, String.t()}
  def parse(text) when is_binary(text) do
    case Quanta.run(Native.signature_parse(text)) do
      {:ok, signature} -> {:ok, signature}
      {:error, fault} -> {:error, SyntaxText.message(text, fault)}
    end
  catch
    :error, :nif_panicked -> {:error, Panic.caught()}
  end

  def parse(other), do: {:error, "signature must be a string, got #{PtcRunner.Shown.text(other)}"}

  @doc false
  # Raises `ArgumentError`. Its message has the place of the error itself, where that of `parse/1` has the column of
  # the reference implementation, which is mostly 0.
  @spec parse!(String.t()) :: Signature.t()
  def parse!(text) do
    case Quanta.run(Native.signature_parse(text)) do
      {:ok, signature} -> signature
      {:error, fault} -> raise ArgumentError, SyntaxText.placed(text, fault)
    end
  catch
    :error, :nif_panicked -> raise ArgumentError, Panic.caught()
  end

  @doc false
  # The result in the form of a NimbleParsec parser, because the original exports such a function.
  @spec parse_impl(String.t(), keyword()) ::
          {:ok, [term()], String.t(), map(), {pos_integer(), non_neg_integer()},
           non_neg_integer()}
          | {:error, String.t(), String.t(), map(), {pos_integer(), non_neg_integer()},
             non_neg_integer()}
  def parse_impl(text, _opts \\ []) do
    case parse(text) do
      {:ok, parsed} -> {:ok, [parsed], "", %{}, {1, 0}, byte_size(text)}
      {:error, message} -> {:error, message, text, %{}, {1, 0}, 0}
    end
  end
end
