defmodule PtcRunner.SubAgent.Signature.Renderer do
  @moduledoc """
  Writes types and signatures as text, natively.
  """

  alias PtcRunner.{Aligned, Native}
  alias PtcRunner.Native.Panic
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.UnknownType

  @typedoc "`key_style: :lisp_prompt` writes field names through `to_lisp_key/1`."
  @type option :: {:key_style, :lisp_prompt | atom()}

  @doc """
  A signature as text. Without parameters it starts with the arrow, which the parser does not read.

      iex> alias PtcRunner.SubAgent.Signature.Renderer
      iex> Renderer.render({:signature, [{"id", :int}], {:map, [{"name", {:optional, :string}}]}})
      "(id :int) -> {name :string?}"
      iex> Renderer.render({:signature, [], {:list, :any}})
      "-> [:any]"

  """
  @spec render(Signature.t()) :: String.t()
  def render({:signature, [], type}), do: "-> " <> render_type(type)

  def render({:signature, params, type}) do
    # parameters are written like fields, between other brackets
    fields = render_type({:map, params})
    "(" <> binary_part(fields, 1, byte_size(fields) - 2) <> ") -> " <> render_type(type)
  end

  @doc """
  A type as text.

      iex> alias PtcRunner.SubAgent.Signature.Renderer
      iex> Renderer.render_type({:list, {:map, [{"user_id", :int}]}})
      "[{user_id :int}]"
      iex> Renderer.render_type({:list, {:map, [{"user_id", :int}]}}, key_style: :lisp_prompt)
      "[{user-id :int}]"

  Raises `ArgumentError` for what is no type, and for a type whose text would be longer than 64 MiB.
  """
  @spec render_type(Signature.type(), [option()]) :: String.t()
  def render_type(type, opts \\ []) do
    lisp? = Keyword.get(opts, :key_style) == :lisp_prompt

    case Native.signature_render(type, lisp?) do
      text when is_binary(text) -> text
      :busy -> text(Native.signature_render_dirty(type, lisp?))
      other -> text(other)
    end
  catch
    :error, :nif_panicked -> Panic.raise!()
  end

  @doc """
  A field name as Lisp programs read it: hyphens for underscores, but for one at the start.

      iex> PtcRunner.SubAgent.Signature.Renderer.to_lisp_key("_email_ids")
      "_email-ids"

  """
  @spec to_lisp_key(String.t()) :: String.t()
  def to_lisp_key(name) do
    name = Aligned.text(name)
    with :busy <- Native.signature_lisp_key(name), do: Native.signature_lisp_key_dirty(name)
  catch
    :error, :nif_panicked -> Panic.raise!()
  end

  defp text(text) when is_binary(text), do: text
  defp text({:unknown, type}), do: UnknownType.raise!(type)
  defp text(:too_long), do: raise(ArgumentError, "type is too large to be written")
end
