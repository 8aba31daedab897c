defmodule Bench.Sections.Shapes do
  @moduledoc false
  # Measures get and distinct, coercion and validation over rows that differ as data from elsewhere does: each map has
  # keys of its own, and each string is a term of its own.
  @behaviour Bench.Section

  import Bench.Section
  import Bench.Table, only: [table: 4, words: 2, times: 1, quotients: 2]
  alias Bench.{Bars, Jiffy}
  alias Bench.ByHand.Signatures, as: ByHand
  alias PtcRunner.Json
  alias PtcRunner.SubAgent.Signature.{Coercion, Validator}

  @rows 10_000
  @cities 97
  @program ~s({"program":{"op":"pipe","steps":[{"op":"load","name":"rows"},) <>
             ~s({"op":"map","expr":{"op":"get","path":["owner","city"]}},) <>
             ~s({"op":"distinct"},{"op":"count"}]}})
  @type_of_data {:map,
                 [
                   {"results",
                    {:list, {:map, [{"id", :int}, {"score", :float}, {"metadata", :map}]}}}
                 ]}

  # `:built`: by Elixir code, so that the maps share their keys; `:grown`: key by key.
  @origins [:built, :grown, :binary_to_term, :jiffy]

  # Case, title, the limit beside Elixir by hand, and its sides.
  @cases [
    {:city, "get path, distinct, count: rows of 5 keys, 97 strings", 1.0},
    {:right, "coerce, nothing to change, each metadata another", 0.5},
    {:wrong, "validate, every row wrong, each metadata another", 0.6},
    {:twice, "validate, every row wrong twice, each metadata another", 0.6}
  ]

  @impl true
  def names, do: [:shapes]

  @impl true
  def blocks(_quick?) do
    for origin <- @origins, origin != :jiffy or Jiffy.available?() do
      groups = for {name, _, _} <- @cases, do: group(:shapes, name, @rows, sides(name), origin)
      {fn -> data(origin) end, groups}
    end
  end

  defp sides(:city) do
    {:ok, compiled} = Json.compile(@program)
    rows = & &1.rows

    run = fn rows, program ->
      {:ok, count, _delta, _memory} = Json.run(program, context: %{"rows" => rows})
      count
    end

    [
      call(:library, rows, &run.(&1, @program)),
      call(:compiled, rows, &run.(&1, compiled)),
      call(:elixir, rows, &by_hand/1)
    ]
  end

  defp sides(:right) do
    [
      call(:library, & &1.right, &Coercion.coerce(&1, @type_of_data)),
      call(:elixir, & &1.right, &ByHand.coerce/1)
    ]
  end

  defp sides(wrong) do
    [
      call(:library, &Map.fetch!(&1, wrong), &Validator.validate(&1, @type_of_data)),
      call(:elixir, &Map.fetch!(&1, wrong), &ByHand.validate/1)
    ]
  end

  defp by_hand(rows), do: rows |> Enum.map(& &1["owner"]["city"]) |> Enum.uniq() |> length()

  defp data(origin) do
    results = fn row -> %{"results" => Enum.map(1..@rows, row)} end

    from(origin, %{
      rows: Enum.map(1..@rows, &row/1),
      right: results.(&result(&1, &1, &1 / 8)),
      wrong: results.(&result(&1, "#{&1}", &1 / 8)),
      twice: results.(&result(&1, "#{&1}", "#{&1 / 8}"))
    })
  end

  defp from(:built, data), do: data
  defp from(:grown, data), do: grown(data)

  defp from(:binary_to_term, data),
    do: data |> :erlang.term_to_binary() |> :erlang.binary_to_term()

  defp from(:jiffy, data) do
    for {name, value} <- data,
        into: %{},
        do: {name, value |> Jiffy.encode() |> IO.iodata_to_binary() |> Jiffy.decode()}
  end

  defp grown(map) when is_map(map),
    do: Enum.reduce(map, %{}, fn {key, value}, map -> Map.put(map, key, grown(value)) end)

  defp grown(list) when is_list(list), do: Enum.map(list, &grown/1)
  defp grown(value), do: value

  defp row(id) do
    city = :erlang.phash2({id, :city}, @cities)

    %{
      "id" => id,
      "name" => "Customer #{id}",
      "amount" => :erlang.phash2({id, :amount}, 1_000),
      "active" => rem(id, 3) == 0,
      "owner" => %{"city" => "city #{city}", "zip" => "#{10_000 + city}", "since" => 1_950 + city}
    }
  end

  defp result(id, wanted, score) do
    metadata = %{"page" => id, "source" => "page #{id}", "tags" => ["new", "tag #{rem(id, 7)}"]}
    %{"id" => wanted, "score" => score, "metadata" => metadata}
  end

  @impl true
  def tables(results) do
    intro = """
    #{@rows} rows whose parts all differ. *Built* by Elixir code the maps share their keys; *grown* key by key, and out of
    `binary_to_term` and jiffy, each has its own. The program is `#{@program}`.
    """

    words = [words("", &title(&1.case)), words("origin", &Atom.to_string(&1.origin))]
    sides = [:library, :compiled]
    columns = times(sides ++ [:elixir]) ++ quotients(sides, [:elixir])
    [table("Other shapes of data", intro, results, words ++ columns)]
  end

  defp title(name), do: @cases |> List.keyfind!(name, 0) |> elem(1)

  @impl true
  def bars(results) do
    for {name, title, limit} <- @cases do
      sides = if name == :city, do: [:library, :compiled], else: [:library]
      Bars.ratio(of(results, name), title, sides, :elixir, limit, place: &"#{&1.origin}")
    end
  end
end
