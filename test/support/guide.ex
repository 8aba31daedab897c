defmodule PtcRunner.Test.Guide do
  @moduledoc """
  Executes the `iex>` examples of a guide, one test a section. They are run as doctests are: the
  examples of a section share their bindings, and the text below an example is its value.
  """

  import ExUnit.Assertions

  @type example :: %{code: String.t(), expected: String.t(), line: pos_integer()}

  @doc "Defines a test for each section of a guide that has examples."
  defmacro guide_test(path) do
    file = Path.expand(path)

    for {title, examples} <- sections(File.read!(file)) do
      quote do
        @external_resource unquote(file)
        test unquote("#{path}: #{title}") do
          unquote(__MODULE__).run(unquote(Macro.escape(examples)), unquote(file))
        end
      end
    end
  end

  @doc "The sections of a guide that have examples, with these."
  @spec sections(String.t()) :: [{title :: String.t(), [example()]}]
  def sections(text) do
    text
    |> String.split("\n")
    |> Enum.with_index(1)
    |> Enum.chunk_while({"start", []}, &by_title/2, fn section -> {:cont, section, nil} end)
    |> Enum.map(fn {title, lines} -> {title, examples(Enum.reverse(lines))} end)
    |> Enum.reject(&match?({_title, []}, &1))
  end

  defp by_title({"#" <> _ = line, _number}, section),
    do: {:cont, section, {String.trim_leading(line, "#") |> String.trim(), []}}

  defp by_title(line, {title, lines}), do: {:cont, {title, [line | lines]}}

  defp examples(lines) do
    lines
    |> Enum.reduce([], &line/2)
    |> Enum.map(&Map.update!(&1, :expected, fn text -> String.trim(text) end))
    |> Enum.reverse()
  end

  defp line({text, number}, examples) do
    case {String.trim_leading(text), examples} do
      {"iex> " <> code, _} ->
        [%{code: code, expected: "", line: number, open?: true} | examples]

      {"...> " <> code, [last | rest]} ->
        [%{last | code: last.code <> "\n" <> code} | rest]

      {"", [last | rest]} ->
        [%{last | open?: false} | rest]

      {"```" <> _, [last | rest]} ->
        [%{last | open?: false} | rest]

      {_, [%{open?: true} = last | rest]} ->
        [%{last | expected: last.expected <> "\n" <> text} | rest]

      {_, examples} ->
        examples
    end
  end

  @doc "Runs examples one after another, and compares their values with what is expected."
  @spec run([example()], Path.t()) :: :ok
  def run(examples, file) do
    env = %{Code.env_for_eval([]) | file: file}
    Enum.reduce(examples, {[], env}, &step/2)
    :ok
  end

  defp step(example, {binding, env}) do
    {value, binding, env} = eval(example.code, example.line, binding, env)

    if example.expected != "" do
      {expected, _, _} = eval(example.expected, example.line, binding, env)
      assert value === expected, "line #{example.line}: #{inspect(value)}"
    end

    {binding, env}
  end

  defp eval(code, line, binding, env) do
    quoted = Code.string_to_quoted!(code, file: env.file, line: line)
    Code.eval_quoted_with_env(quoted, binding, env)
  end
end
