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
