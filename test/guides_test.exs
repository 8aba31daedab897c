Code.require_file("support/ecto_packages.exs", __DIR__)
alias PtcRunner.Test.Guides

# From Elixir 1.15 on, an application that is no dependency is not on the code path. The compiler warns of calls of its functions.
for app <- [:inets, :ssl] do
  if function_exported?(Mix, :ensure_application!, 1),
    do: apply(Mix, :ensure_application!, [app])

  {:ok, _started} = Application.ensure_all_started(app)
end

# What the guides have their readers write into files. Tests among these files are run with this one.
Guides.compile_files(Guides.paths())

defmodule PtcRunner.GuidesTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Test.{Guides, ProviderRequests, StubProvider}

  doctest Guides
  doctest ProviderRequests

  @over_limit ~S"""
  {"program": {"op": "pipe", "steps": [
    {"op": "load", "name": "customers"},
    {"op": "set", "fields": {"limit": {"op": "call", "tool": "limit", "args": {"customer": {"op": "get", "field": "id"}}}}},
    {"op": "filter", "where": {"op": "gt", "field": "owes", "value": {"op": "get", "field": "limit"}}},
    {"op": "set", "fields": {"over": {"op": "sub", "left": {"op": "get", "field": "owes"}, "right": {"op": "get", "field": "limit"}}}},
    {"op": "sort_by", "field": "over", "order": "desc"},
    {"op": "take", "count": 3},
    {"op": "select", "fields": ["name", "over"]}]}}
  """

  @spent ~S"""
  {"program": {"op": "pipe", "steps": [
    {"op": "load", "name": "orders"},
    {"op": "filter", "where": {"op": "eq", "field": "customer", "value": "Ada"}},
    {"op": "sum", "field": "total"}]}}
  """

  @invoice ~S"""
  {"number": "DE-17", "issued": "2026-05-02", "status": "paid", "lines": [{"sku": "A-1", "quantity": 3}]}
  """

  @in_prose "Here is the program:\n```json\n#{@spent}\n```"
  @wrong String.replace(@spent, "total", "totl")
  @count ~S({"program": {"op": "pipe", "steps": [{"op": "load", "name": "orders"}, {"op": "count"}]}})

  # What the models of a page answer, where the page asks one over HTTP.
  @models %{
    "README.md" => [@over_limit],
    "guides/openai.md" => [
      @in_prose,
      @wrong,
      @spent,
      @invoice,
      {429, [{"retry-after", "0"}]},
      @count
    ],
    "guides/anthropic.md" => [@in_prose, @wrong, @spent, @invoice],
    "guides/gemini.md" => [@in_prose, @wrong, @spent, @invoice, @spent]
  }

  for path <- Guides.paths() do
    @external_resource path

    test "the blocks of #{path} run as they stand" do
      stub = stub(@models[unquote(path)])
      faults = Guides.faults(unquote(path))
      assert faults == [], Enum.join(faults, "\n\n")
      if stub, do: assert(length(StubProvider.requests(stub)) >= length(@models[unquote(path)]))
    end
  end

  defp stub(nil), do: nil

  defp stub(answers) do
    {:ok, stub} = StubProvider.start(answers)
    url = StubProvider.url(stub)
    System.put_env("OPENAI_BASE_URL", url <> "/v1")
    System.put_env("ANTHROPIC_BASE_URL", url)
    System.put_env("GEMINI_BASE_URL", url <> "/v1beta")
    for name <- ~w(OPENAI ANTHROPIC GEMINI), do: System.put_env(name <> "_API_KEY", "key")
    stub
  end

  describe "a guide is at fault" do
    defp faults(code, output \\ "") do
      text = "```elixir\n#{code}\n```\n#{output}"
      for fault <- text |> Guides.blocks() |> Guides.faults("a.md"), do: fault
    end

    test "if a value is another one" do
      assert faults("1 + 1\n# => 2") == []
      assert ["a.md:3: gives\n2\nand not\n3"] = faults("1 + 1\n# => 3")
      assert faults("[\n  1,\n  2\n]\n# => [\n#      1,\n#      2\n#    ]") == []
      assert [_other] = faults("1\n# => 1.0")
    end

    test "if a value stands below nothing, or is no expression" do
      assert ["a.md:2: no expression stands above this value"] = faults("# => 1")
      assert ["a.md:3: the value below is no expression" <> _] = faults("1\n# => [")
    end

    test "if a line begins with an operator, whose left side IEx takes from the line above" do
      assert ["a.md:3: IEx does not take this line" <> _] =
               faults("list = [2, 1]\n|> Enum.sort()")

      assert faults("list =\n  Enum.sort([2, 1])\nlist\n# => [1, 2]") == []
    end

    test "if a block ends within an expression" do
      assert ["a.md:2: the block ends within an expression"] = faults("[1,")
    end

    test "if an exception is not shown, is another one, or does not come" do
      assert ["a.md:2: ** (RuntimeError) no"] = faults(~s(raise "no"))
      assert faults(~s[raise "no"\n# ** (RuntimeError) no]) == []
      assert [_other] = faults(~s[raise "no"\n# ** (RuntimeError) yes])
      assert [_none] = faults("1\n# ** (RuntimeError) no")
    end

    test "if it prints what is not shown" do
      assert ["a.md:2: prints what no text block shows:\nA"] = faults(~s[IO.puts("A")])
      assert faults(~s[IO.puts("A")], "\n```text\nA\n```\n") == []
      assert ["a.md:2: prints\nA\nand not\nB"] = faults(~s[IO.puts("A")], "\n```text\nB\n```\n")
    end

    test "if what is not run does not parse" do
      assert [] =
               "<!-- not run: x -->\n```elixir\nNo.such(1)\n```"
               |> Guides.blocks()
               |> Guides.faults("a.md")

      assert [_fault] =
               "<!-- not run: x -->\n```elixir\n[1\n```"
               |> Guides.blocks()
               |> Guides.faults("a.md")
    end
  end
end
