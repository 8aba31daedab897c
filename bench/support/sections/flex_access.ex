defmodule Bench.Sections.FlexAccess do
  @moduledoc false
  # Measures look-ups of a name in any of its spellings, one per row, beside `Map.get/2` with the string.
  @behaviour Bench.Section

  import Bench.Section
  import Bench.Table, only: [table: 4, words: 2, times: 1, quotients: 2]
  alias Bench.Bars
  alias PtcRunner.Lisp.Runtime.FlexAccess

  @rows 40_000
  @names ~w(alpha beta gamma delta omega)
  @keyword %{__struct__: PtcRunner.Lisp.Keyword, name: "gamma"}
  # An atom of this name is never created.
  @no_atom "ptc-bench-" <> "no-atom"

  # Case, title, rows, key, and the bar that it belongs to.
  @cases [
    {:string_hit, "string, there", :strings, "gamma", :hit},
    {:atom_hit, "atom, there", :atoms, :gamma, :hit},
    {:atom_string, "atom, there as a string", :strings, :gamma, :twin},
    {:keyword_string, "keyword, there as a string", :strings, @keyword, :twin},
    {:string_atom, "string, there as an atom", :atoms, "gamma", :twin},
    {:keyword_atom, "keyword, there as an atom", :atoms, @keyword, :twin},
    {:string_keyword, "string, there as a keyword", :keywords, "gamma", :twin},
    {:string_missing, "string, missing", :strings, "ptc", :miss},
    {:no_atom_missing, "string with hyphens, no such atom, missing", :atoms, @no_atom, :miss},
    {:atom_missing, "atom, missing", :strings, :ptc, :miss},
    {:keyword_missing, "keyword, missing", :atoms, %{@keyword | name: "ptc"}, :miss}
  ]

  @limits [
    hit: {2.0, "a key that is there as it is"},
    twin: {6.0, "a key that is there in another spelling"},
    miss: {10.0, "a key that is not there"}
  ]

  @impl true
  def names, do: [:flex]

  @impl true
  def blocks(_quick?) do
    groups =
      for {name, _title, rows, key, kind} <- @cases do
        get = if kind == :miss, do: "ptc", else: "gamma"

        group(:flex, name, @rows, [
          call(:library, &Map.fetch!(&1, rows), &each(&1, key)),
          call(:elixir, & &1.strings, fn rows -> Enum.map(rows, &Map.get(&1, get)) end)
        ])
      end

    [{fn -> data() end, groups}]
  end

  defp each(rows, key), do: Enum.map(rows, &FlexAccess.flex_get(&1, key))

  defp data do
    %{
      strings: rows(& &1),
      atoms: rows(&String.to_atom/1),
      keywords: rows(&%{@keyword | name: &1})
    }
  end

  defp rows(key), do: for(n <- 1..@rows, do: Map.new(@names, &{key.(&1), n}))

  @impl true
  def tables(results) do
    intro = """
    `PtcRunner.Lisp.Runtime.FlexAccess.flex_get/2` (in the overlay only) in an `Enum.map/2` over 40,000 rows of 5 keys, beside
    `Map.get/2` with the string over rows of strings.
    """

    title = fn result -> @cases |> List.keyfind!(result.case, 0) |> elem(1) end

    columns =
      [words("key", title)] ++ times([:library, :elixir]) ++ quotients([:library], [:elixir])

    [table("Flexible key access", intro, results, columns)]
  end

  @impl true
  def bars(results) do
    for {kind, {limit, what}} <- @limits do
      cases = for {name, _, _, _, ^kind} <- @cases, do: name
      results = Enum.filter(results, &(&1.case in cases))
      place = fn result -> @cases |> List.keyfind!(result.case, 0) |> elem(1) end
      opts = [words: "Map.get/2", place: place]
      Bars.ratio(results, "flexible key access: #{what}", [:library], :elixir, limit, opts)
    end
  end
end
