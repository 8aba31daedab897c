defmodule PtcRunner.Lisp.VectorsTest do
  # The golden cases of the language. One file alone: `mix test test/ptc_runner/lisp/vectors_test.exs --only family:hof`.

  use ExUnit.Case, async: true

  alias PtcRunner.Test.LispVectors

  # Wrong cases that a failure shows.
  @shown 25

  for file <- LispVectors.files() do
    @tag family: file
    @tag timeout: 300_000
    test "lisp_#{file}" do
      cases = LispVectors.compared(unquote(file))
      assert cases != []
      wrong = cases |> Enum.map(&LispVectors.wrong/1) |> Enum.reject(&is_nil/1)

      if wrong != [] do
        shown =
          wrong
          |> Enum.take(@shown)
          |> Enum.map_join("\n", &inspect(&1, limit: 40, printable_limit: 400, width: 160))

        flunk("#{length(wrong)} of #{length(cases)} cases are wrong:\n" <> shown)
      end
    end
  end
end
