defmodule PtcRunner.Json.Plan.Stored do
  @moduledoc false
  # A plan as a map that is JSON, and back.

  alias PtcRunner.Json.{Kept, Plan}
  alias PtcRunner.Shown

  @version 1
  @roots [:context, :memory, :answer, :error, :now, :unknown]
  @steps [:each, :value, :keys, :object, :other, :single]

  @doc "See `PtcRunner.Json.Plan.to_map/1`."
  @spec to_map(Plan.t()) :: map()
  def to_map(%Plan{} = plan) do
    %{
      "plan" => @version,
      "digest" => digest(plan.digest),
      "text" => plan.text,
      "tools" => kept!(Enum.map(plan.tools, &named/1)),
      "reads" => kept!(plan.reads),
      "memory" => kept!(plan.memory),
      "result" => kept!(plan.result),
      "flows" => kept!(plan.flows),
      "at_most" => plan.at_most,
      "where" => plan.where |> Map.keys() |> Enum.sort()
    }
  end

  defp named(tool), do: Map.new(tool, fn {name, value} -> {Atom.to_string(name), value} end)

  defp digest(nil), do: nil

  defp digest(digest),
    do: %{"program" => digest.program, "tools" => digest.tools, "options" => digest.options}

  # A constant of a program that is given as a term may be a function.
  defp kept!(term) do
    case Kept.encode(term) do
      {:ok, json} -> json
      {:error, kind} -> raise ArgumentError, "the plan cannot be kept: it has #{kind}"
    end
  end

  @doc "See `PtcRunner.Json.Plan.from_map/1`."
  @spec from_map(term()) :: {:ok, Plan.t()} | {:error, String.t()}
  def from_map(%{"plan" => @version} = map) do
    with {:ok, tools} <- field(map, "tools", &list_of?(&1, fn it -> tool?(it) end)),
         {:ok, reads} <- field(map, "reads", &names?/1),
         {:ok, memory} <- field(map, "memory", &names?/1),
         {:ok, result} <- field(map, "result", &result?/1),
         {:ok, flows} <- field(map, "flows", &flows?/1),
         {:ok, digest} <- field(map, "digest", &digest?/1),
         {:ok, text} <- text(map),
         {:ok, at_most} <- field(map, "at_most", &counts?/1),
         {:ok, where} <- field(map, "where", &names?/1) do
      {:ok,
       %Plan{
         tools: Enum.map(tools, &tool/1),
         reads: reads,
         memory: memory,
         result: result,
         flows: flows,
         text: text,
         digest: digest && Map.new(digest, fn {name, value} -> {of_digest(name), value} end),
         at_most: at_most,
         where: Map.new(where, &{&1, :given_again})
       }}
    end
  end

  def from_map(%{"plan" => other}),
    do:
      {:error,
       "the plan has version #{Shown.text(other, 50)}, and this library reads version #{@version}"}

  def from_map(other), do: {:error, "no plan: #{Shown.text(other, 200)}"}

  # Earlier releases do not write it.
  defp text(map) when not is_map_key(map, "text"), do: {:ok, nil}
  defp text(map), do: field(map, "text", &(&1 == nil or is_binary(&1)))

  defp of_digest("program"), do: :program
  defp of_digest("tools"), do: :tools
  defp of_digest("options"), do: :options

  defp field(map, name, sound?) do
    with {:ok, json} <- Map.fetch(map, name),
         {:ok, value} <- Kept.decode(json) do
      if sound?.(value), do: {:ok, value}, else: {:error, "the plan has no valid \"#{name}\""}
    else
      :error -> {:error, "the plan has no valid \"#{name}\""}
      {:error, sentence} -> {:error, "\"#{name}\" of the plan: #{sentence}"}
    end
  end

  @tool_fields ~w(name effect calls least most arguments decided_by sites formula)

  defp tool(map),
    do: Map.new(map, fn {name, value} -> {String.to_existing_atom(name), value} end)

  defp tool?(%{"name" => name, "effect" => effect, "calls" => calls} = tool) do
    Enum.sort(Map.keys(tool)) == Enum.sort(@tool_fields) and is_binary(name) and
      effect in [:read, :write] and is_binary(calls) and count?(tool["least"]) and
      count?(tool["most"]) and map_of?(tool["arguments"], &names?/1) and
      names?(tool["decided_by"]) and list_of?(tool["sites"], &site?/1) and
      both?(tool["formula"])
  end

  defp tool?(_other), do: false

  defp site?(%{least: least, most: most, formula: formula, arguments: arguments} = site),
    do:
      map_size(site) == 4 and count?(least) and count?(most) and both?(formula) and
        pattern?(arguments)

  defp site?(_other), do: false

  defp pattern?({:is, _value}), do: true
  defp pattern?({:among, all}), do: list_of?(all, fn _value -> true end)
  defp pattern?({:object, fields}), do: map_of?(fields, &pattern?/1)
  defp pattern?({kind, all}) when kind in [:list, :one_of], do: list_of?(all, &pattern?/1)

  defp pattern?({:made, digest, constants}),
    do: is_binary(digest) and list_of?(constants, fn _value -> true end)

  defp pattern?({:part, root, steps}),
    do: root?(root) and list_of?(steps, &(&1 == :each or is_binary(&1)))

  defp pattern?(other), do: other in [:null, :unknown]

  defp root?({root, name}), do: root in [:context, :memory, :error] and is_binary(name)
  defp root?({:answer, name, args}), do: is_binary(name) and is_binary(args)

  defp root?({:made, digest, constants}),
    do: is_binary(digest) and list_of?(constants, fn _value -> true end)

  defp root?(other), do: other == :now

  defp both?({least, most}), do: formula?(least, 0) and formula?(most, 0)
  defp both?(_other), do: false

  # Formulas in formulas are at most so deep: see `native/ptc_program/src/plan/terms.rs`.
  @deepest 8

  defp formula?(nil, _depth), do: true

  defp formula?(products, depth) when depth <= @deepest,
    do:
      list_of?(products, fn
        {times, factors} when is_integer(times) and times > 0 ->
          list_of?(factors, &factor?(&1, depth))

        _other ->
          false
      end)

  defp formula?(_formula, _depth), do: false

  defp factor?({number, formula}, depth) when is_integer(number), do: formula?(formula, depth + 1)
  defp factor?(source, _depth), do: source?(source)

  defp source?({root, path, whole?}),
    do: root in @roots and is_boolean(whole?) and list_of?(path, &step?/1)

  defp source?(_other), do: false

  defp step?({:without, names}), do: list_of?(names, fn _name -> true end)
  defp step?(step), do: is_binary(step) or step in @steps

  defp flows?(nil), do: true

  defp flows?(%{tools: tools, reads: reads, result: {from, by}}),
    do: is_map(tools) and Enum.all?([reads, from, by], &list_of?(&1, fn it -> source?(it) end))

  defp flows?(_other), do: false

  defp result?(%{from: from, decided_by: by} = result),
    do: map_size(result) == 2 and names?(from) and names?(by)

  defp result?(_other), do: false

  defp digest?(nil), do: true

  defp digest?(%{"program" => program, "tools" => tools, "options" => options} = digest),
    do:
      map_size(digest) == 3 and is_binary(program) and is_binary(options) and
        map_of?(tools, &is_binary/1)

  defp digest?(_other), do: false

  defp counts?(map), do: map_of?(map, &(is_integer(&1) and &1 >= 0))
  defp count?(number), do: number == nil or (is_integer(number) and number >= 0)
  defp names?(list), do: list_of?(list, &is_binary/1)

  defp list_of?(list, sound?),
    do: is_list(list) and not List.improper?(list) and Enum.all?(list, sound?)

  defp map_of?(map, sound?),
    do:
      is_map(map) and not is_struct(map) and
        Enum.all?(map, fn {name, value} -> is_binary(name) and sound?.(value) end)
end
