defmodule PtcRunner.Json.Suggestion do
  @moduledoc false
  # "Did you mean": finds the known name that is most similar to an unknown one, natively.

  alias PtcRunner.{Native, Quanta}
  alias PtcRunner.Native.Panic
  require Quanta

  @doc """
  The end of the message about an unknown operation: a suggestion, or an empty text.

      iex> PtcRunner.Json.Suggestion.hint("filtre", ["count", "filter"])
      ". Did you mean 'filter'?"

      iex> PtcRunner.Json.Suggestion.hint("open_file", ["count", "filter"])
      ""

  """
  @spec hint(String.t(), [String.t()]) :: String.t()
  def hint(unknown, names) do
    case closest(unknown, names) do
      {:ok, name} -> ". Did you mean '#{name}'?"
      :error -> ""
    end
  end

  @doc """
  The most similar of `names`, which must be in ascending order; the first of equally similar ones.

      iex> PtcRunner.Json.Suggestion.closest("SELECT", ["load", "select"])
      {:ok, "select"}

      iex> PtcRunner.Json.Suggestion.closest("x", ["load", "select"])
      :error

  """
  @spec closest(String.t(), [String.t()]) :: {:ok, String.t()} | :error
  def closest(unknown, names) do
    Quanta.run(Native.closest_name(unknown, names))
  catch
    :error, :nif_panicked ->
      _text = Panic.caught()
      :error
  end
end
