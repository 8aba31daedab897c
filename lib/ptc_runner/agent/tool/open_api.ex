defmodule PtcRunner.Agent.Tool.OpenApi do
  @moduledoc false
  # The operations of an OpenAPI document, as tools. Each operation has one JSON Schema of its arguments (parameters by
  # their names, the body as one argument) and one of its answer; both find `$ref` in the document. Only what the chosen operations
  # refer to is read.

  alias PtcRunner.Agent.Tool.{Import, OpenApiRequest, OperationChoice, Reference, Schemas}
  alias PtcRunner.Json.Codec
  alias PtcRunner.{Options, Shown}

  @methods ~w(get put post delete options head patch trace)
  # HTTP calls these safe: they change nothing.
  @safe ~w(get head options trace)

  # The document says that these are not parameters; the function that makes the request sets them.
  @own_headers ~w(accept content-type authorization)

  # The styles of a parameter that a request can be made with, by its place; the first is the default.
  @styles %{
    "path" => ["simple"],
    "query" => ["form", "spaceDelimited", "pipeDelimited", "deepObject"],
    "header" => ["simple"]
  }

  @options %{only: :any, tags: :any, results: {:one_of, [:warn, :error, false]}}

  @doc "See `PtcRunner.Agent.Tool.from_openapi/3`."
  @spec tools(term(), term(), term()) :: Import.result()
  def tools(document, request, opts) when is_function(request, 1) or is_function(request, 2) do
    Options.check!(opts, @options, "PtcRunner.Agent.Tool.from_openapi/3")
    results = Keyword.get(opts, :results, :warn)

    with {:ok, choice} <- OperationChoice.of(opts),
         {:ok, document} <- document(document),
         {:ok, paths} <- paths(document),
         {:ok, operations} <- operations(paths, document),
         taken = for({_place, %{name: {:id, id}}} <- operations, into: MapSet.new(), do: id),
         {operations, _taken} = Enum.map_reduce(operations, taken, &named/2),
         {:ok, operations} <- OperationChoice.chosen(operations, choice) do
      Import.each(operations, &tool(&1, document, results, request))
    end
  end

  def tools(_document, request, _opts) do
    {:error,
     "the requests are made by a function of one argument, got: #{Shown.text(request, 200)}"}
  end

  defp document(text) when is_binary(text) do
    case Codec.decode(text) do
      {:ok, document} -> version(document)
      {:error, error} -> {:error, "the document is not JSON: #{Shown.exception(error)}"}
    end
  end

  defp document(document) do
    with false <- json?(document),
         {:error, why} <- Import.plain(document) do
      {:error, "the document is not JSON: #{why}"}
    else
      true -> version(document)
      {:ok, document} -> version(document)
    end
  end

  # What was decoded is not written and decoded again.
  defp json?(map) when is_map(map) and not is_struct(map),
    do: Enum.all?(map, fn {key, value} -> is_binary(key) and json?(value) end)

  defp json?(list) when is_list(list), do: not List.improper?(list) and Enum.all?(list, &json?/1)
  defp json?(other), do: is_binary(other) or is_number(other) or other in [nil, true, false]

  defp version(%{"openapi" => "3." <> _} = document), do: {:ok, document}

  defp version(%{"swagger" => version}),
    do:
      {:error,
       "the document is Swagger #{Shown.text(version, 50)}; convert it to OpenAPI 3.0 or 3.1"}

  defp version(%{"openapi" => version}),
    do: {:error, "the document must be OpenAPI 3.0 or 3.1, got: #{Shown.text(version, 50)}"}

  defp version(other),
    do: {:error, ~s(the document has no field "openapi": #{Shown.text(other, 200)})}

  defp paths(%{"paths" => %{} = paths}), do: {:ok, Enum.sort(paths)}
  defp paths(%{"paths" => other}) when other != nil, do: {:error, no_object("paths", other)}
  defp paths(_document), do: {:ok, []}

  defp no_object(place, other), do: "#{place} must be an object, got: #{Shown.text(other, 200)}"

  # Each operation with its place, in the order of the paths.
  defp operations(paths, document) do
    paths
    |> Enum.reject(fn {path, _item} -> String.starts_with?(path, "x-") end)
    |> Enum.reduce_while({:ok, []}, fn {path, item}, {:ok, found} ->
      case Reference.target(item, document) do
        {:ok, %{} = item} -> {:cont, {:ok, Enum.reverse(of_path(path, item), found)}}
        {:ok, other} -> {:halt, {:error, no_object(Shown.name(path), other)}}
        {:error, why} -> {:halt, {:error, "#{Shown.name(path)}: #{why}"}}
      end
    end)
    |> then(&with {:ok, found} <- &1, do: {:ok, Enum.reverse(found)})
  end

  defp of_path(path, item) do
    for method <- @methods, operation = item[method] do
      name = if is_map(operation), do: name(operation["operationId"], method, path)

      {"#{String.upcase(method)} #{Shown.name(path)}",
       %{
         name: name,
         method: method,
         path: path,
         item: item,
         operation: operation
       }}
    end
  end

  defp name(id, _method, _path) when is_binary(id) and id != "", do: {:id, id}

  defp name(_none, method, path) do
    words = path |> String.replace(~r/[^A-Za-z0-9_]+/, "_") |> String.trim("_")
    {:made, if(words == "", do: method, else: "#{method}_#{words}"), "#{method} #{path}"}
  end

  # A name that is made of method and path gives way to others; then it is method and path as they stand.
  defp named({place, %{name: {:made, short, long}} = entry}, taken) do
    name = if short in taken, do: long, else: short
    {{place, %{entry | name: name}}, MapSet.put(taken, name)}
  end

  defp named({place, %{name: {:id, id}} = entry}, taken),
    do: {{place, %{entry | name: id}}, taken}

  defp named(entry, taken), do: {entry, taken}

  defp tool(%{name: nil, operation: other}, _document, _results, _request),
    do: {:error, "is no operation: #{Shown.text(other, 200)}"}

  defp tool(entry, document, results, request) do
    %{operation: operation, item: item} = entry

    with {:ok, parameters, lines} <- parameters(entry, document),
         {:ok, body, more} <- body(operation["requestBody"], document),
         {:ok, result, last} <- result(results, operation["responses"], document) do
      arguments = OpenApiRequest.arguments(parameters, body)
      schema = input(arguments)
      make = OpenApiRequest.new(entry.name, entry.method, entry.path, arguments)

      fun =
        if is_function(request, 2),
          do: fn args, second -> with {:ok, made} <- make.(args), do: request.(made, second) end,
          else: fn args -> with {:ok, made} <- make.(args), do: request.(made) end

      described = operation["description"] || operation["summary"] || item["summary"]

      read = Schemas.arguments(schema, root: document, without: "readOnly")
      {:ok, tool, unsaid} = Import.tool(entry.name, described, {schema, read}, result, fun)
      effect = if entry.method in @safe, do: :read, else: :write
      # The schema would show references that only the document has.
      tool = %{tool | effect: effect, schema: nil}
      tool = if results == :error, do: tool, else: put_in(tool.data.results, :warn_only)
      {:ok, tool, lines ++ more ++ last ++ servers(operation, item) ++ unsaid}
    end
  end

  defp result(false, _responses, _document), do: {:ok, {:any, []}, []}

  defp result(_wanted, responses, document) do
    with {:ok, output, lines} <- output(responses, document) do
      if output == :none,
        do: {:ok, {:any, []}, lines},
        else: {:ok, Schemas.result(output, root: document, without: "writeOnly"), lines}
    end
  end

  defp servers(operation, item) do
    if operation["servers"] || item["servers"],
      do: ["its own servers are not used: the request has the path only"],
      else: []
  end

  defp input(arguments) do
    properties =
      for argument <- arguments, into: %{}, do: {argument.argument, described(argument)}

    required = for %{required?: true, argument: name} <- arguments, do: name
    # An argument that the operation does not have cannot be sent.
    %{
      "type" => "object",
      "properties" => properties,
      "required" => required,
      "additionalProperties" => false
    }
  end

  # A description beside the schema counts more than one inside.
  defp described(%{schema: %{} = schema, description: text}) when is_binary(text),
    do: Map.put(schema, "description", text)

  defp described(%{schema: schema}), do: schema

  # Parameters of the operation stand over those of the path with the same name and place.
  defp parameters(entry, document) do
    with {:ok, common} <- listed(entry.item["parameters"], document),
         {:ok, own} <- listed(entry.operation["parameters"], document) do
      all = Enum.uniq_by(Enum.reverse(own) ++ Enum.reverse(common), &{&1["in"], &1["name"]})
      all |> Enum.reverse() |> kept(entry.path)
    end
  end

  defp listed(nil, _document), do: {:ok, []}

  defp listed(list, document) when is_list(list) do
    Enum.reduce_while(list, {:ok, []}, fn parameter, {:ok, found} ->
      case Reference.target(parameter, document) do
        {:ok, %{"name" => name, "in" => place} = parameter}
        when is_binary(name) and name != "" and is_binary(place) ->
          {:cont, {:ok, [parameter | found]}}

        {:ok, other} ->
          {:halt, {:error, "has a parameter without name and in: #{Shown.text(other, 200)}"}}

        {:error, why} ->
          {:halt, {:error, "has a parameter whose #{why}"}}
      end
    end)
    |> then(&with {:ok, found} <- &1, do: {:ok, Enum.reverse(found)})
  end

  defp listed(other, _document),
    do: {:error, "has parameters that are no list: #{Shown.text(other, 200)}"}

  defp kept(parameters, path) do
    in_path = OpenApiRequest.names(path)

    declared = for %{"in" => "path", "name" => name} <- parameters, into: MapSet.new(), do: name

    undeclared =
      for name <- in_path, name not in declared do
        {%{"name" => name, "in" => "path", "schema" => %{"type" => "string"}},
         "#{Shown.name(name)} is a part of the path that is not declared: it is any text"}
      end

    found =
      Enum.reduce_while(parameters, {:ok, [], []}, fn parameter, {:ok, kept, lines} ->
        case parameter(parameter, in_path) do
          {:ok, one} -> {:cont, {:ok, [one | kept], lines}}
          {:line, line} -> {:cont, {:ok, kept, [line | lines]}}
          {:drop, line} -> {:halt, {:drop, line}}
        end
      end)

    with {:ok, kept, lines} <- found do
      more =
        for {parameter, _line} <- undeclared,
            {:ok, one} <- [parameter(parameter, in_path)],
            do: one

      {:ok, Enum.reverse(kept) ++ more, Enum.reverse(lines) ++ Enum.map(undeclared, &elem(&1, 1))}
    end
  end

  defp parameter(%{"in" => "path", "name" => name} = parameter, in_path) do
    if name in in_path,
      do: parameter |> Map.put("required", true) |> formed(),
      else: {:line, "#{Shown.name(name)} is no part of the path, and is not sent"}
  end

  defp parameter(%{"in" => "header", "name" => name} = parameter, _in_path) do
    if String.downcase(name) in @own_headers,
      do: {:line, "the header #{Shown.name(name)} is set by the function that makes the request"},
      else: formed(parameter)
  end

  defp parameter(%{"in" => "query"} = parameter, _in_path), do: formed(parameter)

  defp parameter(%{"in" => place, "name" => name}, _in_path),
    do: {:line, "#{Shown.name(name)} is not sent: it is in #{Shown.name(place)}"}

  defp formed(%{"in" => place, "name" => name} = parameter) do
    style = parameter["style"] || hd(@styles[place])

    base = %{
      name: name,
      in: place,
      required?: parameter["required"] == true,
      description: parameter["description"],
      schema: parameter["schema"] || true,
      style: style,
      explode?: Map.get(parameter, "explode", style == "form")
    }

    case parameter do
      %{"content" => %{} = content} when map_size(content) == 1 ->
        [{_type, media}] = Map.to_list(content)
        {:ok, %{base | style: "json", schema: schema(media)}}

      _schema when is_binary(style) ->
        cond do
          style in @styles[place] -> {:ok, base}
          base.required? -> {:drop, "#{Shown.name(name)} has the style #{Shown.name(style)}"}
          true -> {:line, "#{Shown.name(name)} is not sent: its style is #{Shown.name(style)}"}
        end

      _other ->
        {:drop, "#{Shown.name(name)} has no style: #{Shown.text(style, 100)}"}
    end
  end

  defp body(nil, _document), do: {:ok, nil, []}

  defp body(body, document) do
    case Reference.target(body, document) do
      {:ok, %{"content" => %{} = content} = body} ->
        required? = body["required"] == true

        case json(content) do
          {:ok, schema} ->
            {:ok, %{schema: schema, required?: required?, description: body["description"]}, []}

          :none when required? ->
            {:drop, "its body is #{types(content)}, not application/json"}

          :none ->
            {:ok, nil, ["its body is not sent: it is #{types(content)}, not application/json"]}
        end

      {:ok, other} ->
        {:error, "has a requestBody without content: #{Shown.text(other, 200)}"}

      {:error, why} ->
        {:error, "has a requestBody whose #{why}"}
    end
  end

  defp types(content) when content == %{}, do: "of no type"
  defp types(content), do: content |> Map.keys() |> Enum.sort() |> Shown.few(&Shown.name/1)

  # The schema of JSON among the types of a content.
  defp json(content) do
    found = for {type, media} <- Enum.sort(content), rank = rank(type), do: {rank, media}

    case Enum.sort_by(found, &elem(&1, 0)) do
      [{_rank, media} | _] -> {:ok, schema(media)}
      [] -> :none
    end
  end

  defp rank(type) do
    case type |> String.downcase() |> String.split(";") |> hd() |> String.trim() do
      "application/json" -> 0
      "application/" <> rest -> if String.ends_with?(rest, "+json"), do: 1
      "*/*" -> 2
      _other -> nil
    end
  end

  defp schema(%{"schema" => schema}), do: schema
  defp schema(_media), do: true

  # The responses 2xx: one schema for all that have JSON, which may be missing if one has no content.
  defp output(%{} = responses, document) do
    read =
      for {"2" <> _ = status, response} <- Enum.sort(responses),
          do: {status, Reference.target(response, document)}

    schemas =
      for {_status, {:ok, %{"content" => %{} = content}}} when content != %{} <- read,
          do: json(content)

    empty? = length(schemas) < length(read)

    broken =
      for {status, {:error, why}} <- read,
          do: "result: the response #{status} is not read: its #{why}"

    case Enum.uniq(schemas) do
      [] ->
        {:ok, :none, broken}

      [{:ok, schema}] when empty? ->
        {:ok, %{"anyOf" => [schema, %{"type" => "null"}]}, broken}

      [{:ok, schema}] ->
        {:ok, schema, broken}

      [:none] ->
        {:ok, :none, ["result: it is not validated, because it is not application/json" | broken]}

      _several ->
        {:ok, :none, ["result: it is not validated, because there are several" | broken]}
    end
  end

  defp output(_none, _document), do: {:ok, :none, []}
end
