defmodule PtcRunnerMcp.Caller do
  @moduledoc """
  Who makes a request, and what they can do.

    * `principal` - who it is, as the transport knows it and never from the request. A paused run opens only for the principal that it was
      sealed for.
    * `capabilities` - what the client has declared, in `initialize` or in the request
    * `era` - `:handshake` or `:modern`
    * `headers` - the headers of HTTP, by their names in small letters, or nil for a transport without headers
    * `notify` - a function of a method and params that sends a notification, or nil where none can be sent
  """

  defstruct principal: :local, capabilities: %{}, era: :handshake, headers: nil, notify: nil

  @typedoc "See the module's documentation."
  @type t :: %__MODULE__{
          principal: term(),
          capabilities: map(),
          era: :handshake | :modern,
          headers: %{String.t() => String.t()} | nil,
          notify: (String.t(), map() -> term()) | nil
        }

  @doc """
  Whether the client shows a form to its user.

      iex> PtcRunnerMcp.Caller.asks?(%PtcRunnerMcp.Caller{capabilities: %{"elicitation" => %{}}})
      true
      iex> PtcRunnerMcp.Caller.asks?(%PtcRunnerMcp.Caller{capabilities: %{"elicitation" => %{"url" => %{}}}})
      false

  """
  @spec asks?(t()) :: boolean()
  def asks?(%__MODULE__{capabilities: %{"elicitation" => %{} = elicitation}}),
    do: elicitation == %{} or is_map(elicitation["form"])

  def asks?(_caller), do: false
end
