defmodule PtcRunner.Lisp.Preparing do
  @moduledoc false
  # From a text and options to a program that may run:
  #
  #   size ─▶ tools ─▶ signature ─▶ program (read, analyzed, compiled) ─▶ names ─▶ functions of the memory
  #
  # The first of these that fails is the result: nothing runs before all names are known.

  alias PtcRunner.Lisp.{Given, Names, Program, Tools}
  alias PtcRunner.SubAgent.Signature

  @typep limits :: {timeout(), non_neg_integer()}

  @doc """
  What is wrong with a program before it runs: its size, its syntax, its names.

      iex> given = PtcRunner.Lisp.Given.read(tools: %{"find" => fn _ -> 1 end})
      iex> PtcRunner.Lisp.Preparing.checked("(tool/fnd)", given)
      {:error, :unknown_tool, "Unknown tool: fnd. Available tools: find", {:names, ["tool/fnd"]}}

  """
  @spec checked(String.t() | Program.t(), Given.t()) :: {:ok, Program.t()} | Program.fail()
  def checked(program, given) do
    with {:ok, program, _signature, _tools} <- known(program, given, Given.limits(given)),
         do: {:ok, program}
  end

  @doc """
  A compiled program with the functions of its memory and history.

      iex> given = PtcRunner.Lisp.Given.read([])
      iex> {:ok, program} = PtcRunner.Lisp.Preparing.with_memory("(inc 1)", given)
      iex> program.added
      []

  """
  @spec with_memory(String.t() | Program.t(), Given.t()) :: {:ok, Program.t()} | Program.fail()
  def with_memory(program, given) do
    limits = Given.limits(given)

    with {:ok, program, _signature} <- compiled(program, given, limits),
         do: Program.with_memory(program, given.memory, given.history, limits)
  end

  @doc "Compiles a program, whatever names it mentions."
  @spec compiled(String.t() | Program.t(), Given.t(), limits()) ::
          {:ok, Program.t(), Signature.t() | nil} | Program.fail()
  def compiled(program, %Given{} = given, limits) do
    with :ok <- size(program, given.max_program_bytes),
         {:ok, signature} <- signature(given.signature),
         {:ok, program} <- built(program, given, limits),
         :ok <- symbols(program, given.max_symbols),
         do: {:ok, program, signature}
  end

  @doc "A program that may run, its signature, and its tools with what they say."
  @spec prepared(String.t() | Program.t(), Given.t(), limits()) ::
          {:ok, Program.t(), Signature.t() | nil, {map(), map()}} | Program.fail()
  def prepared(program, given, limits) do
    with {:ok, program, signature, tools} <- known(program, given, limits),
         {:ok, program} <- Program.with_memory(program, given.memory, given.history, limits),
         do: {:ok, program, signature, tools}
  end

  # A program all of whose names are known.
  defp known(program, given, limits) do
    with :ok <- size(program, given.max_program_bytes),
         {:ok, tools, settings} <- tools(given),
         {:ok, program, signature} <- compiled(program, given, limits),
         :ok <- Names.check(program, given, tools),
         do: {:ok, program, signature, {tools, settings}}
  end

  defp size(%Program{source: source}, most), do: size(source, most)
  defp size(source, most) when byte_size(source) <= most, do: :ok

  defp size(source, most) do
    {:error, :program_too_large,
     "program size #{byte_size(source)} bytes exceeds limit of #{most}", nil}
  end

  # A journal answers, and no tool is called.
  defp tools(%Given{own: %{replay?: true}}), do: {:ok, %{}, %{}}

  defp tools(%Given{tools: tools, tool_context: context}) do
    with {:error, text} <- Tools.read(tools, context), do: {:error, :invalid_tool, text, nil}
  end

  defp signature(nil), do: {:ok, nil}

  defp signature(text) do
    with {:error, why} <- Signature.parse(text),
         do: {:error, :parse_error, "Invalid signature: #{why}", nil}
  end

  defp built(%Program{source: source}, %Given{observed?: true} = given, limits),
    do: built(source, given, limits)

  defp built(%Program{} = program, _given, _limits), do: {:ok, program}

  defp built(source, %Given{observed?: observed?, max_symbols: most}, limits),
    do: Program.build(source, [], [], limits, observed?, most)

  defp symbols(%Program{names: %{symbols: count}}, most) when count <= most, do: :ok

  defp symbols(%Program{names: %{symbols: count}}, most),
    do: Program.too_many_symbols(count, most)
end
