defmodule PtcRunner.Agent.Answer.Asked do
  @moduledoc false
  # What is asked of an answer: its type, with the object around a value that is none, and what may be changed.
  # `spelling` is what happens to a key that is another spelling of a field that is missing: it is read as the field, is kept, or is an error.

  alias PtcRunner.Agent.{Nearly, Wrapper}
  alias PtcRunner.Json.Limits
  alias PtcRunner.Options
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.Annotations

  @type t :: %{
          own: term(),
          wrapped?: boolean(),
          signature: Signature.t() | nil,
          type: term(),
          enums: map(),
          limits: keyword(),
          coerce?: boolean(),
          repair?: boolean(),
          spelling: :read | :keep | :refuse,
          truncated: :error | :complete
        }

  @doc """
  What a signature and the options of `PtcRunner.Agent.answer/3` ask.

      iex> asked = PtcRunner.Agent.Answer.Asked.new({:signature, [], :int}, repair: false)
      iex> {asked.own, asked.type, asked.wrapped?, asked.repair?}
      {:int, {:map, [{"value", :int}]}, true, false}

  """
  @spec new(Signature.t() | nil, keyword()) :: t()
  def new(signature, opts) do
    began = System.monotonic_time(:millisecond)
    coerce? = signature != nil and Keyword.get(opts, :coerce, true)
    repair? = Keyword.get(opts, :repair, true)
    enums = enums(signature, Wrapper.wrapped(signature), opts)
    signature = if coerce? and repair?, do: nullable(signature), else: signature
    wrapped = Wrapper.wrapped(signature)

    %{
      own: type(signature),
      wrapped?: wrapped != signature,
      signature: wrapped,
      type: type(wrapped),
      enums: enums,
      limits: opts |> Options.given([:timeout, :max_heap]) |> Limits.shared(began),
      coerce?: coerce?,
      repair?: repair?,
      spelling: if(repair?, do: :read, else: :keep),
      truncated: Keyword.get(opts, :truncated, :error)
    }
  end

  defp nullable({:signature, params, type}), do: {:signature, params, Nearly.nullable(type)}

  defp type({:signature, _params, type}), do: type
  defp type(nil), do: nil

  defp enums(nil, _wrapped, _opts), do: %{}

  # The enumeration of a wrapped value is under the wrapper's key.
  defp enums({:signature, _params, type}, wrapped, opts) do
    case {Annotations.of!(opts, type).enums, wrapped} do
      {%{"" => values}, {:signature, _, {:map, [{name, _type}]}}} -> %{name => values}
      {enums, _wrapped} -> enums
    end
  end
end
