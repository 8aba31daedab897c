defmodule PtcRunner.Agent.Tool do
  @moduledoc """
  A tool as a struct: what `{function, options}` says, with its name.

    * `name`, `fun` - the name, and a function of one argument, or of two: see *What the application gives a tool* below
    * `signature` - as text or parsed; `description`
    * `effect` - `:read` or `:write` (the default)
    * `max_calls` - how often it may be called in one run
    * `timeout` - milliseconds of one call
    * `cache` - whether it is called once for equal arguments in one run
    * `approve` - whether a person decides about each call: see `PtcRunner.Json.run/2`
    * `batch` - how many calls the function takes at once: see *One call for many* below

  See the section *Tools* of `PtcRunner.Agent`. The other fields are the library's own.

  ## What the application gives a tool

  A function of two arguments gets the arguments of the program and a map, `t:second/0`. Its `context` is what the application gave
  the run with the option `:tool_context` of `PtcRunner.Json.run/2`, `PtcRunner.Agent.run/3` or `PtcRunner.Agent.loop/3`, as a map: who
  asks, the tenant, a socket. The program and the model do not see it and cannot change it, and it is no argument in the prompt.

      iex> refund = fn %{"order" => id}, %{context: %{actor: actor}} -> "\#{actor} refunds \#{id}" end
      iex> tools = %{"refund" => {refund, "(order :int) -> :string"}}
      iex> program = ~s({"program": {"op": "call", "tool": "refund", "args": {"order": 7, "actor": "Eve"}}})
      iex> {:ok, value, info} = PtcRunner.Agent.run(program, tools, tool_context: [actor: "Ada"])
      iex> {value, info.warnings}
      {"Ada refunds 7", [~s(refund: dropped the undeclared argument "actor")]}

  The map says of the call itself, in runs of `PtcRunner.Json` and `PtcRunner.Agent`:

    * `key` - a text that names this call and no other one. It stays the same when the run is paused and goes on, even twice, and when it is
      recovered from its journal after a crash. Give it to a service that refuses a key that it knows: then nothing is done twice.
    * `attempt` - 1, or how often the call was started as far as the journal knows
    * `path` - the place of the call in the program, as in `PtcRunner.Json.Explain`

  Match the keys that are needed, because later versions may add some. Without the option, `context` is `%{}`. What is in it is copied to
  the process of the tools, once for each tool, and counts in its heap limit.

  A tool with `batch` gets `calls` in their place: a list of these three for each call, in the order of the arguments.

  Decisions of `:on_call` get the context in `call.context`. `PtcRunner.Agent.audit/1` says of each call who it was made for. A paused
  run does not have the context: give it again, as it is then. What such a function raises is told to the program as the name of the
  exception, without the terms that it is about, and thrown values and reasons of exits are not told: they may have data of the context.

      iex> tool = %PtcRunner.Agent.Tool{name: "rate", fun: fn _ -> 1.25 end, effect: :read}
      iex> program = ~s({"program": {"op": "call", "tool": "rate"}})
      iex> PtcRunner.Json.run!(program, tools: %{"rate" => tool})
      1.25

  ## One call for many

  With `batch: 100` the function takes a list of up to 100 arguments, and answers a list of as many answers in their order. `{:error, reason}` in the
  place of an answer is the error of that call, and in the place of the list that of each. The calls that the rounds of a loop make at
  the same place go to it together, also those in `set` and in parts of an object. All else sees single calls: signatures, `max_calls`, decisions, the journal, the plan and
  what an agent records. `timeout` is the time of one list. With `cache: true`, equal arguments are in it once.

      iex> names = fn list -> for %{"id" => id} <- list, do: "customer \#{id}, asked with \#{length(list) - 1} others" end
      iex> program = ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "ids"},
      ...>   {"op": "map", "expr": {"op": "call", "tool": "name", "args": {"id": {"op": "it"}}}}]}})
      iex> PtcRunner.Json.run!(program, context: %{"ids" => [7, 8]}, tools: %{"name" => {names, effect: :read, batch: 100}})
      ["customer 7, asked with 1 others", "customer 8, asked with 1 others"]

  A loop whose rounds call such a tool looks ahead: the calls of later rounds are made although an earlier round may fail.
  Where that matters, for example because the tool writes, catch errors in the round with `on_error`. Other tools that write are still called in the order of the rounds, and
  only where all rounds before have ended.

  """

  # Converts an application's tools to one form: a name, a function of one argument, and, if
  # they are known, the signature, a description for the model, and the values that arguments may have.

  require Logger

  alias PtcRunner.Agent.{Catalogue, Spec}
  alias PtcRunner.Agent.Tool.{Allm, Functions, Import, Names, OpenApi, Schemas}
  alias PtcRunner.Json.{Check, ToolContext, Tools}
  alias PtcRunner.{Options, Shown}
  alias PtcRunner.SubAgent.{Signature, TypeExtractor}
  alias PtcRunner.SubAgent.Signature.Annotations

  @enforce_keys [:name, :fun]
  defstruct [:name, :fun, :signature, :description, :notes, :schema, :spec, :max_calls, :timeout] ++
              [:data, :prepared] ++
              [effect: :write, cache: false, approve: false, batch: nil, warnings: [], needs: []]

  @typedoc """
  The second argument of a tool. `context`: the run's option `:tool_context`, as a map. `key`, `path`, `attempt`: what names the call, its
  place, and which attempt it is.
  """
  @type second :: ToolContext.second()

  @type t :: %__MODULE__{
          name: String.t(),
          fun: (map() -> term()) | (map(), second() -> term()),
          signature: Signature.t() | nil,
          description: String.t() | nil,
          notes: Annotations.t() | nil,
          schema: map() | nil,
          spec: {Signature.t(), Spec.form()} | nil,
          data: Schemas.data() | nil,
          prepared: %{tool: t(), checked: tuple() | nil, packed: binary()} | nil,
          effect: :read | :write,
          max_calls: non_neg_integer() | nil,
          timeout: timeout() | nil,
          cache: boolean(),
          approve: boolean(),
          batch: pos_integer() | nil,
          warnings: [String.t()],
          needs: [term()]
        }

  @doc false
  # A function that can be a tool's.
  defguard is_function_of_tool(fun) when is_function(fun, 1) or is_function(fun, 2)

  @telling %{signature: :any, description: :any, enums: :any, descriptions: :any}
  @calling [:effect, :max_calls, :timeout, :cache, :approve, :batch]

  @doc """
  The tools of a map by name, of a list of these structs or of `ALLM.Tool`, or of an `ALLM.Engine`, sorted by name.

  Two tools with one name are an error: structs, for example of two MCP servers, and keys of a map as an atom and as a text.

      iex> [tool] = PtcRunner.Agent.Tool.list!(%{"double" => {&(&1["n"] * 2), "(n :int) -> :int"}})
      iex> {tool.name, tool.signature, tool.fun.(%{"n" => 4})}
      {"double", {:signature, [{"n", :int}], :int}, 8}

      iex> PtcRunner.Agent.Tool.list!(%{"double" => 2})
      ** (ArgumentError) tool "double" must be a function of one argument or of two, {function, signature}, {function, options}, a PtcRunner.Agent.Tool or an ALLM.Tool, got: 2

      iex> tool = %PtcRunner.Agent.Tool{name: "get", fun: & &1}
      iex> PtcRunner.Agent.Tool.list!([tool, tool])
      ** (ArgumentError) two tools have the name "get": rename one of them, as in %{tool | name: "other"}. They are tools[0] and tools[1]

  """
  @spec list!(term()) :: [t()]
  def list!(%{__struct__: ALLM.Engine, tools: tools, context: context}),
    do: tools |> Names.once!() |> allm(context)

  def list!([_ | _] = tools) do
    cond do
      List.improper?(tools) ->
        refuse(tools)

      Enum.all?(tools, &match?(%{__struct__: ALLM.Tool}, &1)) ->
        tools |> Names.once!() |> allm(nil)

      Enum.all?(tools, &match?(%__MODULE__{}, &1)) ->
        own(tools)

      true ->
        refuse(tools)
    end
  end

  def list!([]), do: []

  def list!(tools) when is_map(tools) and not is_struct(tools) do
    placed = for {name, form} <- tools, do: {name!(name), form, {:key, name}}
    for {name, form, _at} <- Names.different!(placed), do: tool(name, form)
  end

  def list!(other), do: refuse(other)

  defp own(tools) do
    placed = for {tool, at} <- Enum.with_index(tools), do: {name!(tool.name), tool, at}
    for {name, tool, _at} <- Names.different!(placed), do: tool(name, tool)
  end

  @doc """
  Tools that are read once for many runs, in each form that `PtcRunner.Agent` takes, sorted by name.

  A run reads its tools: types from specs, signatures, what a check knows of them, and the index that `search_tools` uses. For a thousand tools
  that takes longer than most programs. Prepare them when your application starts, keep the list, and give it to each run. A tool of the
  list that is changed later is read again. Raises `ArgumentError` where a run would.

      iex> tools = PtcRunner.Agent.Tool.prepare(%{"double" => {&(&1["n"] * 2), "(n :int) -> :int"}})
      iex> program = ~s({"program": {"op": "call", "tool": "double", "args": {"n": "4"}}})
      iex> {:ok, value, info} = PtcRunner.Agent.run(program, tools)
      iex> {value, info.warnings}
      {8, [~s(double: coerced string "4" to integer)]}
      iex> PtcRunner.Json.run!(program, tools: Map.new(tools, &{&1.name, &1}))
      8

  """
  @spec prepare(term()) :: [t()]
  def prepare(tools) do
    for tool <- list!(tools) do
      tool = %{tool | prepared: nil}
      prepared = %{tool: tool, checked: Check.of_tool(tool), packed: Catalogue.packed(tool)}
      %{tool | prepared: prepared}
    end
  end

  @doc """
  The function tools of OpenAI's chat and responses APIs, as tools.

  `functions` is a map of functions of one argument by name, or one function of a name and arguments. A function of one argument more gets
  what the application gives the run, as its last argument (`t:second/0`). Keys may be
  strings or atoms. The third element lists what of the schemas is not validated, and entries that are no functions.

      iex> weather = %{type: "function", function: %{name: "weather", description: "Today's weather",
      ...>   parameters: %{type: "object", required: ["city"], properties: %{city: %{type: "string", minLength: 2, format: "city"}}}}}
      iex> {:ok, [tool], dropped} = PtcRunner.Agent.Tool.from_openai([weather], %{"weather" => &("dry in " <> &1["city"])})
      iex> {tool.signature, dropped}
      {{:signature, [{"city", {:where, :string, [min_length: 2]}}], :any}, ["weather: city is not validated by format"]}
      iex> program = ~s({"program": {"op": "call", "tool": "weather", "args": {"city": "Bern"}}})
      iex> PtcRunner.Json.run!(program, tools: %{"weather" => tool})
      "dry in Bern"

      iex> PtcRunner.Agent.Tool.from_openai([%{type: "function", name: "weather"}], %{})
      {:error, ~s(tools[0] is "weather", and no function answers it)}

  """
  @spec from_openai(
          [map()] | map(),
          %{(String.t() | atom()) => (map() -> term()) | (map(), second() -> term())}
          | (String.t(), map() -> term())
          | (String.t(), map(), second() -> term())
        ) ::
          {:ok, [t()], dropped :: [String.t()]} | {:error, String.t()}
  def from_openai(tools, functions), do: Import.openai(tools, functions)

  @doc """
  The tools of an MCP server: the result of `tools/list`, and a function that makes the request `tools/call`.

  `call` gets a name and arguments, and as a function of three arguments also what the application gives the run (`t:second/0`), for example
  whose session it is. It answers with the result of `tools/call`, with `{:ok, result}` or with
  `{:error, reason}`. The result's `structuredContent` is the tool's answer. Without it, the `content` is: a text that is
  a JSON object or list becomes data, one item is the answer itself, several are a list. With `isError` the text is the
  tool's error. The hint `readOnlyHint` makes `effect: :read`; trust it as far as the server. `outputSchema` is the
  type of the answer. An argument that may be missing is not sent if a program gives null and its type knows no null.

  The third element lists what of the schemas is not validated. If the list has more pages, it says so.

      iex> listed = %{"tools" => [%{"name" => "get_issue", "annotations" => %{"readOnlyHint" => true},
      ...>   "inputSchema" => %{"type" => "object", "required" => ["number"],
      ...>     "properties" => %{"number" => %{"type" => "integer"}}}}]}
      iex> call = fn "get_issue", %{"number" => 7} -> %{"content" => [%{"type" => "text", "text" => ~s({"title": "Slow"})}]} end
      iex> {:ok, [tool], []} = PtcRunner.Agent.Tool.from_mcp(listed, call)
      iex> {tool.effect, tool.fun.(%{"number" => 7})}
      {:read, {:ok, %{"title" => "Slow"}}}

      iex> listed = [%{"name" => "whoami", "inputSchema" => %{"type" => "object"}}]
      iex> call = fn "whoami", %{}, %{context: %{user: user}} -> %{"content" => [%{"type" => "text", "text" => user}]} end
      iex> {:ok, [tool], []} = PtcRunner.Agent.Tool.from_mcp(listed, call)
      iex> program = ~s({"program": {"op": "call", "tool": "whoami"}})
      iex> PtcRunner.Json.run!(program, tools: %{"whoami" => tool}, tool_context: [user: "Ada"])
      "Ada"

      iex> PtcRunner.Agent.Tool.from_mcp(%{"tools" => [%{"name" => ""}]}, fn _name, _args -> nil end)
      {:error, ~s(tools[0] must have a name that is a text and not empty, got: "")}

  """
  @spec from_mcp(
          map() | [map()],
          (String.t(), map() -> term()) | (String.t(), map(), second() -> term())
        ) ::
          {:ok, [t()], dropped :: [String.t()]} | {:error, String.t()}
  def from_mcp(tools, call), do: Import.mcp(tools, call)

  @typedoc """
  The request of an operation: the method in capitals, the path filled and escaped, query and headers as texts that
  are not escaped, and the body as a term, nil if there is none.
  """
  @type request :: %{
          operation: String.t(),
          method: String.t(),
          path: String.t(),
          query: [{String.t(), String.t()}],
          headers: [{String.t(), String.t()}],
          body: term()
        }

  @doc """
  The operations of an OpenAPI document 3.0 or 3.1, as tools.

  The document is JSON text or a decoded map. `request` gets a `t:request/0`, makes it and answers with the decoded body of
  the response, `{:ok, body}` or `{:error, reason}`. A function of two arguments also gets what the application gives the run
  (`t:second/0`). It adds the address of the server and the credentials: programs do not see them.

  A tool's name is the `operationId`; without one it is the method and the path, as in `get_pets_id`. Parameters in the path, the query and
  the header are arguments with their names; the JSON body is the argument `body`. The JSON response 2xx is the type of the
  answer. GET, HEAD, OPTIONS and TRACE are `effect: :read`. Fields that are `readOnly` are no arguments, and those that are `writeOnly` are not
  in the answer. The third element lists what is not validated or not sent, and operations that are left out.

  ## Options

    * `:only` - the operations that become tools: names, paths, or a method with a path as in `"GET /pets/{id}"`. By default all
    * `:tags` - only operations with one of these tags. With `:only`, both must hold
    * `:results` - `:warn` (the default): an answer that differs from the document is a warning of the call; `:error`: it is an error of the tool.
      `false` does not read what the document says of answers

  Of a large document only what these operations refer to is read.

      iex> document = ~s({"openapi": "3.1.0", "paths": {"/pets/{id}": {"get": {"operationId": "getPet", "parameters": [
      ...>   {"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}},
      ...>   {"name": "with", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}}]}}}})
      iex> {:ok, [tool], []} = PtcRunner.Agent.Tool.from_openapi(document, &{:ok, {&1.method, &1.path, &1.query}})
      iex> tool.fun.(%{"id" => 7, "with" => ["owner", "tags"]})
      {:ok, {"GET", "/pets/7", [{"with", "owner"}, {"with", "tags"}]}}
      iex> PtcRunner.Agent.Tool.from_openapi(document, &{:ok, &1}, only: ["getPets"])
      {:error, ~s(the document has no operation "getPets". Did you mean "getPet"?)}

      iex> PtcRunner.Agent.Tool.from_openapi(%{"swagger" => "2.0"}, &{:ok, &1})
      {:error, ~s(the document is Swagger "2.0"; convert it to OpenAPI 3.0 or 3.1)}

  """
  @spec from_openapi(map() | String.t(), (request() -> term()) | (request(), second() -> term()),
          only: [String.t()],
          tags: [String.t()],
          results: :warn | :error | false
        ) ::
          {:ok, [t()], dropped :: [String.t()]} | {:error, String.t()}
  def from_openapi(document, request, opts \\ []), do: OpenApi.tools(document, request, opts)

  @doc """
  The public functions of a module, as tools: types from `@spec`, descriptions from the first line of `@doc`.

  A function of one map with known keys has these keys as arguments. Any other function has an argument for each parameter, with the name
  that the docs or the spec say (`arg1` without one); parameters with a default may be missing. The function gets the keys,
  structs, dates and atoms of its spec. `{:ok, value}`, `{:error, reason}` and `:error` are answers as of every tool; the result's type is shown to the
  model and not checked. Every tool is `effect: :write`, until you set it.

  ## Options

    * `:only` - names, or names with arities: `[:find, list: 2]`. Without it, all functions that have a `@doc`
    * `:except` - the same, of those to leave out
    * `:context` - names of parameters that the application gives and not the program, from the run's option `:tool_context`: a name
      alone stands for the key of that name, `{name, key}` for another key, and `{name, function}` for what a function takes from the context. Such a
      parameter is no argument of the tool. A run whose context has no such key is an `ArgumentError`.

  The third element lists what of the types is not validated, functions without a `@spec`, whose arguments are any terms, and
  functions that are left out because they have no `@doc`. Docs and specs are read from the compiled file of the module, in
  milliseconds for each function: make tools once.

      iex> {:ok, [tool], []} = PtcRunner.Agent.Tool.from_module(String, only: [:jaro_distance])
      iex> PtcRunner.SubAgent.Signature.render(tool.signature)
      "(string1 :string, string2 :string) -> :float"
      iex> program = ~s({"program": {"op": "call", "tool": "jaro_distance", "args": {"string1": "Dwayne", "string2": "Duane"}}})
      iex> PtcRunner.Json.run!(program, tools: %{tool.name => tool})
      0.8222222222222223

      iex> {:ok, [tool], []} = PtcRunner.Agent.Tool.from_module(String, only: [:jaro_distance], context: [string2: :name])
      iex> PtcRunner.SubAgent.Signature.render(tool.signature)
      "(string1 :string) -> :float"
      iex> program = ~s({"program": {"op": "call", "tool": "jaro_distance", "args": {"string1": "Dwayne"}}})
      iex> PtcRunner.Json.run!(program, tools: %{tool.name => tool}, tool_context: [name: "Duane"])
      0.8222222222222223

      iex> PtcRunner.Agent.Tool.from_module(String, only: [:jaro])
      {:error, "String has no public function jaro"}

  """
  @spec from_module(module(),
          only: [atom() | {atom(), arity()}],
          except: [atom() | {atom(), arity()}],
          context: [atom() | {atom(), atom() | String.t() | (map() -> term())}]
        ) ::
          {:ok, [t()], dropped :: [String.t()]} | {:error, String.t()}
  def from_module(module, opts \\ []), do: Functions.tools(module, opts)

  @doc false
  # The tool of a name and a form.
  @spec of!(String.t(), term()) :: t()
  def of!(name, form), do: name |> name!() |> tool(form)

  @spec refuse(term()) :: no_return()
  defp refuse(other) do
    raise ArgumentError,
          "tools must be a map of names, a list of PtcRunner.Agent.Tool or of ALLM.Tool, or an ALLM.Engine, " <>
            "got: #{Shown.text(other, 200)}"
  end

  @doc false
  # What is not validated in the arguments of these tools; logged, and part of the warnings of a run.
  @spec warnings([t()]) :: [String.t()]
  def warnings(tools) do
    warnings = Enum.flat_map(tools, & &1.warnings)
    for warning <- warnings, do: Logger.warning("a tool's JSON Schema: " <> warning)
    warnings
  end

  defp allm(tools, context) do
    tools |> Enum.map(&Allm.tool(&1.name, &1, context)) |> Enum.sort_by(& &1.name)
  end

  defp name!(name) when is_binary(name), do: name
  defp name!(name) when is_atom(name) and name != nil, do: Atom.to_string(name)

  defp name!(other),
    do: raise(ArgumentError, "a tool's name must be a string, got: #{Shown.text(other, 200)}")

  defp tool(name, %{__struct__: ALLM.Tool} = tool), do: Allm.tool(name, tool, nil)

  defp tool(name, fun) when is_function_of_tool(fun) do
    {:ok, {_signature, description}} = TypeExtractor.extract(fun)
    with_spec(%__MODULE__{name: name, fun: fun, description: description}, Spec.of(fun))
  end

  defp tool(name, {fun, signature}) when is_function_of_tool(fun) and is_binary(signature),
    do: tool(name, {fun, signature: signature})

  defp tool(name, {fun, {:signature, _, _} = signature}) when is_function_of_tool(fun),
    do: tool(name, {fun, signature: signature})

  defp tool(name, {fun, {_arguments, _result} = signature}) when is_function_of_tool(fun),
    do: tool(name, {fun, signature: signature})

  defp tool(name, {fun, %{} = signature})
       when is_function_of_tool(fun) and not is_struct(signature),
       do: tool(name, {fun, signature: signature})

  defp tool(name, {fun, opts}) when is_function_of_tool(fun) and is_list(opts) do
    kinds = Map.merge(@telling, Tools.options())
    Options.check_named!(opts, kinds, fn -> "tool #{inspect(name)}" end)
    found = tool(name, fun)
    signature = if opts[:signature], do: signature!(name, opts[:signature]), else: found.signature

    %{
      found
      | signature: signature,
        spec: if(opts[:signature], do: nil, else: found.spec),
        description: opts[:description] || found.description,
        notes: Annotations.of!(opts, {:map, if(signature, do: elem(signature, 1), else: [])})
    }
    |> struct!(Enum.uniq_by(Keyword.take(opts, @calling), &elem(&1, 0)))
  end

  # A prepared tool that nobody has changed was read before.
  defp tool(name, %__MODULE__{prepared: %{tool: %{name: name} = read}} = tool) do
    tool_alone = %{tool | prepared: nil}
    if tool_alone === read, do: tool, else: tool(name, tool_alone)
  end

  # A struct that the application has made has the options of `{function, options}` in its fields.
  defp tool(name, %__MODULE__{fun: fun} = tool) when is_function_of_tool(fun) do
    given = for {key, value} <- Map.take(Map.from_struct(tool), @calling), do: {key, value}
    telling = for key <- [:signature, :description], value = Map.get(tool, key), do: {key, value}
    notes = tool.notes
    made = tool(name, {fun, telling ++ given})
    spec = if tool.spec && of_spec?(tool.signature, elem(tool.spec, 0)), do: tool.spec
    made = %{made | spec: spec || made.spec}
    made = %{made | notes: notes || made.notes, schema: tool.schema, warnings: tool.warnings}
    # The application may have put another signature in the place of that of the schemas.
    data = if tool.data && tool.data.signature == tool.signature, do: tool.data
    %{made | needs: tool.needs, data: data}
  end

  defp tool(name, other) do
    raise ArgumentError,
          "tool #{inspect(name)} must be a function of one argument or of two, {function, signature}, " <>
            "{function, options}, a PtcRunner.Agent.Tool or an ALLM.Tool, got: #{Shown.text(other, 200)}"
  end

  # Whether a signature has the arguments of a spec: the application may have put another one in its place. A date is a text
  # that is shown, and any term that is checked.
  defp of_spec?({:signature, shown, _}, {:signature, checked, _}), do: like?(shown, checked)
  defp of_spec?(_other, _signature), do: false

  defp like?(same, same), do: true
  defp like?(:string, :any), do: true
  defp like?([a | as], [b | bs]), do: like?(a, b) and like?(as, bs)

  defp like?(a, b) when is_tuple(a) and is_tuple(b),
    do: like?(Tuple.to_list(a), Tuple.to_list(b))

  defp like?(_a, _b), do: false

  defp signature!(name, signature) when is_list(signature) or is_map(signature) do
    raise ArgumentError,
          "tool #{inspect(name)}: fields or a JSON Schema alone do not say whether they are the arguments or the " <>
            "result; give {arguments, result}, got: #{Shown.text(signature, 200)}"
  end

  defp signature!(name, signature) do
    Signature.parsed!(signature)
  rescue
    error in ArgumentError ->
      raise ArgumentError, "tool #{inspect(name)}: #{Exception.message(error)}"
  end

  # If a function takes one map with known keys, these are the tool's arguments. Its result is
  # not validated, because the spec does not tell `{:ok, value}` from the value.
  defp with_spec(tool, {shown, checked, form}),
    do: %{tool | signature: {:signature, shown, :any}, spec: {{:signature, checked, :any}, form}}

  defp with_spec(tool, nil), do: tool
end
