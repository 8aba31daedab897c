defmodule PtcRunner.Json.RandomTextsTest do
  # Random programs over random JSON texts end as over what the texts are decoded to: results, errors, and calls of tools,
  # which answer texts too. PTC_SEED repeats a run, PTC_CASES=10 takes ten times as many.
  use ExUnit.Case, async: true

  import PtcRunner.Test.Agreement

  alias PtcRunner.Test.{Generator, Spelled}

  doctest Spelled

  @cases 500

  @tag timeout: 600_000
  test "programs, of which some are wrong" do
    assert_agreement(&Generator.random_case/2, @cases, over_texts())
  end

  @tag timeout: 600_000
  test "pipelines that keep a part of what they make" do
    assert_agreement(&Generator.dropping_case/2, div(@cases, 2), over_texts())
  end

  @tag timeout: 600_000
  test "programs of edition 2" do
    assert_agreement(&Generator.modern_case/2, @cases, over_texts())
  end
end
