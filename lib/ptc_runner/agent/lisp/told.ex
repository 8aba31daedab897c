defmodule PtcRunner.Agent.Lisp.Told do
  @moduledoc false
  # What a model that writes PTC-Lisp is told about its last program: why it failed, or what it printed, defined and has as its value.

  alias PtcRunner.Lisp.{Function, Text, Var}
  alias PtcRunner.Shown
  alias PtcRunner.Shown.Line
  alias PtcRunner.SubAgent.Signature.ErrorText

  @again "Write the whole program again, in one ```clojure fence."

  # Bytes of one feedback, of what was printed, and of an error.
  @limit 16_000
  @printed 4_000
  @error 8_000

  @doc """
  An error as one text: the reason and the message.

      iex> PtcRunner.Agent.Lisp.Told.error({:unbound_var, "Undefined variable: x"})
      "unbound_var: Undefined variable: x"

  """
  @spec error({atom(), String.t()}) :: String.t()
  def error({reason, message}) do
    PtcRunner.Lisp.ErrorText.of(Atom.to_string(reason), message)
  end

  @doc """
  Feedback about an answer without a program, or with an invalid one.

      iex> PtcRunner.Agent.Lisp.Told.invalid({:unbound_var, "Undefined variable: x"})
      "unbound_var: Undefined variable: x. Write the whole program again, in one ```clojure fence."

  """
  @spec invalid({atom(), String.t()}, String.t() | nil) :: String.t()
  def invalid(error, at \\ nil), do: said(error) <> placed(at)

  @doc "Feedback about a run that failed, after it printed this and made these calls. `at`: where in the program."
  @spec failed({atom(), String.t()}, String.t() | nil, [String.t()], String.t()) :: String.t()
  def failed(error, at, prints, made) do
    printed = if prints == [], do: "", else: "\n" <> printed(prints)
    "#{said(error)}#{printed}#{placed(at)}#{made}"
  end

  defp said(error), do: error |> error() |> Shown.lines() |> Shown.cut(@error) |> sentence("")

  defp placed(nil), do: ""
  defp placed(at), do: "\nThe error is " <> at

  @doc "Feedback about a value that is not what was asked for."
  @spec unfit([map()], term(), [String.t()], String.t()) :: String.t()
  def unfit(errors, value, prints, made) do
    printed = if prints == [], do: "", else: "\n" <> printed(prints)

    "The program ran, but its value is not what was asked for:#{lines(errors, value)}\n" <>
      "Its value: #{shown(value)}#{printed}\n#{@again}#{made}"
  end

  @doc """
  What a program showed whose value is no result. `errors` are why it is none, if that is known.

      iex> PtcRunner.Agent.Lisp.Told.looked(3, ["three"], ["rows"], [])
      "The program printed:\\n| three\\nIts value, *1: 3\\nDefined: rows.\\nWrite the next program; end with (return value) when you have the result."

  """
  @spec looked(term(), [String.t()], [String.t()], [map()], String.t()) :: String.t()
  def looked(value, prints, defined, errors, made \\ "") do
    printed = if prints == [], do: "The program ran.", else: printed(prints)
    value_text = if silent?(value), do: "", else: "\nIts value, *1: #{shown(value)}"
    defined = if defined == [], do: "", else: "\nDefined: #{Enum.join(defined, ", ")}."

    unfit =
      if errors == [] or silent?(value),
        do: "",
        else: "\nThat is not what was asked for:#{lines(errors, value)}"

    "#{printed}#{value_text}#{defined}#{unfit}\n" <>
      "Write the next program; end with (return value) when you have the result.#{made}"
  end

  @doc "Whether a value says nothing: nil, or what `def` gives."
  @spec silent?(term()) :: boolean()
  def silent?(value), do: value == nil or is_struct(value, Var)

  defp lines(errors, value) do
    for line <- ErrorText.first_lines(errors, value, Shown.most(), 4_000),
        into: "",
        do: "\n- " <> line
  end

  @doc """
  What a program printed, as lines within a budget. No line can be taken for a title or a fence.

      iex> PtcRunner.Agent.Lisp.Told.printed(["a\\n# b"])
      "The program printed:\\n| a\\n| # b"

  """
  @spec printed([String.t()]) :: String.t()
  def printed(prints), do: "The program printed:" <> printed(prints, @printed)

  defp printed([], _left), do: ""

  defp printed([entry | rest] = entries, left) do
    lines =
      for line <- String.split(Shown.cut(entry, max(left, 200)), "\n"),
          into: "",
          do: "\n| " <> Line.escape(line)

    if byte_size(lines) <= left or left == @printed,
      do: lines <> printed(rest, left - byte_size(lines)),
      else: "\n| … and #{length(entries)} more prints"
  end

  @doc """
  A value as a program would write it, or its beginning.

      iex> PtcRunner.Agent.Lisp.Told.shown(%{"id" => 7, "tags" => []})
      ~S({"id" 7 "tags" []})

  """
  @spec shown(term()) :: String.t()
  def shown(value) do
    more =
      case value do
        [_, _ | _] -> if List.improper?(value), do: "", else: " (#{length(value)} items)"
        _other -> ""
      end

    (value |> Text.brief() |> Line.escape() |> Shown.cut(@printed)) <> more
  end

  @doc """
  The names that a program has defined, functions as they are called.

      iex> function = %PtcRunner.Lisp.Function{kind: :closure, params: ["x", "&", "r"]}
      iex> PtcRunner.Agent.Lisp.Told.defined(%{"vat" => function, "rows" => []})
      ["rows", "(vat x & r)"]

  """
  @spec defined(map()) :: [String.t()]
  def defined(delta) do
    for {name, value} <- delta |> Enum.sort_by(&to_string(elem(&1, 0))) |> Enum.take(50) do
      name = name |> to_string() |> Shown.name()

      case value do
        %Function{kind: :closure, params: params} -> "(#{Enum.join([name | params], " ")})"
        _other -> name
      end
    end
  end

  @doc "What the model is to do after an answer that is of no use."
  @spec again() :: String.t()
  def again, do: @again

  defp sentence(text, more) do
    text = Shown.cut(text, @limit)
    between = if text =~ ~r/[.?!:]\z/, do: " ", else: ". "
    "#{text}#{between}#{@again}#{more}"
  end
end
