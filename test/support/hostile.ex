defmodule PtcRunner.Test.Hostile do
  @moduledoc """
  Inputs that are small to send and expensive to process, each with a name. Each entry is a name and a
  function that builds the input.
  """

  @type entry(value) :: {name :: String.t(), (() -> value)}

  @million 1_000_000

  @doc """
  Texts: unusual programs, answers, signatures and names.

      iex> Enum.all?(PtcRunner.Test.Hostile.texts(), fn {_name, make} -> is_binary(make.()) end)
      true
  """
  @spec texts() :: [entry(String.t())]
  def texts do
    [
      {"1 MB of a letter", fn -> copies("a", @million) end},
      {"1 MB of spaces", fn -> copies(" ", @million) end},
      {"1 MB of newlines", fn -> copies("\n", @million) <> "{" end},
      {"1 MB of quotes", fn -> copies("\"", @million) end},
      {"1 MB that is no UTF-8", fn -> copies(<<255>>, @million) end},
      {"300,000 combining marks", fn -> ~s({"op":"e) <> copies("\u0301", 300_000) <> ~s("}) end},
      {"200,000 brackets", fn -> copies("[", 200_000) end},
      {"200,000 brackets, closed", fn -> copies("[", 200_000) <> copies("]", 200_000) end},
      {"100,000 open objects", fn -> copies(~s({"a":), 100_000) end},
      {"300,000 objects", fn -> "[" <> copies("{},", 300_000) <> "{}]" end},
      {"a program with 300,000 objects",
       fn -> literal("[" <> copies("{},", 300_000) <> "1]") end},
      {"a program with 100,000 keys", fn -> literal(keys(100_000)) end},
      {"the same key 100,000 times", fn -> "{" <> copies(~s("k":1,), 100_000) <> ~s("k":1}) end},
      {"an integer of a million digits", fn -> literal(copies("7", @million)) end},
      {"an integer of too many digits", fn -> literal(copies("7", @million + 1)) end},
      {"20 integers of 100,000 digits", fn -> literal(integers(20, 100_000)) end},
      {"50,000 integers of 20 digits", fn -> literal(integers(50_000, 20)) end},
      {"a float of a million digits", fn -> literal("0." <> copies("3", @million)) end},
      {"200,000 escapes", fn -> literal(~s(") <> copies("\\u00e9", 200_000) <> ~s(")) end},
      {"an operation's name of 1 MB", fn -> program(~s({"op":"#{copies("x", @million)}"})) end},
      {"a key of 1 MB", fn -> literal(~s({"#{copies("k", @million)}":1})) end},
      {"5,000 operations in one another", fn -> program(nested(5_000)) end},
      {"20,000 operations in one another", fn -> program(nested(20_000)) end},
      {"100,000 fences", fn -> copies("```", 100_000) end},
      {"100,000 fenced objects", fn -> copies("```json\n{}\n```\n", 100_000) end},
      {"100,000 objects in prose", fn -> copies("{x} ", 100_000) end},
      {"100,000 wrong items", fn -> ~s({"results":[) <> copies("1,", 100_000) <> "1]}" end},
      {"a signature of 50,000 fields", fn -> "{" <> signature_fields(50_000) <> "}" end},
      {"a signature of 1,000 levels",
       fn -> copies("[", 1_000) <> ":int" <> copies("]", 1_000) end},
      {"100,000 placeholders", fn -> copies("{{a.b}} ", 100_000) end}
    ]
  end

  @doc """
  Terms of a context, a tool's answer or an argument.

      iex> length(PtcRunner.Test.Hostile.values()) > 10
      true
  """
  @spec values() :: [entry(term())]
  def values do
    [
      {"20,000 short texts", fn -> for(n <- 1..20_000, do: "text #{rem(n, 50)}") end},
      {"300 equal texts of 100 KB", fn -> equal_texts(300, 100_000) end},
      {"a text of 1 MB 500 times", fn -> List.duplicate(copies("ab", 500_000), 500) end},
      {"300 equal integers of 100 KB", fn -> equal_integers(300, 800_000) end},
      {"two integers of 4 MB", fn -> [big(32_000_000), big(32_000_000) + 1] end},
      {"an integer of 1 MB 1,000 times", fn -> List.duplicate(big(8_000_000), 1_000) end},
      {"100,000 wide", fn -> Map.new(1..100_000, &{"k#{&1}", &1}) end},
      {"100,000 deep", fn -> Enum.reduce(1..100_000, [], fn _, deep -> [deep] end) end},
      {"maps 20,000 deep", fn -> Enum.reduce(1..20_000, 1, fn _, deep -> %{"a" => deep} end) end},
      {"2^22 parts, shared", fn -> shared(22) end},
      {"12^5 parts, shared",
       fn -> Enum.reduce(1..5, "x", fn _, t -> List.duplicate(t, 12) end) end},
      {"a key of 1 MB",
       fn -> %{copies("k", @million) => 1, (copies("k", @million) <> "a") => 2} end},
      {"one text of 300,000 marks", fn -> "e" <> copies("\u0301", 300_000) end},
      {"an improper list", fn -> Enum.reduce(1..100_000, :end, &[&1 | &2]) end},
      {"a tuple of 100,000", fn -> List.to_tuple(Enum.to_list(1..100_000)) end},
      {"100,000 floats", fn -> for(n <- 1..100_000, do: n / 3) end},
      {"bits", fn -> List.duplicate(<<1::3, copies("x", 100_000)::binary>>, 200) end}
    ]
  end

  @doc """
  Programs over `rows` of a context, which use its value `n`.

      iex> {_name, program} = hd(PtcRunner.Test.Hostile.programs())
      iex> {:ok, _, _, _} = PtcRunner.Json.run(program, context: %{"rows" => [1], "n" => 1})
      iex> :ok
      :ok
  """
  @spec programs() :: [{String.t(), map()}]
  def programs do
    n = %{"op" => "load", "name" => "n"}
    item = %{"op" => "var", "name" => "__input"}

    over =
      for step <- [
            %{"op" => "distinct"},
            %{"op" => "count"},
            %{"op" => "first"},
            %{"op" => "keys"},
            %{"op" => "typeof"},
            %{"op" => "sum", "field" => "k1"},
            %{"op" => "sort_by", "field" => "k1"},
            %{"op" => "max_by", "field" => "k1"},
            %{"op" => "filter", "where" => %{"op" => "contains", "value" => n}},
            %{"op" => "filter", "where" => %{"op" => "eq", "value" => n}},
            %{"op" => "filter", "where" => %{"op" => "lt", "value" => n}},
            %{"op" => "reject", "where" => %{"op" => "in", "value" => n}},
            %{"op" => "map", "expr" => %{"op" => "add", "left" => item, "right" => n}},
            %{"op" => "map", "expr" => %{"op" => "mul", "left" => item, "right" => n}},
            %{"op" => "map", "expr" => %{"row" => item, "n" => n}},
            %{"op" => "map", "expr" => %{"op" => "concat", "lists" => [item, n]}},
            %{"op" => "map", "expr" => %{"op" => "merge", "objects" => [item, n]}}
          ] do
        {step["op"] <>
           " " <> (get_in(step, ["where", "op"]) || get_in(step, ["expr", "op"]) || ""),
         pipe([%{"op" => "load", "name" => "rows"}, step])}
      end

    rows = %{"op" => "load", "name" => "rows"}

    alone =
      for op <- [
            %{"op" => "concat", "lists" => [rows, n, rows]},
            %{"op" => "zip", "lists" => [rows, n]},
            %{"op" => "merge", "objects" => [rows, n]},
            %{"op" => "add", "left" => rows, "right" => n},
            %{"op" => "sub", "left" => n, "right" => n}
          ],
          do: {op["op"], %{"program" => op}}

    over ++ alone
  end

  defp pipe(steps), do: %{"program" => %{"op" => "pipe", "steps" => steps}}
  defp program(node), do: ~s({"program":#{node}})
  defp literal(json), do: program(~s({"op":"literal","value":#{json}}))
  defp copies(text, count), do: :binary.copy(text, count)
  defp keys(count), do: "{" <> Enum.map_join(1..count, ",", &~s("k#{&1}":#{&1})) <> "}"

  defp integers(count, digits),
    do: "[" <> copies(copies("9", digits) <> ",", count - 1) <> copies("9", digits) <> "]"

  defp nested(depth),
    do: copies(~s({"op":"not","condition":), depth) <> "true" <> copies("}", depth)

  defp signature_fields(count), do: Enum.map_join(1..count, ", ", &"f#{&1} :int")

  # Equal, but at another address in memory.
  defp equal_texts(count, bytes), do: for(_ <- 1..count, do: copies("x", bytes) <> "!")
  defp equal_integers(count, bits), do: for(n <- 1..count, do: big(bits) + n - n)

  defp big(bits), do: Bitwise.bsl(1, bits)

  @doc "The reason for skipping a test that needs integers of megabytes: later VMs do not support them."
  @spec skip_huge_integers() :: String.t() | nil
  def skip_huge_integers do
    _made = big(:erlang.phash2(:any, 1) + 8_000_000)
    nil
  rescue
    SystemLimitError -> "integers end at 512 KB in this VM"
  end

  defp shared(levels), do: Enum.reduce(1..levels, "leaf", fn _, part -> [part, part] end)
end
