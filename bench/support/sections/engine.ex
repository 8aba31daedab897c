defmodule Bench.Sections.Engine do
  @moduledoc false
  # Measures the resolvers over many tools or options, and the codec beside jiffy.
  @behaviour Bench.Section

  import Bench.Section
  import Bench.Table, only: [table: 4, words: 2, number: 2, times: 1, quotients: 2, count: 1]
  alias ALLM.{Engine, Serializer, Tool}
  alias Bench.{Bars, Jiffy}
  alias PtcRunner.Json.Codec

  @counts [1, 10, 100, 1_000, 10_000]
  @resolvers [:resolve_tools, :resolve_params, :merge_opts, :resolve_model]
  # 1.00 to the two decimals that are shown.
  @resolver_limit 1.005
  @codec_limit 0.7
  @growth_limit 1.05

  # Name, size (the rows of the first two, the tools of the engine) and title.
  @texts [
    {:earthquakes, 1_707, "the earthquakes, 1.2 MB"},
    {:small_rows, 10_000, "10,000 small rows, 0.9 MB"},
    {:engine, 20, "an engine with 20 tools"}
  ]
  @earthquakes Path.expand("../../../examples/data/earthquakes.json", __DIR__)

  @impl true
  def names, do: [:engine]

  @impl true
  def blocks(_quick?) do
    resolvers = for count <- @counts, do: {fn -> tools_and_options(count) end, resolvers(count)}

    # A process for each text; otherwise the data of other texts would be garbage collected too.
    codec =
      for {text, size, _title} <- @texts do
        groups =
          for name <- [:encode, :decode], do: group(:engine, name, size, codec(name, text), text)

        {fn -> codec_data(text, size) end, groups}
      end

    resolvers ++ codec
  end

  defp resolvers(count) do
    # The model is the first option, so the number of options does not matter.
    for name <- @resolvers, name != :resolve_model or count == hd(@counts) do
      library = resolver(:library, name, Function.capture(Engine, name, 2))
      by_hand = resolver(:elixir, name, Function.capture(Bench.ByHand.Engine, name, 2))
      tuned = resolver(:tuned, name, &Bench.ByHand.Engine.resolve_tools_tuned/2)
      tuned = if name == :resolve_tools, do: [tuned], else: []
      group(:engine, name, count, [library, by_hand | tuned])
    end
  end

  defp resolver(side, name, fun) do
    side(side, fn %{engine: engine} = data -> fn -> fun.(engine, Map.fetch!(data, name)) end end)
  end

  # Half of the call's tools replace one of the engine's, the others are new.
  defp tools_and_options(count) do
    engine =
      Engine.new(model: "m", params: %{temperature: 0.2, top_p: 1.0}, tools: tools(1..count))

    overrides = tools((div(count, 2) + 1)..(div(count, 2) + count))
    options = for n <- 1..count, do: {String.to_atom("option_#{n}"), n}

    %{
      engine: engine,
      resolve_tools: [temperature: 0.7, tools: overrides],
      resolve_params: options,
      resolve_model: [{:model, "other"} | options],
      merge_opts: [model: "other", tools: overrides, params: Map.new(options), max_turns: 3]
    }
  end

  defp tools(numbers) do
    for n <- numbers,
        do: Tool.new(name: "tool_#{n}", description: "What tool #{n} is for", schema: %{})
  end

  # Jiffy's null is an atom of that name.
  defp codec(:encode, text) do
    encode = if text == :engine, do: &Serializer.to_json!/1, else: &Codec.encode!/1

    [side(:library, fn data -> fn -> encode.(data.term) end end, &Codec.decode!/1)] ++
      if_jiffy([side(:jiffy, fn data -> fn -> Jiffy.encode(data.nulls) end end, &as_ours/1)])
  end

  defp codec(:decode, _text) do
    value = fn term -> term |> Jiffy.encode() |> as_ours() end

    [side(:library, fn data -> fn -> Codec.decode!(data.text) end end)] ++
      if_jiffy([side(:jiffy, fn data -> fn -> Jiffy.decode(data.text) end end, value)])
  end

  defp as_ours(written), do: written |> IO.iodata_to_binary() |> Codec.decode!()

  defp codec_data(name, size) do
    term = term(name, size)
    text = Codec.encode!(term)
    %{term: term, text: text, nulls: nulls(Codec.decode!(text))}
  end

  defp term(:earthquakes, _size), do: Codec.decode!(File.read!(@earthquakes))

  defp term(:small_rows, count) do
    for n <- 1..count do
      %{
        "id" => n,
        "name" => "Customer #{n}",
        "price" => :erlang.phash2({n, :price}, 1_000_000) / 100,
        "active" => rem(n, 3) == 0,
        "tags" => ["new", "retail"]
      }
    end
  end

  defp term(:engine, count) do
    schema = %{
      "type" => "object",
      "properties" => %{
        "city" => %{"type" => "string", "description" => "The city, in English"},
        "days" => %{"type" => "integer", "minimum" => 1, "maximum" => 14}
      },
      "required" => ["city"]
    }

    tools =
      for n <- 1..count do
        Tool.new(
          name: "tool_#{n}",
          description: "What tool #{n} answers, and when to ask it",
          schema: schema,
          handler: {__MODULE__, :blocks}
        )
      end

    Engine.new(
      adapter: __MODULE__,
      adapter_opts: [timeout: 5_000, base_url: "https://example.com"],
      model: "m",
      params: %{temperature: 0.2, top_p: 1.0},
      tools: tools
    )
  end

  defp nulls(nil), do: :null
  defp nulls(list) when is_list(list), do: Enum.map(list, &nulls/1)
  defp nulls(%{} = map), do: Map.new(map, fn {key, value} -> {key, nulls(value)} end)
  defp nulls(other), do: other

  @impl true
  def tables(results), do: [resolver_table(results), codec_table(results)]

  defp resolver_table(results) do
    intro = """
    `resolve_tools/2` with as many tools in the call as on the engine, half of them new; `resolve_params/2` and
    `resolve_model/2` with so many options; `merge_opts/2` with tools, params and a model. The merge of tools, in
    `resolve_tools/2` and `merge_opts/2`, is native; the others are Elixir. *Tuned* is the merge of tools
    in Elixir with more care.
    """

    rows = for name <- @resolvers, %{case: ^name} = result <- results, do: result
    words = [words("function", &"#{&1.case}/2"), number("tools or options", &count(&1.rows))]
    columns = times([:library, :elixir, :tuned]) ++ quotients([:library], [:elixir, :tuned])
    table("Engine: the resolvers", intro, rows, words ++ columns)
  end

  defp codec_table(results) do
    intro = """
    `PtcRunner.Json.Codec`, for the engine `ALLM.Serializer`, beside `jiffy:encode/1` and
    `jiffy:decode(text, [return_maps])`. Jiffy is given the engine as the map its JSON stands for.
    """

    rows = Enum.filter(results, &(&1.case in [:encode, :decode]))
    words = [words("data", &title/1), words("", &Atom.to_string(&1.case))]
    columns = times([:library, :jiffy]) ++ quotients([:library], [:jiffy])
    table("Engine: JSON", intro, rows, words ++ columns)
  end

  defp title(%{origin: text}), do: @texts |> List.keyfind!(text, 0) |> elem(2)

  @impl true
  def bars(results) do
    resolvers =
      for name <- @resolvers do
        what = "#{name}/2; 1 to 10,000 tools or options"
        opts = [place: &"#{count(&1.rows)} tools or options"]
        Bars.ratio(of(results, name), what, [:library], :elixir, @resolver_limit, opts)
      end

    # Elixir's maps are linear too; both grow faster because the tools do not fit into the caches.
    what = "resolve_tools/2: growth exponent, 100 to 10,000 tools"
    tools = of(results, :resolve_tools)
    growth = Bars.growth(tools, what, [:library], @growth_limit, 100..10_000)

    codec =
      for name <- [:encode, :decode] do
        what = "JSON #{name}: earthquakes, 10,000 small rows, engine with 20 tools"
        opts = [place: &title/1, words: "jiffy:#{name}"]
        Bars.ratio(of(results, name), what, [:library], :jiffy, @codec_limit, opts)
      end

    resolvers ++ [growth | codec]
  end
end
