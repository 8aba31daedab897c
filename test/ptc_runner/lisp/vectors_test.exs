defmodule PtcRunner.Lisp.VectorsTest do
  # The golden cases of the language. One file alone: `mix test test/ptc_runner/lisp/vectors_test.exs --only family:hof`.

  use ExUnit.Case, async: true

  alias PtcRunner.Test.LispVectors

  # Cases that are not compared, and why. The first four contradict others: a `def` in a callback is kept (mended/def/006), maps
  # are merged by `conj` (mended/maps/009), and the text of a regular expression shows no term of Erlang (specification, sections 4 and 11).
  # The error of a parameter that a built-in has called with a wrong value is that of destructuring.
  @left_out ~w(hof/misc/0025 memory/065 hof/two/0185 regex/0076 hof/misc/0017)

  # From Erlang/OTP 28 on, regular expressions are those of PCRE2, whose errors have other words and places.
  @pcre2 if String.to_integer(System.otp_release()) >= 28,
           do: ~w(regex/0062 regex/0065 regex/0109),
           else: []

  # Wrong cases that a failure shows.
  @shown 25

  for file <- LispVectors.files() do
    @tag family: file
    @tag timeout: 300_000
    test "lisp_#{file}" do
      cases =
        unquote(file)
        |> LispVectors.cases()
        |> Enum.reject(&(&1.id in @left_out or &1.id in @pcre2))

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
