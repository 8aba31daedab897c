defmodule Bench.Sections.ToolLists do
  @moduledoc false
  # Measures how lists of tools from elsewhere become tools, and what a search in them costs.
  @behaviour Bench.Section

  import Bench.Section
  import Bench.Table, only: [table: 4, words: 2, times: 1, count: 1]
  alias Bench.{Bars, Harness, Table}
  alias PtcRunner.Agent.{Catalogue, Tool}

  @tools 1_000
  # Milliseconds.
  @limit 50

  @impl true
  def names, do: [:tool_lists]

  @impl true
  def blocks(_quick?), do: [{&data/0, [made(), searched()]}]

  defp data do
    list = %{"tools" => for(n <- 1..@tools, do: listed(n))}
    {:ok, tools, _dropped} = Tool.from_mcp(list, &answer/2)
    %{list: list, tools: Tool.list!(tools)}
  end

  # As a server for issues lists them.
  defp listed(n) do
    %{
      "name" => "search_#{n}",
      "description" => "Search for issues of department #{n}",
      "annotations" => %{"readOnlyHint" => true},
      "inputSchema" => %{
        "type" => "object",
        "required" => ["query"],
        "properties" => %{
          "query" => %{"type" => "string", "description" => "Words of the title or the text"},
          "order" => %{"type" => "string", "enum" => ["asc", "desc"]},
          "page" => %{"type" => "number", "minimum" => 1},
          "perPage" => %{"type" => "number", "minimum" => 1, "maximum" => 100}
        }
      },
      "outputSchema" => %{
        "type" => "object",
        "required" => ["total"],
        "properties" => %{"total" => %{"type" => "integer"}}
      }
    }
  end

  defp answer(_name, _args), do: %{"content" => []}

  defp made do
    made = fn {:ok, tools, dropped} -> {length(tools), length(dropped)} end

    group(:tool_lists, :made, @tools, [
      call(:library, & &1.list, &Tool.from_mcp(&1, fn _, _ -> nil end), made)
    ])
  end

  defp searched do
    search = &Catalogue.found(&1, "search the issues of department 734", nil)
    group(:tool_lists, :searched, @tools, [call(:library, & &1.tools, search)])
  end

  @impl true
  def tables(results) do
    rows = for name <- [:made, :searched], result <- of(results, name), do: result
    columns = [words("what", &said(&1.case)), words("tools", &count(&1.rows)) | times([:library])]

    [
      table(
        "Lists of tools",
        "The modules of the library are loaded, as in a release. Without a release the first list also loads its modules and the native library.",
        rows,
        columns
      )
    ]
  end

  defp said(:made), do: "from_mcp/2"
  defp said(:searched), do: "one search_tools"

  @impl true
  def bars(results) do
    for {name, what} <- [made: "MCP tools become tools", searched: "tools are searched"] do
      limit = "≤ #{@limit} ms"
      what = "#{count(@tools)} #{what}"

      case of(results, name) do
        [result | _] ->
          ms = Harness.median(Harness.side(result, :library)) / 1_000_000
          Bars.at_most(what, {@limit, limit}, {ms, "#{Table.digits(ms)} ms"})

        [] ->
          Bars.not_measured(what, limit, "not part of this run")
      end
    end
  end
end
