defmodule PtcRunner.Test.LispOracle.Written do
  @moduledoc false
  # The text of a program of `PtcRunner.Test.LispOracle`. The same AST has always the same text; calls are written in several ways.

  @doc "The text of an expression."
  @spec text(PtcRunner.Test.LispOracle.expr()) :: String.t()
  def text({:const, value}), do: const(value)
  def text({:var, name}), do: name
  def text({:vec, items}), do: "[#{all(items)}]"

  def text({:map, entries}),
    do: "{" <> Enum.map_join(entries, ", ", fn {key, e} -> "#{const(key)} #{text(e)}" end) <> "}"

  def text({:let, bindings, body}) do
    bindings =
      Enum.map_join(bindings, " ", fn {pattern, e} -> "#{pattern(pattern)} #{text(e)}" end)

    "(let [#{bindings}] #{text(body)})"
  end

  def text({:if, test, yes, {:const, nil}} = e) do
    if pick(e, 2) == 0,
      do: "(when #{text(test)} #{text(yes)})",
      else: "(if #{text(test)} #{text(yes)} nil)"
  end

  def text({:if, test, yes, no} = e) do
    if pick(e, 4) == 0,
      do: "(if-not #{text(test)} #{text(no)} #{text(yes)})",
      else: "(if #{text(test)} #{text(yes)} #{text(no)})"
  end

  def text({:cond, clauses, default}) do
    clauses = Enum.map_join(clauses, " ", fn {test, e} -> "#{text(test)} #{text(e)}" end)
    "(cond #{clauses} :else #{text(default)})"
  end

  def text({:case, subject, clauses, default}) do
    clauses = Enum.map_join(clauses, " ", fn {constant, e} -> "#{const(constant)} #{text(e)}" end)
    "(case #{text(subject)} #{clauses} #{text(default)})"
  end

  def text({form, items}) when form in [:and, :or], do: "(#{form} #{all(items)})"
  def text({:fn, params, body}), do: "(fn [#{Enum.join(params, " ")}] #{text(body)})"

  def text({:call, {:fn, params, body} = function, args} = e)
      when length(params) == length(args) do
    # A call of a function is a `let`, if no argument reads what is bound before it.
    if pick(e, 2) == 0 and length(args) == 1,
      do: "(let [#{hd(params)} #{text(hd(args))}] #{text(body)})",
      else: "(#{text(function)} #{all(args)})"
  end

  def text({:call, function, args}), do: "(#{text(function)} #{all(args)})"

  def text({:op, name, [first, second]} = e) do
    case pick(e, 6) do
      0 -> "(-> #{text(first)} (#{name} #{text(second)}))"
      1 -> "(->> #{text(second)} (#{name} #{text(first)}))"
      2 -> "(as-> #{text(first)} it99 (#{name} it99 #{text(second)}))"
      _ -> "(#{name} #{text(first)} #{text(second)})"
    end
  end

  def text({:op, name, args}), do: "(#{name} #{all(args)})"

  def text({:loop, i, acc, count, first, next}) do
    "(loop [#{i} #{text(count)} #{acc} #{text(first)}] (if (<= #{i} 0) #{acc} (recur (dec #{i}) #{text(next)})))"
  end

  def text({:for, name, items, test, body}),
    do: "(for [#{name} #{text(items)} :when #{text(test)}] #{text(body)})"

  def text({:print, e, body}), do: "(do (println #{text(e)}) #{text(body)})"
  def text({:def, name, e, body}), do: "(do (def #{name} #{text(e)}) #{text(body)})"

  defp all(items), do: Enum.map_join(items, " ", &text/1)
  defp pick(e, count), do: :erlang.phash2(e, count)

  defp pattern(name) when is_binary(name), do: name
  defp pattern({:items, names, rest}), do: "[#{Enum.join(names, " ")} & #{rest}]"
  defp pattern({:keys, names}), do: "{:keys [#{Enum.join(names, " ")}]}"

  defp const(nil), do: "nil"
  defp const({:kw, name}), do: ":" <> name
  defp const({:builtin, name}), do: name
  defp const([]), do: "[]"
  defp const(other), do: inspect(other)
end
