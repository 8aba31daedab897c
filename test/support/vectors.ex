defmodule PtcRunner.Test.Vectors do
  @moduledoc """
  Reads the golden vectors of `test/vectors` and compares results with them.

  A vector file is a text of Erlang terms, one map per case.
  """

  import ExUnit.Assertions

  @directory Path.expand("../vectors", __DIR__)

  @type tool_spec ::
          :echo
          | {:return | :error | :throw | :exit | :value, term()}
          | {:field | :double, key :: term()}
          | {:lookup, map()}
          | {:raise, message :: String.t()}
          | {:arity, 0 | 2 | 3}

  @doc "All cases of `test/vectors/<name>.eterm`, in the order of the file, which is read once."
  @spec read(String.t()) :: [map()]
  def read(name) do
    key = {__MODULE__, name}

    with nil <- :persistent_term.get(key, nil) do
      {:ok, cases} = @directory |> Path.join(name <> ".eterm") |> :file.consult()
      cases = Enum.map(cases, &of_this_elixir/1)
      :persistent_term.put(key, cases)
      cases
    end
  end

  # The texts of terms are those of `inspect/1`, which shows more elements since Elixir 1.20.
  defp of_this_elixir(%{id: "keys/inspect_limit_" <> _} = vector) do
    {:ok, program} = PtcRunner.Json.Codec.decode(vector.program)
    %{"program" => %{"steps" => [%{"value" => value} | _]}} = program
    {:error, {kind, text}} = vector.expect
    [before, _shown] = String.split(text, "got ")
    %{vector | expect: {:error, {kind, before <> "got " <> inspect(value)}}}
  end

  defp of_this_elixir(vector), do: vector

  @doc "Builds the `:tools` option of a case."
  @spec tools(%{optional(term()) => tool_spec()}) :: map()
  def tools(specs), do: Map.new(specs, fn {name, spec} -> {name, tool(spec)} end)

  @doc "What `fun` answers with tools that note each call, and the calls in their order."
  @spec traced(map(), (map() -> answer)) :: {answer, [{name :: term(), args :: term()}]}
        when answer: term()
  def traced(tools, fun) do
    {test, run} = {self(), make_ref()}

    answer =
      tools |> Map.new(fn {name, tool} -> {name, noted(tool, {test, run}, name)} end) |> fun.()

    {answer, calls(run)}
  end

  defp noted(tool, {test, run}, name) when is_function(tool, 1) do
    fn args ->
      send(test, {run, name, args})
      tool.(args)
    end
  end

  defp noted(no_tool, _test, _name), do: no_tool

  defp calls(run) do
    receive do
      {^run, name, args} -> [{name, args} | calls(run)]
    after
      0 -> []
    end
  end

  defp tool(:echo), do: fn args -> args end
  defp tool({:return, value}), do: fn _args -> value end
  defp tool({:error, reason}), do: fn _args -> {:error, reason} end
  defp tool({:raise, message}), do: fn _args -> raise message end
  defp tool({:throw, value}), do: fn _args -> throw(value) end
  defp tool({:exit, reason}), do: fn _args -> exit(reason) end
  defp tool({:field, key}), do: &Map.get(&1, key)
  defp tool({:double, key}), do: &(Map.get(&1, key) * 2)
  defp tool({:lookup, answers}), do: &Map.get(answers, &1["id"])
  defp tool({:value, value}), do: value
  defp tool({:arity, 0}), do: fn -> :ok end
  defp tool({:arity, 2}), do: fn _a, _b -> :ok end
  defp tool({:arity, 3}), do: fn _a, _b, _c -> :ok end

  @doc "Calls the function that a case of an API file names and checks the result."
  @spec assert_call(map()) :: true
  def assert_call(%{module: module, function: function, args: args, expect: expect} = vector) do
    case expect do
      {:raise, exception} ->
        assert_raise(exception, fn -> apply(module, function, args) end)

      {:raise, exception, message} ->
        assert_raise(exception, message, fn -> apply(module, function, args) end)

      value ->
        assert_matches(comparable(apply(module, function, args), vector), value)
    end

    true
  end

  defp comparable(actual, %{compare: :strip_descriptions}), do: strip_descriptions(actual)
  defp comparable(actual, _vector), do: actual

  @doc "Compares with `===`, except that a member `:_` of an expected tuple matches metrics."
  @spec assert_matches(term(), term()) :: true
  def assert_matches(actual, expect)
      when is_tuple(expect) and tuple_size(actual) == tuple_size(expect) do
    for {actual, expect} <- Enum.zip(Tuple.to_list(actual), Tuple.to_list(expect)) do
      if expect == :_, do: assert_metrics(actual), else: assert(actual === expect)
    end

    true
  end

  def assert_matches(actual, expect), do: assert(actual === expect)

  defp assert_metrics(metrics) do
    assert %{duration_ms: duration, memory_bytes: bytes} = metrics
    assert is_integer(duration) and duration >= 0
    assert is_integer(bytes) and bytes >= 0
  end

  @doc "Deletes the free texts of a schema and sorts lists of operation schemas by operation."
  @spec strip_descriptions(term()) :: term()
  def strip_descriptions(map) when is_map(map) do
    for {key, value} <- map, key != "description", into: %{} do
      {key, strip_descriptions(value)}
    end
  end

  def strip_descriptions(list) when is_list(list) do
    stripped = Enum.map(list, &strip_descriptions/1)

    if stripped != [] and Enum.all?(stripped, &match?(%{"properties" => %{"op" => _}}, &1)) do
      Enum.sort_by(stripped, & &1["properties"]["op"]["const"])
    else
      stripped
    end
  end

  def strip_descriptions(tuple) when is_tuple(tuple) do
    tuple |> Tuple.to_list() |> Enum.map(&strip_descriptions/1) |> List.to_tuple()
  end

  def strip_descriptions(other), do: other
end
