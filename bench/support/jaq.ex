defmodule Bench.Jaq do
  @moduledoc false
  # jaq is an optional yardstick: it is used if it is on the PATH, or where `PTC_JAQ` says.

  @doc "The text in place of a number if there is no jaq."
  @spec missing() :: String.t()
  def missing,
    do: "jaq not installed (cargo install jaq --locked --root DIR, and PTC_JAQ=DIR/bin/jaq)"

  @spec path() :: Path.t() | nil
  def path, do: System.get_env("PTC_JAQ") || System.find_executable("jaq")

  @doc "What jaq writes for a filter and a file."
  @spec run(String.t(), Path.t()) :: String.t()
  def run(filter, file) do
    {output, 0} = System.cmd(path(), ["-c", filter, file])
    String.trim(output)
  end

  @spec version() :: String.t() | nil
  def version do
    with path when is_binary(path) <- path(),
         {output, 0} <- System.cmd(path, ["--version"]) do
      String.trim(output)
    else
      _missing -> nil
    end
  end
end
