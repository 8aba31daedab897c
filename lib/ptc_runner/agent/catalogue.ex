defmodule PtcRunner.Agent.Catalogue do
  @moduledoc false
  # Many tools: the prompt says how to find them, and two tools more answer what there is. They see what a prompt would
  # show: no firewalled parameter.

  alias PtcRunner.Agent.{Prompt, Tool}
  alias PtcRunner.Json.Codec
  alias PtcRunner.Shown

  @search "search_tools"
  @describe "describe_tools"
  @names [@search, @describe]

  @about "The tools whose names and descriptions have words of the query, best first"

  # More tools than these are a catalogue, unless the option says otherwise.
  @many 100
  # Turns of a loop that only look for tools and are not counted.
  @free 10

  # Maximum bytes in the prompt, beside the legend of types.
  @section 870
  # Maximum number of tools in an answer, and of words in a query.
  @found 10
  @described 10
  @words 20
  # Maximum bytes of a description among the results, of an answer as JSON (so that a look shows all of it), and of a
  # description that is searched.
  @line 160
  @answer 3_800
  @read 4_000

  @doc """
  Whether these tools are a catalogue, by the option `:catalogue`.

      iex> tools = for n <- 1..101, do: %PtcRunner.Agent.Tool{name: "t\#{n}", fun: & &1}
      iex> {PtcRunner.Agent.Catalogue.on?(tools, []), PtcRunner.Agent.Catalogue.on?(tl(tools), [])}
      {true, false}
      iex> PtcRunner.Agent.Catalogue.on?(tools, catalogue: false)
      false

  """
  @spec on?([Tool.t()], keyword()) :: boolean()
  def on?(tools, opts) do
    case Keyword.get(opts, :catalogue, :auto) do
      :auto -> match?([_ | _], Enum.drop(tools, @many)) and own(tools) == []
      other -> other
    end
  end

  defp own(tools), do: for(%{name: name} <- tools, name in @names, do: name)

  @doc "The tools of a run: those that are given, and the two that tell about them if they are a catalogue."
  @spec tools([Tool.t()], keyword()) :: [Tool.t()]
  def tools(tools, opts) do
    if on?(tools, opts) do
      with [name | _] <- own(tools) do
        raise ArgumentError,
              "with catalogue: true the library has a tool #{Shown.quoted(name)} of its own: rename yours"
      end

      [search(tools), describe(tools) | tools]
    else
      tools
    end
  end

  @doc "Whether the tools of a run have the two that tell about the others."
  @spec in?([Tool.t()]) :: boolean()
  def in?([%Tool{name: @search, description: @about} | _]), do: true
  def in?(_tools), do: false

  @doc "Whether a turn that made these calls only looked for tools."
  @spec only?([String.t()]) :: boolean()
  def only?([]), do: false
  def only?(names), do: Enum.all?(names, &(&1 in @names))

  @doc "How many of such turns a loop does not count."
  @spec free() :: pos_integer()
  def free, do: @free

  @doc "The section of the prompt: at most 1,024 bytes."
  @spec section([Tool.t()]) :: String.t()
  def section(tools) do
    head = """
    ## Tools, called with {"op":"call","tool":NAME,"args":{...}}
    There are #{length(tools)} tools, too many to be listed. Find them first, in a program of its own, and look at the answer:
    - #{@search}(query :string, limit :int?) -> [{name :string, description :string?}]
      The tools whose names and descriptions have words of the query, best first.
    - #{@describe}(names [:string]) -> [{name :string, tool :string}]
      Arguments, results and descriptions of at most #{@described} tools.
    For example {"program":{"op":"object","fields":{"look":{"op":"call","tool":"#{@search}","args":{"query":"send mail"}}}}}
    #{free_sentence()}
    Some of the names: \
    """

    head <> some(tools, @section - byte_size(head) - byte_size(", …"), "")
  end

  defp free_sentence,
    do: "Up to #{@free} programs that call only these two are not counted as turns."

  defp some([], _left, text), do: text

  defp some([tool | rest], left, text) do
    label = Shown.label(tool.name)
    next = if text == "", do: label, else: text <> ", " <> label
    if byte_size(next) > left, do: text <> ", …", else: some(rest, left, next)
  end

  # What the functions of both tools hold is copied to the process of the tools, whose heap is the program's: it is names and descriptions,
  # and binaries that are not copied.
  defp search(tools) do
    tools = for %{name: name, description: text} <- tools, do: %{name: name, description: text}

    %Tool{
      name: @search,
      effect: :read,
      signature:
        {:signature, [{"query", :string}, {"limit", {:optional, :int}}],
         {:list, {:map, [{"name", :string}, {"description", {:optional, :string}}]}}},
      description: @about,
      fun: fn args -> {:ok, found(tools, args["query"], args["limit"])} end
    }
  end

  defp describe(tools) do
    tools = Map.new(tools, &{&1.name, packed(&1)})

    %Tool{
      name: @describe,
      effect: :read,
      signature:
        {:signature, [{"names", {:list, :string}}],
         {:list, {:map, [{"name", :string}, {"tool", :string}]}}},
      description: "Arguments, results and descriptions of tools",
      fun: fn %{"names" => names} -> described(tools, names) end
    }
  end

  @doc """
  What is shown of a tool, as a binary that is not copied with what holds it.

      iex> tool = %PtcRunner.Agent.Tool{name: "rate", fun: & &1, description: "The rate"}
      iex> tool |> PtcRunner.Agent.Catalogue.packed() |> is_binary()
      true

  """
  @spec packed(Tool.t()) :: binary()
  def packed(%Tool{prepared: %{packed: packed}}), do: packed

  def packed(tool),
    do: :erlang.term_to_binary(%{tool | fun: nil, data: nil, spec: nil, warnings: [], needs: []})

  @doc """
  The tools that have words of a query, best first: a word of the name counts more than one of the description, a whole
  word more than its beginning, and a tool with more of the words comes first.

      iex> tools = for {name, text} <- [{"mailSend", "Sends a letter"}, {"post_list", "Lists mails"}, {"rate", nil}],
      ...>   do: %PtcRunner.Agent.Tool{name: name, fun: & &1, description: text}
      iex> PtcRunner.Agent.Catalogue.found(tools, "Send mail!", nil)
      [%{"name" => "mailSend", "description" => "Sends a letter"}, %{"name" => "post_list", "description" => "Lists mails"}]

  """
  @spec found([Tool.t()], String.t(), integer() | nil) :: [map()]
  def found(tools, query, limit) do
    wanted = query |> Shown.cut(@read) |> words() |> Enum.uniq() |> Enum.take(@words)
    most = (limit || @found) |> max(1) |> min(@found)

    for(tool <- tools, points = points(tool, wanted), do: {points, tool})
    |> Enum.sort_by(fn {points, tool} -> {points, tool.name} end, &better?/2)
    |> Enum.take(most)
    |> Enum.map(fn {_points, tool} ->
      %{"name" => tool.name, "description" => tool.description && line(tool.description)}
    end)
    |> fitting()
  end

  # The first of them that an answer has room for.
  defp fitting(found), do: if(fits?(found), do: found, else: found |> Enum.drop(-1) |> fitting())

  defp fits?([]), do: true
  defp fits?(answer), do: match?({:ok, _text}, Codec.encode(answer, max_bytes: @answer))

  defp better?({points, a}, {points, b}), do: a <= b
  defp better?({a, _}, {b, _}), do: a >= b

  defp line(text), do: text |> Shown.cut(@read) |> Shown.lines() |> Shown.cut(@line)

  # How many of the words a tool has, and what they count; nil if it has none.
  defp points(tool, wanted) do
    name = words(tool.name)
    text = if tool.description, do: tool.description |> Shown.cut(@read) |> words(), else: []

    case for word <- wanted,
             points = max(point(word, name, 8), point(word, text, 2)),
             points > 0,
             do: points do
      [] -> nil
      points -> {length(points), Enum.sum(points)}
    end
  end

  # Half of the points if one of both words begins with the other.
  defp point(word, words, most) do
    cond do
      word in words -> most
      Enum.any?(words, &begins?(&1, word)) -> div(most, 2)
      true -> 0
    end
  end

  defp begins?(a, b) when byte_size(a) < 3 or byte_size(b) < 3, do: false
  defp begins?(a, b), do: String.starts_with?(a, b) or String.starts_with?(b, a)

  # Words of letters and digits; `perPage` has two.
  defp words(text) do
    ~r/(?<=[\p{Ll}\d])(?=\p{Lu})|[^\p{L}\p{N}]+/u
    |> Regex.split(text, trim: true)
    |> Enum.map(&String.downcase/1)
  rescue
    # A text that is no UTF-8 has no words.
    _error -> []
  end

  defp described(_tools, names) when length(names) > @described,
    do:
      {:error,
       "at most #{@described} tools are described at once, and these are #{length(names)}"}

  defp described(tools, names) do
    texts =
      for name <- Enum.uniq(names) do
        text =
          case tools do
            %{^name => packed} -> packed |> :erlang.binary_to_term() |> text()
            %{} -> "there is no tool of this name"
          end

        {Shown.cut(name, @line), text}
      end

    {:ok, shortened(texts, @answer)}
  end

  # Long descriptions are cut so that all have room.
  defp shortened(texts, most) do
    answer = for {name, text} <- texts, do: %{"name" => name, "tool" => Shown.cut(text, most)}
    if most < @line or fits?(answer), do: answer, else: shortened(texts, div(most * 2, 3))
  end

  defp text(tool) do
    "- " <> text = Prompt.tool(tool)
    text
  end
end
