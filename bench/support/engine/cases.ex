defmodule Bench.Engine.Cases do
  @moduledoc false
  # The section `engine`: the resolvers over many tools or options, and the codec beside jiffy.

  alias ALLM.{Engine, Serializer, Tool}
  alias Bench.Engine.Plain
  alias Bench.Jiffy
  alias PtcRunner.Json.Codec

  @counts [1, 10, 100, 1_000, 10_000]
  @texts [:earthquakes, :small_rows, :engine]
  @earthquakes Path.expand("../../../examples/data/earthquakes.json", __DIR__)

  @typedoc "What one process measures: a function that makes its data, and the groups."
  @type block :: {(... -> map), [Bench.Harness.group()]}

  @spec blocks() :: [block]
  def blocks do
    resolvers = for count <- @counts, do: {fn -> tools_and_options(count) end, resolvers(count)}
    resolvers ++ for text <- @texts, do: {fn -> codec_data(text) end, codec(text)}
  end

  @spec resolver_names() :: [atom]
  def resolver_names, do: [:resolve_tools, :resolve_params, :merge_opts, :resolve_model]

  @spec texts() :: [atom]
  def texts, do: @texts

  defp resolvers(count) do
    # The model is looked for in the first place, however many options there are.
    for name <- resolver_names(), name != :resolve_model or count == hd(@counts) do
      sides = [call(:library, Engine, name), call(:elixir, Plain, name)]
      tuned = if name == :resolve_tools, do: [call(:tuned, Plain, :resolve_tools_tuned)], else: []
      group(name, count, sides ++ tuned)
    end
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

  defp call(side, module, function) do
    name = if function == :resolve_tools_tuned, do: :resolve_tools, else: function
    fun = Function.capture(module, function, 2)
    side(side, fn %{engine: engine} = data -> fn -> fun.(engine, Map.fetch!(data, name)) end end)
  end

  # The rows of the earthquakes and of the small rows, the tools of the engine.
  @sizes %{earthquakes: 1_707, small_rows: 10_000, engine: 20}

  # A process for each: what another one has on its heap would be collected along.
  defp codec(text) do
    for name <- [:encode, :decode] do
      jiffy = if Jiffy.available?(), do: [jiffy(name)], else: []
      group(name, Map.fetch!(@sizes, text), [library(name, text) | jiffy], text)
    end
  end

  defp library(:encode, :engine) do
    side(
      :library,
      fn data -> fn -> Serializer.to_json!(data.term) end end,
      &Codec.decode!/1
    )
  end

  defp library(:encode, _text) do
    side(:library, fn data -> fn -> Codec.encode!(data.term) end end, &Codec.decode!/1)
  end

  defp library(:decode, _text) do
    side(:library, fn data -> fn -> Codec.decode!(data.text) end end)
  end

  # Jiffy's null is an atom of that name.
  defp jiffy(:encode) do
    side(:jiffy, fn data -> fn -> Jiffy.encode(data.nulls) end end, &as_ours/1)
  end

  defp jiffy(:decode) do
    value = fn term -> term |> Jiffy.encode() |> as_ours() end
    side(:jiffy, fn data -> fn -> Jiffy.decode(data.text) end end, value)
  end

  defp as_ours(written), do: written |> IO.iodata_to_binary() |> Codec.decode!()

  defp codec_data(name) do
    term = term(name)
    text = Codec.encode!(term)
    %{term: term, text: text, nulls: nulls(Codec.decode!(text))}
  end

  defp term(:earthquakes), do: Codec.decode!(File.read!(@earthquakes))
  defp term(:small_rows), do: small_rows(@sizes.small_rows)
  defp term(:engine), do: engine(@sizes.engine)

  defp small_rows(count) do
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

  defp engine(count) do
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

  defp group(name, count, sides, origin \\ :built),
    do: %{section: :engine, case: name, rows: count, origin: origin, sides: sides}

  defp side(name, prepare, value \\ & &1), do: %{name: name, prepare: prepare, value: value}
end
