defmodule PtcRunner.SubAgent.Signature.Renderer do
  @moduledoc """
  Renders types and signatures as text, natively.
  """

  alias PtcRunner.{Aligned, Native, Options, Quanta}
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.UnknownType
  require Quanta

  @typedoc "`key_style: :lisp_prompt` writes field names through `to_lisp_key/1`."
  @type option :: {:key_style, :lisp_prompt | atom()}

  @options %{key_style: :any}

  @doc """
  A signature as text. Without parameters it starts with the arrow, which the parser does not accept.

      iex> alias PtcRunner.SubAgent.Signature.Renderer
      iex> Renderer.render({:signature, [{"id", :int}], {:map, [{"name", {:optional, :string}}]}})
      "(id :int) -> {name :string?}"
      iex> Renderer.render({:signature, [], {:list, :any}})
      "-> [:any]"

  """
  @spec render(Signature.t()) :: String.t()
  def render({:signature, [], type}), do: "-> " <> render_type(type)

  def render({:signature, params, type}) do
    # parameters are rendered like fields, between other brackets
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

  Raises `ArgumentError` for an invalid type, and for a type whose text would be longer than 64 MiB.
  """
  @spec render_type(Signature.type(), [option()]) :: String.t()
  def render_type(type, opts \\ []) do
    Options.check_close!(opts, @options, "PtcRunner.SubAgent.Signature.Renderer.render_type/2")
    lisp? = Keyword.get(opts, :key_style) == :lisp_prompt

    case Quanta.run!(Native.signature_render(type, lisp?)) do
      {:ok, text} -> text
      {:unknown, type} -> UnknownType.raise!(type)
      :too_long -> raise(ArgumentError, "type is too large to be written")
    end
  end

  @doc """
  A field name in the form of Lisp programs: hyphens for underscores, except for a leading one.

      iex> PtcRunner.SubAgent.Signature.Renderer.to_lisp_key("_email_ids")
      "_email-ids"

  """
  @spec to_lisp_key(String.t()) :: String.t()
  def to_lisp_key(name) do
    {:ok, key} = Quanta.run!(Native.signature_lisp_key(Aligned.text(name)))
    key
  end
end
