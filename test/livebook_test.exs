Code.require_file("bench/support/results.ex")

defmodule PtcRunner.LivebookTest do
  # The cells of the notebooks, one after another, as Livebook evaluates them.
  use ExUnit.Case, async: false

  import ExUnit.CaptureIO

  @path "livebooks/tour.livemd"

  # Each with its line. The first one installs what this project has already.
  defp cells do
    lines = @path |> File.read!() |> String.split("\n") |> Enum.with_index(1)

    {cells, nil} =
      Enum.reduce(lines, {[], nil}, fn
        {"```elixir", number}, {cells, nil} -> {cells, {number + 1, []}}
        {"```", _number}, {cells, {first, code}} -> {[cell(first, code) | cells], nil}
        {line, _number}, {cells, {first, code}} -> {cells, {first, [line | code]}}
        _prose, outside -> outside
      end)

    [{_first, install} | cells] = Enum.reverse(cells)
    assert install =~ "Mix.install"
    assert install =~ ~s|{:ptc_runner_native, path: Path.join(__DIR__, "..")}|
    cells
  end

  defp cell(first, code), do: {first, code |> Enum.reverse() |> Enum.join("\n")}

  defp evaluate(cells) do
    start = {[], [], %{Code.env_for_eval(file: Path.expand(@path)) | function: nil}}

    {values, _binding, _env} =
      Enum.reduce(cells, start, fn {line, code}, {values, binding, env} ->
        quoted = Code.string_to_quoted!(code, file: env.file, line: line)
        {value, binding, env} = Code.eval_quoted_with_env(quoted, binding, env)
        {[value | values], binding, env}
      end)

    Enum.reverse(values)
  end

  test "every cell runs, and shows what the text beside it says" do
    me = self()
    tree = capture_io(fn -> send(me, {:values, evaluate(cells())}) end)
    assert_received {:values, values}

    [result, lisp, sums, over, story, waiting, approved, read, refused | rest] = values
    [findings, shares, error, stopped, points, timed] = rest

    assert %{"count" => 1666, "largest" => _, "sum" => _} = result
    assert %{same: true, bytes: {json, shorter}} = lisp
    assert shorter < json
    assert [sum, _bob, _cy] = sums
    assert sum == result["sum"]
    assert [%{"customer" => _, "spent" => spent, "limit" => limit} | _] = over
    assert spent > limit
    assert %{turns: [{1, false}, {2, true}], calls: [_, _, _]} = story
    assert story.told =~ "Unknown operation 'group'. Did you mean 'group_by'?"
    assert waiting == [~S(refund with %{"amount" => 37, "order" => 1})]

    assert %{result: "refunded 37 for order 1", audit: [%{tool: "refund", decision: :approved}]} =
             approved

    assert %{"issued" => ~D[2026-05-02], "lines" => [%{"quantity" => 3}]} = read.record
    assert length(read.warnings) > 3
    assert refused =~ "expected at least 1"
    assert Enum.map(findings, & &1.kind) == [:kept_nothing, :key_not_found]
    assert tree =~ "none of 165 had stauts"
    assert length(shares) == 11
    assert error =~ "Did you mean 'filter'?"
    assert stopped.stopped_after <= 60
    assert stopped.of > 300_000
    assert [%{path: ["rows", 0, "id"]}] = stopped.because
    assert length(points) == 12
    assert Enum.all?(points, &(&1["ns a row"] > 0))
    assert map_size(timed) == 2
  end

  test "the numbers of the picture in the README are those of the results" do
    results = File.read!("bench/RESULTS.md")
    picture = File.read!("docs/benchmark.svg")
    row = results |> Bench.Results.rows("filter, sum") |> Enum.find(&(&1["rows"] == "10,000"))
    nanoseconds = Bench.Results.nanoseconds(row["program as text"])
    assert picture =~ ">#{round(nanoseconds / 1000)} µs</text>"
  end
end
