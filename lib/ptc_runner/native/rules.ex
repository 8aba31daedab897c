defmodule PtcRunner.Native.Rules do
  @moduledoc false
  # What differs between the releases of `ptc_runner`, for the native modules that replace theirs: the
  # values that types accept, the syntax of signatures, unknown options, one message. The rules apply to
  # the whole VM. Without `ptc_runner` they are the newest.
  #
  # | since | a string is a `:keyword` | a struct is a map | keys of a map | `:datetime`, `:boolean`, `[t]?`, `{…}?` |
  # |---|---|---|---|---|
  # | 0.7.0 | no | yes | with underscores | no |
  # | 0.11.0 | yes | no | hyphens and underscores are equal | yes |
  #
  # Before 0.7.0 the modules that check values stay the originals. What is known of 0.8.0 and 0.10.1 is
  # assumed of the releases from 0.7.0 to 0.10.1, and the syntax of 0.6.0 of the earlier ones.

  alias PtcRunner.Native

  require Logger

  @typedoc """
  `:values` are the rules for values and signatures. `:lenient` are the functions that ignore unknown options.
  With `:names_field?`, a comparison without all its fields is said to need `field`.
  """
  @type t :: %{
          values: :newest | :before_0_11,
          lenient: [String.t()],
          names_field?: boolean()
        }

  @newest %{values: :newest, lenient: [], names_field?: false}

  # Functions of PtcRunner before 0.7.0 that take options and ignore those that they do not know.
  @lenient [
    "PtcRunner.Json.run/2",
    "PtcRunner.Sandbox.execute/3",
    "PtcRunner.SubAgent.Template.expand/3"
  ]

  @doc """
  The rules of a release. `nil` is no release; one whose version cannot be read is one of the newest.

      iex> PtcRunner.Native.Rules.of(nil).values
      :newest
      iex> PtcRunner.Native.Rules.of("0.10.1").values
      :before_0_11

  """
  @spec of(String.t() | nil) :: t()
  def of(release) do
    case Version.parse(release || "") do
      {:ok, version} ->
        cond do
          Version.match?(version, ">= 0.11.0", allow_pre: true) ->
            @newest

          Version.match?(version, ">= 0.7.0", allow_pre: true) ->
            %{@newest | values: :before_0_11}

          true ->
            %{values: :before_0_11, lenient: @lenient, names_field?: true}
        end

      :error ->
        @newest
    end
  end

  @doc "Makes these the rules of the VM."
  @spec use(t()) :: :ok
  def use(rules) do
    # The native library is not loaded for nothing.
    if rules != current() do
      :persistent_term.put(__MODULE__, rules)
      Native.use_rules(rules.values == :before_0_11)
    end

    :ok
  end

  @doc "The rules in use."
  @spec current() :: t()
  def current, do: :persistent_term.get(__MODULE__, @newest)

  @doc "What the log says about the rules; nil for the newest."
  @spec words(t()) :: String.t() | nil
  def words(%{values: :newest}), do: nil

  def words(%{values: :before_0_11}) do
    "by the rules before 0.11.0: a string is no :keyword, a struct is a map, keys have underscores, and " <>
      "signatures have no :datetime, no :boolean and no ? after a list or a map"
  end

  @doc """
  Whether a function ignores this unknown option, because the original does. Logs a warning the first time.
  """
  @spec ignores?(String.t(), term()) :: boolean()
  def ignores?(function, option) do
    ignores? = function in current().lenient
    if ignores?, do: warn(function, option)
    ignores?
  end

  defp warn(function, option) when is_atom(option) do
    seen = {__MODULE__, function, option}

    unless :persistent_term.get(seen, false) do
      :persistent_term.put(seen, true)
      Logger.warning("#{function} has no option #{inspect(option)} and ignores it")
    end
  end

  defp warn(_function, _option), do: :ok
end
