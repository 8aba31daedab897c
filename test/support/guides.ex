defmodule PtcRunner.Test.Guides do
  @moduledoc """
  Runs the Elixir blocks of a Markdown file as a reader does who pastes them into IEx, one after another.

  Lines are given to the parser as IEx 1.14 does it: an expression ends where it can end. So a line that begins with `|>` is a
  fault, because IEx would pipe the value of the expression before it.

  In the blocks, `# => value` is the value of the expression above, and may go on in lines that begin with `#` and at least three spaces. `# **
  (ArgumentError) message` is its exception. What a block prints stands in the `text` block that follows it.

  Other blocks are read, but not pasted:

    * a block that begins with the name of a file (`# lib/shop.ex`) is compiled before all blocks, see `compile_files/1`; what begins with
      `# config/` is evaluated as a configuration, and `# mix.exs` is parsed
    * a block behind the comment `<!-- not run: reason -->` is parsed
  """

  alias PtcRunner.Test.Guides.Pasted

  @type block :: %{
          line: pos_integer(),
          code: String.t(),
          output: String.t() | nil,
          kind: :pasted | :not_run | {:file, String.t()}
        }

  @doc "The Markdown files whose blocks are run."
  @spec paths() :: [String.t()]
  def paths, do: ["README.md" | Enum.sort(Path.wildcard("guides/*.{md,cheatmd}"))]

  @doc """
  The Elixir blocks of a text.

      iex> [block] = PtcRunner.Test.Guides.blocks("```elixir\\nIO.puts(1)\\n```\\n\\n```text\\n1\\n```\\n")
      iex> {block.line, block.code, block.output, block.kind}
      {2, "IO.puts(1)\\n", "1\\n", :pasted}

  """
  @spec blocks(String.t()) :: [block()]
  def blocks(text) do
    text |> fences() |> with_outputs()
  end

  # {line of the first line inside, language, the code, the line of text before}
  defp fences(text) do
    lines = text |> String.split("\n") |> Enum.with_index(1)

    {fences, _open, _before} =
      Enum.reduce(lines, {[], nil, ""}, fn
        {"```", _number}, {fences, {first, language, code, before}, _before} ->
          code = code |> Enum.reverse() |> Enum.map_join(&(&1 <> "\n"))
          {[{first, language, code, before} | fences], nil, ""}

        {line, _number}, {fences, {first, language, code, before}, _before} ->
          {fences, {first, language, [line | code], before}, ""}

        {"```" <> language, number}, {fences, nil, before} ->
          {fences, {number + 1, language, [], before}, ""}

        {"", _number}, {fences, nil, before} ->
          {fences, nil, before}

        {line, _number}, {fences, nil, _before} ->
          {fences, nil, line}
      end)

    Enum.reverse(fences)
  end

  defp with_outputs([{line, "elixir", code, before} | rest]) do
    output = with([{_line, "text", text, ""} | _rest] <- rest, do: text, else: (_ -> nil))
    [%{line: line, code: code, output: output, kind: kind(code, before)} | with_outputs(rest)]
  end

  defp with_outputs([_other | rest]), do: with_outputs(rest)
  defp with_outputs([]), do: []

  defp kind(code, before) do
    case {before, Regex.run(~r/^# ([\w.\/]+\.exs?)\b/, code)} do
      {"<!-- not run: " <> _reason, _file} -> :not_run
      {_before, [_all, file]} -> {:file, file}
      _pasted -> :pasted
    end
  end

  @doc """
  Compiles what the files have their reader write into files of a project. The modules of `lib` are loaded from files, as in a project,
  because specs are read from files.
  """
  @spec compile_files([String.t()]) :: :ok
  def compile_files(paths) do
    folder = Path.join(Mix.Project.build_path(), "guides")
    File.rm_rf!(folder)
    File.mkdir_p!(folder)

    for {"lib/" <> _, {module, beam}} <- compiled(paths, "lib/") do
      File.write!(Path.join(folder, "#{module}.beam"), beam)
      :code.purge(module)
      :code.delete(module)
    end

    Code.prepend_path(folder)
    compiled(paths, "test/")
    :ok
  end

  defp compiled(paths, folder) do
    for path <- paths,
        %{kind: {:file, file}} = block <- blocks(File.read!(path)),
        String.starts_with?(file, folder),
        module <- Code.compile_string(block.code, "#{path}:#{block.line}"),
        do: {file, module}
  end

  @doc """
  Runs the blocks of a file. Returns what is wrong, each with its line.
  """
  @spec faults(String.t()) :: [String.t()]
  def faults(path), do: path |> File.read!() |> blocks() |> faults(path)

  @doc "The same for blocks."
  @spec faults([block()], String.t()) :: [String.t()]
  def faults(blocks, path) do
    {faults, _state} =
      Enum.flat_map_reduce(blocks, Pasted.new(path), fn
        %{kind: :pasted} = block, state -> Pasted.run(block, state)
        block, state -> {read(block, path), state}
      end)

    faults
  end

  # Configuration that is not valid raises.
  defp read(%{kind: {:file, "config/" <> _}} = block, path) do
    Config.Reader.eval!(path, block.code)
    []
  rescue
    error -> ["#{path}:#{block.line}: #{Exception.message(error)}"]
  end

  defp read(block, path) do
    case Code.string_to_quoted(block.code) do
      {:ok, _quoted} -> []
      {:error, reason} -> ["#{path}:#{block.line}: does not parse: #{inspect(reason)}"]
    end
  end
end
