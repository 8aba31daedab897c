defmodule PtcRunner.SubAgent.TypeExtractorTest do
  # what is logged by others at the same time would be captured
  use ExUnit.Case, async: false

  alias PtcRunner.SubAgent.TypeExtractor
  alias PtcRunner.SubAgent.TypeExtractor.Memo

  test "what was found is remembered for the same code, and found anew for other code" do
    module = :ptc_memo_probe
    test = self()

    find = fn _module, name, arity ->
      send(test, {:found, name, arity})
      {"sig", "doc"}
    end

    load(module, 1)
    assert Memo.fetch(module, :f, 0, find) == {"sig", "doc"}
    assert Memo.fetch(module, :f, 0, find) == {"sig", "doc"}
    assert_received {:found, :f, 0}
    refute_received {:found, :f, 0}

    load(module, 2)
    assert Memo.fetch(module, :f, 0, find) == {"sig", "doc"}
    assert_received {:found, :f, 0}
  end

  test "a function of a module that is not there is asked for each time" do
    test = self()

    find = fn _module, _name, _arity ->
      send(test, :found)
      {nil, nil}
    end

    for _ <- 1..2, do: assert(Memo.fetch(:ptc_no_such_module, :f, 0, find) == {nil, nil})
    assert_received :found
    assert_received :found
  end

  test "the second answer is the first one" do
    assert TypeExtractor.extract(&Enum.count/1) == TypeExtractor.extract(&Enum.count/1)

    assert {:ok, {"(enumerable :any" <> _, "Returns the size" <> _}} =
             TypeExtractor.extract(&Enum.count/1)
  end

  describe "specs with structs" do
    @source """
    defmodule PtcExtractedStruct do
      defmodule Line do
        defstruct [:sku, count: 0]
        @type t :: %__MODULE__{sku: String.t(), count: integer()}
      end

      defmodule Empty do
        defstruct []
      end

      defstruct [:id, :note, lines: []]
      @type t :: %__MODULE__{id: integer(), note: String.t() | nil, lines: [line()]}
      @type line :: %Line{sku: String.t(), count: integer()}

      @spec typed(t()) :: t() | nil
      def typed(order), do: order

      @spec lines([line()]) :: %{line: line()}
      def lines(lines), do: lines

      @spec plain(%__MODULE__{}) :: {:ok, t()} | {:error, %Line{}}
      def plain(order), do: order

      @spec empty(%Empty{}) :: %Empty{}
      def empty(empty), do: empty

      @spec elsewhere(Line.t()) :: Range.t()
      def elsewhere(line), do: line
    end
    """

    @tag :tmp_dir
    test "a struct is shown by its fields, and its module is not", given do
      for {module, beam} <- Code.compile_string(@source, "nofile"),
          do: File.write!(Path.join(given.tmp_dir, "#{module}.beam"), beam)

      true = Code.prepend_path(given.tmp_dir)
      on_exit(fn -> Code.delete_path(given.tmp_dir) end)
      line = "{count :int, sku :string}"
      order = "{id :int, lines [#{line}], note :string?}"

      for {name, expected} <- [
            typed: "(order #{order}) -> #{order}?",
            lines: "(lines [#{line}]) -> {line #{line}}",
            plain:
              "(order {id :any, lines :any, note :any}) -> {result #{order}, error {count :any, sku :any}?}",
            empty: "(empty :map) -> :map",
            elsewhere: "(line :any) -> :any"
          ] do
        assert {:ok, {text, _doc}} =
                 TypeExtractor.extract(Function.capture(PtcExtractedStruct, name, 1))

        assert {name, types(text)} == {name, types(expected)}
      end
    end

    # Without the names of parameters, which docs have, and the order of fields, which is the compiler's.
    defp types(text) do
      {:ok, {:signature, [{_name, param}], returns}} = PtcRunner.SubAgent.Signature.parse(text)
      {sorted(param), sorted(returns)}
    end

    defp sorted({:map, fields}),
      do: {:map, Enum.sort(for {name, type} <- fields, do: {name, sorted(type)})}

    defp sorted({kind, type}), do: {kind, sorted(type)}
    defp sorted(type), do: type
  end

  test "nothing is logged for a type, and the second answer reads no file" do
    fun = &Keyword.split/2
    log = ExUnit.CaptureLog.capture_log(fn -> TypeExtractor.extract(fun) end)
    assert log == ""

    # Reading the module's file takes thousands of reductions.
    {:reductions, before} = Process.info(self(), :reductions)
    TypeExtractor.extract(fun)
    {:reductions, afterwards} = Process.info(self(), :reductions)
    assert afterwards - before < 1_000
  end

  defp load(module, version) do
    forms = [
      {:attribute, 1, :module, module},
      {:attribute, 1, :export, [f: 0]},
      {:function, 1, :f, 0, [{:clause, 1, [], [], [{:integer, 1, version}]}]}
    ]

    {:ok, ^module, code} = :compile.forms(forms)
    {:module, ^module} = :code.load_binary(module, ~c"nofile", code)
  end
end
