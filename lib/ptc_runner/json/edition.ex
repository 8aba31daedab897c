defmodule PtcRunner.Json.Edition do
  @moduledoc false
  # Which edition of the language runs where the option `:edition` is not given. This is decided once for the VM,
  # because a lookup in the application environment costs more than a small program.

  alias PtcRunner.Json.Limits
  alias PtcRunner.Native.Overlay

  @type t :: 1 | 2

  # The edition where nothing else says which one.
  @usual 1

  # Releases of `ptc_runner` whose `PtcRunner.Json` this library replaces: programs must mean there what they meant.
  @replaced ">= 0.4.0-0 and < 0.7.0-0"

  @doc """
  The edition of the configuration, or else the default of this VM.

      iex> PtcRunner.Json.Edition.default() in [1, 2]
      true

  """
  @spec default() :: t()
  def default do
    with nil <- :persistent_term.get(__MODULE__, nil) do
      with {:error, sentence} <- decide(), do: raise(ArgumentError, sentence)
      :persistent_term.get(__MODULE__)
    end
  end

  @doc """
  The edition of agents: that of the configuration, or else the same beside every release of `ptc_runner`, because
  none of them has these functions.
  """
  @spec of_agents() :: t()
  def of_agents, do: Application.get_env(:ptc_runner_native, :edition) || @usual

  @doc """
  Decides the default anew, from the configuration and the release of `ptc_runner`. Returns a sentence for an
  invalid configuration.
  """
  @spec decide() :: :ok | {:error, String.t()}
  def decide do
    case of(Application.get_env(:ptc_runner_native, :edition), Overlay.release()) do
      {:ok, edition} -> :persistent_term.put(__MODULE__, edition)
      error -> error
    end
  end

  @doc """
  The default of a VM with this configuration and this release of `ptc_runner`; nil: there is none.

      iex> PtcRunner.Json.Edition.of(nil, "0.6.0")
      {:ok, 1}
      iex> PtcRunner.Json.Edition.of(2, "0.6.0")
      {:ok, 2}
      iex> PtcRunner.Json.Edition.of(3, nil)
      {:error, "config :ptc_runner_native, edition: must be 1 or 2, got: 3"}

  """
  @spec of(configured :: term(), release :: String.t() | nil) :: {:ok, t()} | {:error, String.t()}
  def of(edition, _release) when edition in [1, 2], do: {:ok, edition}
  def of(nil, release), do: {:ok, if(replaced?(release), do: 1, else: @usual)}

  def of(other, _release) do
    {:error,
     "config :ptc_runner_native, edition: must be 1 or 2, got: #{inspect(other, limit: 20)}"}
  end

  defp replaced?(release) do
    case Version.parse(release || "") do
      {:ok, version} -> Version.match?(version, @replaced)
      :error -> false
    end
  end

  @doc """
  The options for reading a program with the edition filled in, as the native side takes them.

      iex> PtcRunner.Json.Edition.filled({100, true, false, false, 1})
      {100, true, false, false, 1}

  """
  @spec filled(Limits.reading()) :: Limits.reading()
  def filled({_depth, _any_keys?, _strict?, _values?, edition} = reading) when edition != nil,
    do: reading

  def filled({depth, any_keys?, strict?, values?, nil}),
    do: {depth, any_keys?, strict?, values?, default()}

  # A depth alone is edition 1 on the native side.
  def filled(depth) do
    case default() do
      1 -> depth
      edition -> {depth, false, false, false, edition}
    end
  end
end
