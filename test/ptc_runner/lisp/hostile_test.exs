defmodule PtcRunner.Lisp.HostileTest do
  @moduledoc """
  Programs of PTC-Lisp that are small and ask for much (`test/vectors/hostile_lisp.eterm`), and memories that no run has made: each run ends within
  its limits, with an error of bounded size, makes no atom and holds no scheduler.
  """
  use PtcRunner.Test.Apart

  alias PtcRunner.{Lisp, Step}
  alias PtcRunner.Test.{HostileLisp, Room, SliceClock, Watch}

  doctest HostileLisp

  @moduletag timeout: 120_000

  @timeout 60
  # Of the many runs over a memory.
  @short 20
  # A run ends this many milliseconds of native CPU time after its deadline at the latest. What a compiler has made of a long program is handed over
  # in one piece.
  @margin 150
  @whole 400
  @longest_error 4_096
  @cases HostileLisp.cases()

  setup_all do
    apart(fn ->
      Watch.load_everything()
      # The constants of all programs are atoms of the library.
      assert {:ok, _step} = Lisp.run("1")
      :ok
    end)
  end

  for family <- @cases |> Enum.map(&hd(String.split(&1.id, "/"))) |> Enum.uniq() do
    test "programs: #{family}" do
      failures =
        for %{id: id} = it <- @cases, String.starts_with?(id, unquote(family) <> "/") do
          source = HostileLisp.source(it.source)
          context = %{"x" => it |> Map.get(:data) |> HostileLisp.data()}
          opts = [context: context] ++ Map.get(it, :opts, [])
          for why <- faults(source, opts, it.expect), do: "#{id}: #{why}"
        end

      assert Enum.concat(failures) == []
    end
  end

  test "a deadline ends the reading, the analysis and the compilation of a long program" do
    long = String.duplicate("(inc 1) ", 120_000)
    # Without a deadline it is an error that only the end of the text shows.
    assert {:error, %Step{fail: %{reason: :parse_error}}} = Lisp.run(long <> "(")
    assert {:error, %Step{fail: %{reason: :timeout}}} = Lisp.run(long <> "(", timeout: 1)
    assert {:error, %Step{fail: %{reason: :timeout}}} = Lisp.run(long <> "(if)", timeout: 1)
  end

  test "memories that no run has made" do
    failures =
      for {name, value} <- HostileLisp.memories(), program <- HostileLisp.uses() do
        opts = [memory: %{"m" => value}, turn_history: [value], timeout: @short]
        for why <- faults(program, opts, :any), do: "#{program} of #{name}: #{why}"
      end

    assert Enum.concat(failures) == []
  end

  test "the same through the options that are terms" do
    failures =
      for {name, value} <- HostileLisp.memories() do
        opts = [context: %{"x" => value}, budget: value, turn_history: [value, 1]]
        program = "[(str data/x) (pr-str (budget/remaining)) *1 *2]"
        for why <- faults(program, opts, :any), do: "#{name}: #{why}"
      end

    assert Enum.concat(failures) == []
  end

  # What is wrong with a run, as sentences. What depends on the machine must be wrong three times.
  defp faults(source, opts, expected) do
    {wrong, slow} = attempt(source, opts, expected)
    slow = if slow != [] and Enum.all?(1..2, fn _ -> slow?(source, opts) end), do: slow, else: []
    wrong ++ slow
  end

  defp slow?(source, opts), do: elem(attempt(source, opts, :any), 1) != []

  defp attempt(source, opts, expected) do
    opts = Keyword.merge([timeout: @timeout, tools: %{"t" => fn args -> args end}], opts)
    atoms = :erlang.system_info(:atom_count)
    {over, spent} = native()
    wrong = outcome(fn -> Lisp.run(source, opts) end, expected)
    {over_now, spent_now} = native()
    spent = div(spent_now - spent, 1_000_000)
    made = :erlang.system_info(:atom_count) - atoms
    holds = for {nif, mark} <- over_now, mark > Map.get(over, nif, 0), do: nif

    {wrong ++ sentence(made > 5, "made #{made} atoms"),
     Enum.map(holds, &"#{&1} held a scheduler") ++
       sentence(too_long?(spent, longest(source)), "#{spent} ms of native time")}
  end

  defp too_long?(spent, longest), do: spent > longest and spent > longest * Room.slowness()

  defp longest(source),
    do: if(byte_size(source) > 20_000, do: @whole, else: @timeout + @margin)

  defp native,
    do: {SliceClock.marks(), SliceClock.lines() |> Enum.map(& &1.total) |> Enum.sum()}

  # The value itself is not looked at: it may be a shared tree.
  defp outcome(run, expected) do
    case run.() do
      {:ok, %Step{fail: nil}} -> reason(:ok, expected)
      {:error, %Step{fail: fail} = step} -> failed(fail, step) ++ reason(fail.reason, expected)
      _other -> ["answered something else"]
    end
  rescue
    error ->
      [
        "raised #{inspect(error.__struct__)} #{error |> Exception.message() |> String.slice(0, 200)}"
      ]
  end

  defp failed(%{reason: reason, message: message}, step) do
    bytes = byte_size(message)

    sentence(bytes > @longest_error, "a message of #{bytes} bytes") ++
      sentence(bytes == 0 or not String.valid?(message), "a message that is no text") ++
      sentence(
        message =~ "Elixir." or message =~ "panicked",
        "a message about the library: #{message}"
      ) ++
      sentence(Lisp.format_error(step) == "", "no text") ++
      sentence(not is_atom(reason), "a reason that is no atom")
  end

  # On a busy machine any run may reach its deadline.
  defp reason(reason, expected) when reason == :timeout or expected == :any, do: []
  defp reason(reason, expected), do: sentence(reason not in expected, "ended with #{reason}")

  defp sentence(true, text), do: [text]
  defp sentence(false, _text), do: []
end
