defmodule PtcRunner.Agent.Tool.Import do
  @moduledoc false
  # Descriptions of tools in the JSON of OpenAI and of MCP, as tools.

  import PtcRunner.Agent.Tool, only: [is_function_of_tool: 1]

  alias PtcRunner.Agent.Tool
  alias PtcRunner.Agent.Tool.{McpAnswer, Names, Schemas}
  alias PtcRunner.Json.Codec
  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Signature

  # The schema of a tool without arguments.
  @none %{"type" => "object", "properties" => %{}}
  # Sentences about one tool that are listed.
  @listed 20

  @type result :: {:ok, [Tool.t()], [String.t()]} | {:error, String.t()}

  @doc "See `PtcRunner.Agent.Tool.from_openai/2`."
  @spec openai(term(), term()) :: result()
  def openai(list, functions) do
    with {:ok, answers} <- functions(functions),
         {:ok, list} <- json(list),
         {:ok, list} <- entries(list),
         {:ok, tools, dropped} <- list |> placed() |> each(&openai_tool(&1, answers)),
         :ok <- all_used(answers, tools),
         do: {:ok, tools, dropped}
  end

  @doc "See `PtcRunner.Agent.Tool.from_mcp/2`."
  @spec mcp(term(), term()) :: result()
  def mcp(list, call) when is_function(call, 2) or is_function(call, 3) do
    with {:ok, list} <- json(list),
         list = result(list),
         {:ok, entries} <- entries(list),
         {:ok, tools, dropped} <- entries |> placed() |> each(&mcp_tool(&1, call)),
         do: {:ok, tools, more(list) ++ dropped}
  end

  def mcp(_list, call) do
    {:error,
     "the tools are called by a function of a name and arguments, got: #{Shown.text(call, 200)}"}
  end

  # A response of JSON-RPC has the result below a key.
  defp result(%{"result" => result}), do: result
  defp result(list), do: list

  defp more(%{"nextCursor" => cursor}) when cursor not in [nil, ""],
    do: ["the list has more pages: nextCursor is #{Shown.text(cursor, 100)}"]

  defp more(_list), do: []

  # Keys may be atoms, as Elixir code writes them.
  defp json(list) do
    with {:error, why} <- plain(list), do: {:error, "the tools are not JSON: #{why}"}
  end

  @doc "A term as its JSON is decoded."
  @spec plain(term()) :: {:ok, term()} | {:error, String.t()}
  def plain(term) do
    with {:ok, text} <- Codec.encode(term), {:ok, plain} <- Codec.decode(text) do
      {:ok, plain}
    else
      {:error, error} -> {:error, Shown.exception(error)}
    end
  rescue
    error -> {:error, Shown.exception(error)}
  end

  defp entries(%{"tools" => list}) when is_list(list), do: {:ok, list}
  defp entries(list) when is_list(list), do: {:ok, list}

  defp entries(other) do
    {:error,
     ~s(the tools must be a list, or an object with a list under "tools", got: #{Shown.text(other, 200)})}
  end

  defp placed(entries),
    do: for({entry, at} <- Enum.with_index(entries), do: {"tools[#{at}]", entry})

  @doc "The tools of entries, each with the place that errors name; an error if two have one name."
  @spec each([{String.t(), term()}], (term() -> made)) :: result()
        when made: {:ok, Tool.t(), [String.t()]} | {:drop, String.t()} | {:error, String.t()}
  def each(entries, fun), do: each(entries, fun, %{}, [], [])

  defp each([], _fun, _seen, tools, dropped),
    do: {:ok, Enum.reverse(tools), dropped |> Enum.reverse() |> Enum.concat()}

  defp each([{place, entry} | rest], fun, seen, tools, dropped) do
    case fun.(entry) do
      {:ok, %{name: name}, _lines} when is_map_key(seen, name) ->
        {:error, "#{place} has the name of #{seen[name]}: #{Shown.quoted(name)}"}

      {:ok, tool, lines} ->
        lines = lines |> Enum.uniq() |> Shown.first(@listed, &"#{&1} more are not validated")
        lines = Enum.map(lines, &"#{Shown.name(tool.name)}: #{&1}")
        each(rest, fun, Map.put(seen, tool.name, place), [tool | tools], [lines | dropped])

      {:drop, line} ->
        each(rest, fun, seen, tools, [["#{place} is left out: #{line}"] | dropped])

      {:error, why} ->
        {:error, "#{place} #{why}"}
    end
  end

  # In the chat API the function has its own object, in the responses API it is the entry.
  defp openai_tool(%{"type" => "function", "function" => function}, answers),
    do: openai_function(function, answers)

  defp openai_tool(%{"type" => "function"} = function, answers),
    do: openai_function(function, answers)

  defp openai_tool(%{"type" => type}, _answers),
    do: {:drop, "its type is #{Shown.text(type, 100)}, not function"}

  defp openai_tool(%{"name" => _} = function, answers),
    do: openai_function(function, answers)

  defp openai_tool(other, _answers), do: no_tool(other)

  defp openai_function(function, answers) do
    with {:ok, name} <- name(function),
         {:ok, fun} <- answer(answers, name),
         {:ok, schema} <- schema(function, "parameters") do
      read = Schemas.arguments(schema)
      tool(name, function["description"], {schema, read}, {:any, []}, fun)
    end
  end

  defp mcp_tool(entry, call) do
    with {:ok, name} <- name(entry),
         {:ok, schema} <- schema(entry, "inputSchema"),
         {:ok, output} <- output(entry) do
      read = Schemas.arguments(schema)

      # A program may give null for an argument that may be missing. A server that knows no null there gets none.
      sent = &Map.reject(&1, fn {key, value} -> value == nil and key in read.refused end)
      answer = &McpAnswer.value(&1, output != :none)

      fun =
        if is_function(call, 3),
          do: fn args, second -> name |> call.(sent.(args), second) |> answer.() end,
          else: fn args -> name |> call.(sent.(args)) |> answer.() end

      hints = if is_map(entry["annotations"]), do: entry["annotations"], else: %{}
      description = entry["description"] || entry["title"] || hints["title"]

      result = if output == :none, do: {:any, []}, else: Schemas.result(output)

      with {:ok, tool, lines} <- tool(name, description, {schema, read}, result, fun) do
        effect = if hints["readOnlyHint"] == true, do: :read, else: :write
        {:ok, %{tool | effect: effect}, lines}
      end
    end
  end

  defp output(entry) do
    case entry["outputSchema"] do
      nil -> {:ok, :none}
      schema when is_map(schema) -> {:ok, schema}
      other -> {:error, "has an outputSchema that is no object: #{Shown.text(other, 200)}"}
    end
  end

  defp name(%{"name" => name}) when is_binary(name) and name != "", do: {:ok, name}

  defp name(%{"name" => name}),
    do: {:error, "must have a name that is a text and not empty, got: #{Shown.text(name, 200)}"}

  defp name(%{}), do: {:error, "has no name"}
  defp name(other), do: no_tool(other)

  defp no_tool(other), do: {:error, "is no tool: #{Shown.text(other, 200)}"}

  defp schema(entry, key) do
    case entry[key] do
      nil -> {:ok, @none}
      schema when is_map(schema) -> {:ok, schema}
      other -> {:error, "has a schema under #{key} that is no object: #{Shown.text(other, 200)}"}
    end
  end

  @doc "A tool with its schemas, which have been read; and what of them is not validated."
  @spec tool(
          String.t(),
          term(),
          {term(), Schemas.arguments()},
          {Signature.type(), lines :: [String.t()]},
          (map() -> term()) | (map(), Tool.second() -> term())
        ) :: {:ok, Tool.t(), [String.t()]}
  def tool(name, description, {schema, read}, {returns, returned}, fun) do
    # Where any object will do, and the answer is any, the schema says more than a signature without arguments.
    signature =
      if read.any? and returns == :any and schema != @none,
        do: nil,
        else: {:signature, read.fields, returns}

    described = if is_binary(description) and description != "", do: description

    tool = %Tool{
      name: name,
      fun: fun,
      signature: signature,
      description: described,
      notes: read.notes,
      schema: if(signature == nil, do: schema),
      data: %{read.data | signature: signature, returns: returns}
    }

    {:ok, tool, read.lines ++ returned}
  end

  # One function for all names, or one for each name.
  defp functions(fun) when is_function(fun, 2) or is_function(fun, 3), do: {:ok, fun}

  defp functions(%{} = functions) when not is_struct(functions) do
    Enum.reduce_while(functions, {:ok, %{}}, fn {name, fun}, {:ok, found} ->
      case named(name) do
        {:ok, name} when is_map_key(found, name) ->
          {:halt, {:error, Names.twins(name, "functions")}}

        {:ok, name} when is_function_of_tool(fun) ->
          {:cont, {:ok, Map.put(found, name, fun)}}

        {:ok, name} ->
          {:halt, {:error, no_function(name, fun)}}

        :error ->
          {:halt, {:error, "a tool's name must be a string, got: #{Shown.text(name, 200)}"}}
      end
    end)
  end

  defp functions(other) do
    {:error,
     "the tools are answered by a map of functions by name, or a function of a name and " <>
       "arguments, got: #{Shown.text(other, 200)}"}
  end

  defp named(name) when is_binary(name), do: {:ok, name}
  defp named(name) when is_atom(name) and name != nil, do: {:ok, Atom.to_string(name)}
  defp named(_name), do: :error

  defp no_function(name, fun),
    do:
      "the tool #{Shown.quoted(name)} needs a function of one argument or of two, got: #{Shown.text(fun, 200)}"

  defp answer(fun, name) when is_function(fun, 2), do: {:ok, &fun.(name, &1)}
  defp answer(fun, name) when is_function(fun, 3), do: {:ok, &fun.(name, &1, &2)}

  defp answer(functions, name) do
    with :error <- Map.fetch(functions, name),
         do: {:error, "is #{Shown.quoted(name)}, and no function answers it"}
  end

  defp all_used(fun, _tools) when is_function(fun), do: :ok

  defp all_used(functions, tools) do
    names = MapSet.new(tools, & &1.name)

    case for {name, _fun} <- functions, name not in names, do: name do
      [] ->
        :ok

      left ->
        {:error, "no tool has the name #{left |> Enum.sort() |> Shown.few(&Shown.quoted/1)}"}
    end
  end
end
