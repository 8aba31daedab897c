defmodule PtcRunner.Test.Guides.Pasted do
  @moduledoc """
  Pastes blocks of code into a session, and compares values and output with what stands beside them: see
  `PtcRunner.Test.Guides`.
  """

  import ExUnit.CaptureIO

  defstruct [:path, :binding, :env]

  @typedoc "A session: the variables, and the aliases, imports and requires, of what was pasted before."
  @type t :: %__MODULE__{path: String.t(), binding: keyword(), env: Macro.Env.t()}

  @doc "A new session for the blocks of this file."
  @spec new(String.t()) :: t()
  def new(path),
    do: %__MODULE__{
      path: path,
      binding: [],
      env: %{Code.env_for_eval(file: path) | function: nil}
    }

  @doc "Pastes a block. Returns what is wrong, and the session."
  @spec run(PtcRunner.Test.Guides.block(), t()) :: {[String.t()], t()}
  def run(block, session) do
    {{faults, session}, printed} = with_io(fn -> lines(block, session) end)
    {faults ++ output(block, printed, session.path), session}
  end

  defp output(block, printed, path) do
    shown = String.trim_trailing(block.output || "")
    printed = String.trim_trailing(printed)

    cond do
      printed == "" or same_output?(printed, shown) ->
        []

      block.output == nil ->
        ["#{path}:#{block.line}: prints what no text block shows:\n#{printed}"]

      true ->
        ["#{path}:#{block.line}: prints\n#{printed}\nand not\n#{shown}"]
    end
  end

  defp same_output?(printed, shown), do: printed == shown or tree(printed) == tree(shown)

  # Of an explained run, the times, the bars and the places where it was left are others each time.
  defp tree(text) do
    if text =~ "own time" do
      text
      |> String.replace(~r/[\d.]+ (ns|µs|ms)/u, "TIME")
      |> String.replace(~r/ *█+| *gave way [^,\n]*,?/u, "")
      |> String.replace(~r/ +/, " ")
      |> String.replace(~r/ +$/m, "")
    else
      {:no_tree, text}
    end
  end

  # `open` has the lines of the expression that has begun; `last` is its value, or the exception, once it has ended.
  defp lines(block, session) do
    lines = block.code |> String.split("\n") |> Enum.with_index(block.line)
    state = %{open: nil, last: nil, expected: nil, faults: [], session: session}
    state = lines |> Enum.reduce(state, &line/2) |> expected()

    faults =
      if state.open,
        do: [fault(state, elem(state.open, 0), "the block ends within an expression")],
        else: unexpected(state)

    {Enum.reverse(faults ++ state.faults), state.session}
  end

  defp line({"# => " <> text, number}, %{open: nil} = state),
    do: %{expected(state) | expected: {number, [text]}}

  defp line({"# ** " <> text, number}, %{open: nil} = state),
    do: %{expected(state) | expected: {number, ["** " <> text]}}

  defp line({"#   " <> text, _number}, %{open: nil, expected: {first, texts}} = state),
    do: %{state | expected: {first, [text | texts]}}

  defp line({line, number}, %{open: nil} = state) do
    state = expected(state)

    if line =~ ~r/^\s*(#|$)/ do
      state
    else
      state = %{state | faults: unexpected(state) ++ state.faults, last: nil}
      expression(%{state | open: {number, ""}}, line)
    end
  end

  defp line({line, _number}, state), do: expression(state, line)

  defp expression(%{open: {first, code}} = state, line) do
    code = code <> line <> "\n"

    case Code.string_to_quoted(code, file: state.session.path, line: first) do
      {:ok, quoted} ->
        evaluate(%{state | open: nil}, first, quoted)

      # the text ends too early: IEx waits for the next line
      {:error, {_meta, _message, ""}} ->
        %{state | open: {first, code}}

      {:error, reason} ->
        %{state | open: nil, faults: [unparsed(state, first, reason) | state.faults]}
    end
  end

  defp unparsed(state, line, reason),
    do: fault(state, line, "IEx does not take this line: #{inspect(reason)}")

  defp evaluate(%{session: session} = state, line, quoted) do
    {value, binding, env} = Code.eval_quoted_with_env(quoted, session.binding, session.env)
    %{state | last: {line, {:ok, value}}, session: %{session | binding: binding, env: env}}
  catch
    kind, reason ->
      %{state | last: {line, {:raised, Exception.format_banner(kind, reason, __STACKTRACE__)}}}
  end

  # Compares the last value with what stands below it.
  defp expected(%{expected: nil} = state), do: state

  defp expected(%{expected: {line, texts}, last: last} = state) do
    text = texts |> Enum.reverse() |> Enum.join("\n")

    fault =
      case last do
        nil -> "no expression stands above this value"
        {_line, outcome} -> difference(outcome, text, state.session)
      end

    faults = if fault, do: [fault(state, line, fault) | state.faults], else: state.faults
    %{state | expected: nil, last: nil, faults: faults}
  end

  defp difference({:raised, banner}, text, _session),
    do: if(banner != text, do: "raises\n#{banner}\nand not\n#{text}")

  defp difference({:ok, value}, "** " <> _ = text, _session),
    do: "does not raise #{text}, and gives #{shown(value)}"

  defp difference({:ok, value}, "#" <> _ = text, _session),
    do: if(inspect(value) != text, do: "gives #{shown(value)} and not #{text}")

  defp difference({:ok, value}, text, session) do
    {wanted, _binding} = Code.eval_string(text, session.binding, session.env)
    if value !== wanted, do: "gives\n#{shown(value)}\nand not\n#{text}"
  rescue
    error -> "the value below is no expression: #{Exception.message(error)}\n#{text}"
  end

  # An exception that the text does not show.
  defp unexpected(%{last: {line, {:raised, banner}}} = state), do: [fault(state, line, banner)]
  defp unexpected(_state), do: []

  defp fault(state, line, text), do: "#{state.session.path}:#{line}: #{text}"

  defp shown(value), do: inspect(value, pretty: true, limit: :infinity, printable_limit: 4_000)
end
