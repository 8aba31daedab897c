defmodule PtcRunner.Test.HostileLisp do
  @moduledoc """
  Programs of PTC-Lisp that are small and ask for much: `test/vectors/hostile_lisp.eterm` says what its cases have. And memories that no run has
  made.
  """

  alias PtcRunner.Lisp.{Duration, Function, Keyword, Regex, Symbol, Var}

  @doc """
  All cases.

      iex> PtcRunner.Test.HostileLisp.cases() |> Enum.find(&(&1.id == "read/as-deep-as-allowed")) |> Map.get(:expect)
      [:ok]

  """
  @spec cases() :: [map()]
  def cases do
    {:ok, cases} = :file.consult("test/vectors/hostile_lisp.eterm")
    cases
  end

  @doc """
  The text of a program.

      iex> PtcRunner.Test.HostileLisp.source(["[", {:times, 2, "a "}, {:numbered, 2, "k~ "}, "]"])
      "[a a k1 k2 ]"

  """
  @spec source(String.t() | list()) :: String.t()
  def source(text) when is_binary(text), do: text
  def source(parts), do: parts |> Enum.map(&part/1) |> IO.iodata_to_binary()

  defp part({:times, count, text}), do: :binary.copy(text, count)

  defp part({:numbered, count, text}),
    do: for(n <- 1..count, do: String.replace(text, "~", "#{n}"))

  defp part(text), do: text

  @doc """
  The value of `data/x`.

      iex> Enum.map([{:ints, 2}, {:nested, 2}, {:nested_rows, 2}], &PtcRunner.Test.HostileLisp.data/1)
      [[1, 2], [[[]]], [[1, 2], [1, 2]]]

  """
  @spec data(term()) :: term()
  def data({:text, bytes}), do: :binary.copy("a", bytes)
  def data({:ints, count}), do: Enum.to_list(1..count)
  def data({:nested, count}), do: Enum.reduce(1..count, [], fn _, inner -> [inner] end)
  def data({:nested_rows, count}), do: List.duplicate(Enum.to_list(1..count), count)
  def data({:rows, count}), do: for(n <- 1..count, do: %{"a" => n, "b" => rem(n * 7919, count)})
  def data(text), do: text

  @doc "Values of a memory that no run has made, by name."
  @spec memories() :: [{String.t(), term()}]
  def memories do
    deep = :binary.copy("(", 100_000)
    f = %Function{kind: :closure, params: ["x"], source: "(fn [x] x)", captured: %{}}

    [
      {"a function without a text", %{f | source: nil}},
      {"a function whose text is no text", %{f | source: 5}},
      {"a function whose text is not UTF-8", %{f | source: <<"(fn [x] ", 255, ")">>}},
      {"a function whose text has an error", %{f | source: "(fn [x] (if))"}},
      {"a function whose text is deep", %{f | source: deep}},
      {"a function whose text is long",
       %{f | source: "(fn [x] " <> :binary.copy("x ", 20_000) <> ")"}},
      {"a function whose text is a program", %{f | source: "(loop [] (recur)) (fn [x] x)"}},
      {"a function that captures no map", %{f | captured: [1 | 2]}},
      {"a function that captures names that are none",
       %{f | captured: %{1 => 2, nil => 3, "a b" => 4}}},
      {"a function that captures itself by name",
       %{f | source: "(fn [x] (f x))", captured: %{"f" => f}}},
      {"a function of a long chain",
       Enum.reduce(1..40, f, &%{f | source: "(fn [x] (g x #{&1}))", captured: %{"g" => &2}})},
      {"a function of a tree",
       Enum.reduce(1..40, f, fn _, g ->
         %{f | source: "(fn [x] [g h])", captured: %{"g" => g, "h" => g}}
       end)},
      {"a function of another kind", %{f | kind: :nothing}},
      {"a function whose kind is no atom", %{f | kind: "closure"}},
      {"a built-in that is none", %{f | kind: :builtin, name: "rm", source: nil}},
      {"a built-in whose name is no text", %{f | kind: :builtin, name: {1}, source: nil}},
      {"a composition of nothing", %{f | kind: :comp, captured: %{"fs" => :none}}},
      {"parameters that are none", %{f | params: :none}},
      {"parameters without an end", %{f | params: ["x" | "y"]}},
      {"a function without fields", %{__struct__: Function}},
      {"a set without a map", %{__struct__: MapSet, map: 5}},
      {"a set without fields", %{__struct__: MapSet}},
      {"a keyword without a name", %Keyword{name: nil}},
      {"a keyword with a long name", %Keyword{name: :binary.copy("k", 1_000_000)}},
      {"a var of a tuple", %Var{name: {:a}}},
      {"a symbol of bits", %Symbol{name: <<1::3>>}},
      {"a pattern of a list", %Regex{source: [1]}},
      {"a catastrophic pattern", %Regex{source: "(a+)+b"}},
      {"a duration of a text", %Duration{milliseconds: "1"}},
      {"a date of nothing", %{__struct__: Date, year: :none, month: 0, day: nil, calendar: 5}},
      {"a list without an end", [1, 2 | 3]},
      {"a tuple", {:tool, 5}},
      {"a tuple as of a run", {:closure, 1, 2, 3}},
      {"a fun", &PtcRunner.Lisp.check/1},
      {"a pid", self()},
      {"a struct of no module", %{__struct__: NoSuchModule, a: 1}},
      {"a struct of no atom", %{__struct__: 5}},
      {"an integer of 125 KB", Integer.pow(2, 1_000_000)},
      {"bits", <<1::7>>},
      {"200,000 lists", data({:nested, 200_000})},
      {"a shared tree", Enum.reduce(1..60, 1, fn _, t -> [t, t] end)},
      {"a shared tree of maps", Enum.reduce(1..60, 1, fn _, t -> %{"a" => t, b: t} end)}
    ]
  end

  @doc "Programs that use `m` of the memory."
  @spec uses() :: [String.t()]
  def uses do
    [
      "m",
      "(def n m) 1",
      "(m 1)",
      "(sort-by m [1 2])",
      "(pr-str m)",
      "(= m [m])",
      "(count \#{m})",
      "(get m :a)",
      "(first m)",
      "(into [] m)",
      "(inc m)",
      "(re-find m \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\")",
      "(json/generate-string m)",
      "(apply m [1])",
      "(postwalk identity m)",
      "(tool/t {:a m})",
      "(let [{:keys [a]} m] a)",
      "*1"
    ]
  end
end
