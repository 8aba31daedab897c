defmodule PtcRunner.Test.LispVectors do
  @moduledoc """
  The golden cases of PTC-Lisp, `test/vectors/lisp_*.eterm`: their tools, their runs, and results as the files write them.
  """

  alias PtcRunner.Lisp
  alias PtcRunner.Lisp.{Duration, Function, Keyword, Regex, Symbol, Var}

  # Where a case has no message, these reasons are one class.
  @class [:type_error, :runtime_error, :arity_error, :arity_mismatch, :arithmetic_error]

  @doc "The names of the files, without `lisp_` and the extension."
  def files do
    for path <- Path.wildcard("test/vectors/lisp_*.eterm") do
      "lisp_" <> name = Path.basename(path, ".eterm")
      name
    end
  end

  @doc "The cases of a file."
  def cases(name), do: PtcRunner.Test.Vectors.read("lisp_#{name}")

  # Cases that are not compared, and why. The first four contradict others: a `def` in a callback is kept (mended/def/006), maps
  # are merged by `conj` (mended/maps/009), and the text of a regular expression shows no term of Erlang (specification, sections 4 and 11).
  # The error of a parameter that a built-in has called with a wrong value is that of destructuring.
  @left_out ~w(hof/misc/0025 memory/065 hof/two/0185 regex/0076 hof/misc/0017)

  # From Erlang/OTP 28 on, regular expressions are those of PCRE2, whose errors have other words and places.
  @pcre2 if String.to_integer(System.otp_release()) >= 28,
           do: ~w(regex/0062 regex/0065 regex/0109),
           else: []

  @doc "Those of its cases that are compared."
  def compared(name), do: name |> cases() |> Enum.reject(&(&1.id in @left_out or &1.id in @pcre2))

  @doc "What is wrong with the result of a case; nil if nothing is. `run` is a function like `PtcRunner.Lisp.run/2`."
  def wrong(%{expect: expect} = case, run \\ &Lisp.run/2) do
    opts = [context: case.context, tools: tools(case.tools)] ++ Map.get(case, :opts, [])
    {memory, history} = set_up(Map.get(case, :setup, []), case.memory, opts, run)
    history = if history == [], do: [], else: [turn_history: history]
    {ended, step} = run.(case.source, opts ++ [memory: memory] ++ history)
    got = got(ended, step)

    differences =
      for {key, value} <- elem(expect, 1),
          value != :any,
          not same?(key, value, got[key], elem(expect, 1)),
          do: {key, value, got[key]}

    calls =
      if Map.has_key?(elem(expect, 1), :calls) or got.calls == [],
        do: [],
        else: [{:calls, [], got.calls}]

    cond do
      ended != elem(expect, 0) ->
        {case.id, case.source, expected: expect, got: {ended, Map.drop(got, [:memory])}}

      differences ++ calls != [] ->
        {case.id, case.source, differences ++ calls}

      true ->
        nil
    end
  end

  defp set_up(programs, memory, opts, run) do
    Enum.reduce(programs, {memory, []}, fn source, {memory, history} ->
      case run.(source, opts ++ [memory: memory]) do
        {:ok, step} -> {step.memory, history ++ [step.return]}
        {:error, step} -> {step.memory, history}
      end
    end)
  end

  defp got(:ok, step) do
    %{
      return: marked_root(step.return),
      memory: marked(step.memory),
      prints: step.prints,
      calls: calls(step)
    }
  end

  defp got(:error, step) do
    %{
      reason: step.fail.reason,
      message: step.fail.message,
      memory: marked(step.memory),
      prints: step.prints,
      calls: calls(step)
    }
  end

  defp calls(step) do
    for call <- step.tool_calls,
        do: {call.name, marked(call.args), marked(call.result), call.error}
  end

  defp same?(:reason, expected, got, case) when not is_map_key(case, :message),
    do: got == expected or (got in @class and expected in @class)

  defp same?(_key, expected, got, _case), do: expected === got

  # The mark of `return` and `fail` is a tuple too.
  defp marked_root({mark, value}) when mark in [:__ptc_return__, :__ptc_fail__],
    do: {mark, marked(value)}

  defp marked_root(value), do: marked(value)

  @doc "A value as the files write it."
  def marked(%Function{kind: :closure} = function) do
    meta = if function.doc, do: %{docstring: function.doc}, else: %{}
    {:"$closure", Enum.join(function.params, " "), meta}
  end

  def marked(%Function{kind: :builtin}), do: :"$builtin"
  def marked(%Function{}), do: :"$fun"
  def marked(%Regex{source: source}), do: {:"$regex", source}
  def marked(%MapSet{} = set), do: {:"$set", set |> Enum.map(&marked/1) |> Enum.sort()}
  def marked(%Var{name: name}), do: {:"$var", name}
  def marked(%Symbol{name: name}), do: {:"$symbol", name}
  def marked(%Keyword{name: name}), do: {:"$keyword", name}
  def marked(%Duration{milliseconds: milliseconds}), do: {:"$duration", milliseconds}
  def marked(%Date{} = date), do: {:"$date", Date.to_iso8601(date)}
  def marked(%DateTime{} = time), do: {:"$datetime", DateTime.to_iso8601(time)}
  def marked(%_struct{} = struct), do: {:"$struct", inspect(struct)}
  def marked([item | rest]), do: [marked(item) | marked(rest)]

  def marked(map) when is_map(map),
    do: Map.new(map, fn {key, value} -> {marked(key), marked(value)} end)

  def marked(tuple) when is_tuple(tuple), do: {:"$tuple", tuple |> Tuple.to_list() |> marked()}
  def marked(other), do: other

  @doc "The tools of a case."
  def tools(tools), do: Map.new(tools, fn {name, does} -> {name, tool(does)} end)

  defp tool({:cached, does}), do: {tool(does), cache: true}
  defp tool(:echo), do: fn args -> args end
  defp tool({:return, value}), do: fn _args -> value end
  defp tool({:error, reason}), do: fn _args -> {:error, reason} end
  defp tool({:ok, value}), do: fn _args -> {:ok, value} end
  defp tool({:raise, message}), do: fn _args -> raise message end
  defp tool({:throw, value}), do: fn _args -> throw(value) end
  defp tool({:exit, reason}), do: fn _args -> exit(reason) end
  defp tool({:field, key}), do: fn args -> args[key] end
  defp tool({:double, key}), do: fn args -> args[key] * 2 end
  defp tool({:lookup, map}), do: fn args -> map[args["id"]] end
  defp tool({:lookup_args, map}), do: fn args -> map[args] end

  defp tool({:sleep, milliseconds, value}) do
    fn _args ->
      Process.sleep(milliseconds)
      value
    end
  end

  defp tool(:counter) do
    counter = :counters.new(1, [])

    fn _args ->
      :counters.add(counter, 1, 1)
      :counters.get(counter, 1)
    end
  end

  defp tool({:set, items}), do: fn _args -> MapSet.new(items) end
  defp tool({:date, iso}), do: fn _args -> Date.from_iso8601!(iso) end

  defp tool({:datetime, iso}) do
    fn _args ->
      {:ok, time, _offset} = DateTime.from_iso8601(iso)
      time
    end
  end

  defp tool({:range, first, last}), do: fn _args -> first..last//1 end

  defp tool({:nested, key, does}) do
    inner = tool(does)
    fn args -> %{key => inner.(args)} end
  end
end
