defmodule PtcRunner.Test.JsonSuite do
  @moduledoc """
  The texts of JSONTestSuite, and rows with values of all kinds that JSON has.
  """

  @suite Path.expand("../../native/ptc_index/tests/suite.txt", __DIR__)

  @doc "Each text with its name, which begins with `y_` (must be read), `n_` (must be refused) or `i_` (either)."
  @spec texts() :: [{String.t(), binary()}]
  # Lines of a name, a tab and a text, in which other bytes than printable ASCII are \xNN and 3*a is aaa.
  def texts do
    for line <- @suite |> File.read!() |> String.split("\n", trim: true) do
      [name, written] = String.split(line, "\t", parts: 2)

      case Integer.parse(written) do
        {times, "*" <> part} -> {name, String.duplicate(part, times)}
        _other -> {name, unescaped(written)}
      end
    end
  end

  defp unescaped("\\x" <> <<code::binary-2, rest::binary>>),
    do: <<String.to_integer(code, 16)>> <> unescaped(rest)

  defp unescaped("\\\\" <> rest), do: "\\" <> unescaped(rest)
  defp unescaped(<<byte, rest::binary>>), do: <<byte>> <> unescaped(rest)
  defp unescaped(<<>>), do: <<>>

  @doc "So many rows with texts, escapes, numbers of all sizes, lists and objects."
  @spec rows(pos_integer()) :: [map()]
  def rows(count) do
    for n <- 1..count do
      %{
        "id" => n,
        "name" => "row #{rem(n, 97)}",
        "note" => String.duplicate("é\n\"", rem(n, 40)),
        "price" => n / 8,
        "tags" => Enum.map(1..rem(n, 4)//1, &"t#{&1}"),
        "at" => %{"city" => Enum.at(["Rome", "Oslo", nil], rem(n, 3)), "x" => -n},
        "big" => 123_456_789_012_345_678_901 * n,
        "ok" => rem(n, 2) == 0
      }
    end
  end
end
