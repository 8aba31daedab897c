# An application that has the ALLM package keeps its modules: see guides/engine.md.
unless Code.ensure_loaded?(ALLM) do
  defmodule ALLM.Engine do
    @moduledoc """
    The default configuration of calls to a language model, as one plain struct: the adapter, the declared tools,
    the request's default params and context.

    An engine has modules, atoms and plain data only, so it survives
    `:erlang.term_to_binary/1` and, through `ALLM.Serializer`, JSON. It never contains API keys.

    A call has its own options. The `resolve_*` functions return the values that apply to a call: the option if it
    is given, otherwise the engine's value. `merge_opts/2` makes an engine of both.

    All of it is Elixir except the merge of long lists of tools, which is faster natively; the
    project's benchmarks (section `engine`) show from which length on.
    """

    alias ALLM.Engine.ToolMerge
    alias ALLM.Tool

    @typedoc "The result of `resolve_model/2`: the given model, or the result of `LLMDB.model/1`."
    @type resolved_model :: String.t() | tuple() | struct() | nil

    @typedoc "How failed requests are tried again."
    @type retry :: :default | false | keyword()

    @type t :: %__MODULE__{
            adapter: module() | nil,
            adapter_opts: keyword(),
            model: String.t() | nil,
            tools: [Tool.t()],
            tool_executor: module() | nil,
            tool_result_encoder: module() | nil,
            image_adapter: module() | nil,
            params: map(),
            context: map(),
            retry: retry(),
            middleware: [module()],
            metadata: map()
          }

    @fields [
      adapter: nil,
      adapter_opts: [],
      model: nil,
      tools: [],
      tool_executor: nil,
      tool_result_encoder: nil,
      image_adapter: nil,
      params: %{},
      context: %{},
      retry: :default,
      middleware: [],
      metadata: %{}
    ]

    defstruct @fields

    # Options that the engine and its resolvers consume themselves. API keys are never forwarded.
    @never_forwarded [:api_key | Keyword.keys(@fields)]

    @doc """
    A new engine with any of its fields. Raises `KeyError` for unknown fields.

    `:adapter` may be nil; it is checked only when it is called.

        iex> engine = ALLM.Engine.new(adapter: ALLM.Providers.Fake, model: "fake:m")
        iex> engine.adapter
        ALLM.Providers.Fake
        iex> engine.model
        "fake:m"
        iex> engine.tools
        []

    """
    @spec new(keyword()) :: t()
    def new(opts \\ []), do: struct!(__MODULE__, opts)

    @doc """
    Appends a tool. Tools of the same name are both kept; to replace a tool, see `merge_opts/2`.

        iex> tool = ALLM.Tool.new(name: "echo", description: "echo", schema: %{})
        iex> engine = ALLM.Engine.new() |> ALLM.Engine.put_tool(tool)
        iex> Enum.map(engine.tools, & &1.name)
        ["echo"]

    """
    @spec put_tool(t(), Tool.t()) :: t()
    def put_tool(%__MODULE__{tools: tools} = engine, %Tool{} = tool),
      do: %{engine | tools: tools ++ [tool]}

    @doc """
    Appends a list of tools in one step; `put_tool/2` in a loop copies the list each time.

        iex> a = ALLM.Tool.new(name: "a", description: "a", schema: %{})
        iex> b = ALLM.Tool.new(name: "b", description: "b", schema: %{})
        iex> engine = ALLM.Engine.new() |> ALLM.Engine.put_tools([a, b])
        iex> Enum.map(engine.tools, & &1.name)
        ["a", "b"]

    """
    @spec put_tools(t(), [Tool.t()]) :: t()
    def put_tools(%__MODULE__{tools: tools} = engine, more) when is_list(more),
      do: %{engine | tools: tools ++ more}

    @doc """
    Sets one entry of `:params`. The adapter decides whether keys are atoms or strings.

        iex> engine = ALLM.Engine.new() |> ALLM.Engine.put_param(:temperature, 0.7)
        iex> engine.params
        %{temperature: 0.7}

    """
    @spec put_param(t(), atom() | String.t(), term()) :: t()
    def put_param(%__MODULE__{params: params} = engine, key, value)
        when is_atom(key) or is_binary(key),
        do: %{engine | params: Map.put(params, key, value)}

    @doc """
    Sets one entry of `:context`, which is the second argument of handlers of two arguments.

        iex> engine = ALLM.Engine.new() |> ALLM.Engine.put_context(:user_id, 42)
        iex> engine.context
        %{user_id: 42}

    """
    @spec put_context(t(), atom() | String.t(), term()) :: t()
    def put_context(%__MODULE__{context: context} = engine, key, value)
        when is_atom(key) or is_binary(key),
        do: %{engine | context: Map.put(context, key, value)}

    @doc """
    Replaces the model.

        iex> engine = ALLM.Engine.new(model: "old") |> ALLM.Engine.with_model("new")
        iex> engine.model
        "new"

    """
    @spec with_model(t(), String.t()) :: t()
    def with_model(%__MODULE__{} = engine, model), do: %{engine | model: model}

    @doc """
    Merges the options of a call into the engine.

      * `:model` replaces the model
      * `:tools` are merged as `resolve_tools/2` does it
      * `:params` and `:context` are merged into the maps, one level deep, if they are maps; other
        values are dropped

    All other options are dropped. It never raises, whatever the values of the options are. Of an
    option that stands twice the first one counts.

        iex> a = ALLM.Tool.new(name: "a", description: "a", schema: %{})
        iex> b = ALLM.Tool.new(name: "b", description: "b", schema: %{})
        iex> engine = ALLM.Engine.new(model: "old") |> ALLM.Engine.put_tool(a)
        iex> merged = ALLM.Engine.merge_opts(engine, model: "new", tools: [b], params: %{temperature: 0.9})
        iex> merged.model
        "new"
        iex> Enum.map(merged.tools, & &1.name)
        ["a", "b"]
        iex> merged.params
        %{temperature: 0.9}

        iex> ALLM.Engine.merge_opts(ALLM.Engine.new(), params: [temperature: 0.9], max_turns: 3)
        ALLM.Engine.new()

    """
    @spec merge_opts(t(), keyword()) :: t()
    def merge_opts(%__MODULE__{} = engine, opts) do
      model =
        case List.keyfind(opts, :model, 0) do
          {:model, model} -> model
          nil -> engine.model
        end

      %{
        engine
        | model: model,
          tools: resolve_tools(engine, opts),
          params: merge_map(engine.params, opts, :params),
          context: merge_map(engine.context, opts, :context)
      }
    end

    @doc """
    The model of a call: the option `:model` unless it is nil or false, otherwise the engine's.

    If a module `LLMDB` can be loaded, the result of `LLMDB.model/1` is
    returned.

        iex> engine = ALLM.Engine.new(model: "fake:m")
        iex> ALLM.Engine.resolve_model(engine, [])
        "fake:m"
        iex> ALLM.Engine.resolve_model(engine, model: "override")
        "override"
        iex> ALLM.Engine.resolve_model(ALLM.Engine.new(model: {:openai, "gpt-x"}), [])
        {:openai, "gpt-x"}

    """
    @spec resolve_model(t(), keyword()) :: resolved_model()
    def resolve_model(%__MODULE__{} = engine, opts) do
      model = opts[:model] || engine.model
      if Code.ensure_loaded?(LLMDB), do: apply(LLMDB, :model, [model]), else: model
    end

    @doc """
    The params of a call, as a map: the engine's params, overridden by the options, except options that the
    engine and its resolvers consume themselves.

    So options that only the provider knows are forwarded. Of a duplicate option the last
    one counts.

        iex> engine = ALLM.Engine.new(params: %{temperature: 0.2, top_p: 1.0})
        iex> ALLM.Engine.resolve_params(engine, temperature: 0.7)
        %{temperature: 0.7, top_p: 1.0}
        iex> ALLM.Engine.resolve_params(engine, model: "x", reasoning_effort: "high")
        %{temperature: 0.2, top_p: 1.0, reasoning_effort: "high"}

    """
    @spec resolve_params(t(), keyword()) :: map()
    def resolve_params(%__MODULE__{params: params}, opts) do
      case forwarded(opts) do
        [] -> params
        forwarded -> :maps.merge(params, :maps.from_list(forwarded))
      end
    end

    # Most calls have nothing to leave out, and then need no second list.
    defp forwarded(opts) do
      if all_forwarded?(opts),
        do: opts,
        else: for({key, _value} = opt when key not in @never_forwarded <- opts, do: opt)
    end

    defp all_forwarded?([{key, _value} | opts]) when key not in @never_forwarded,
      do: all_forwarded?(opts)

    defp all_forwarded?(opts), do: opts == []

    @doc """
    The tools of a call: the engine's in their order, each replaced by the tool of that name in the
    option `:tools`, if there is one (the last one, if there are several), and after them, in their
    order, the option's tools of other names.

    Without the option, or if it is not a list, these are the engine's tools. Takes linear time.

        iex> a = ALLM.Tool.new(name: "a", description: "a", schema: %{})
        iex> b = ALLM.Tool.new(name: "b", description: "b", schema: %{})
        iex> c = ALLM.Tool.new(name: "c", description: "c", schema: %{})
        iex> b_prime = ALLM.Tool.new(name: "b", description: "override", schema: %{})
        iex> d = ALLM.Tool.new(name: "d", description: "d", schema: %{})
        iex> engine = ALLM.Engine.new() |> ALLM.Engine.put_tools([a, b, c])
        iex> ALLM.Engine.resolve_tools(engine, tools: [b_prime, d]) |> Enum.map(& &1.name)
        ["a", "b", "c", "d"]

    """
    @spec resolve_tools(t(), keyword()) :: [Tool.t()]
    def resolve_tools(%__MODULE__{tools: tools}, opts) do
      case List.keyfind(opts, :tools, 0) do
        {:tools, [_ | _] = overrides} -> ToolMerge.merge(tools, overrides)
        _none -> tools
      end
    end

    defp merge_map(map, opts, key) do
      case List.keyfind(opts, key, 0) do
        {_key, %{} = more} when is_map(map) -> Map.merge(map, more)
        _none -> map
      end
    end
  end
end
