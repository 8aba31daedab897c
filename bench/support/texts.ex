defmodule Bench.Texts do
  @moduledoc false
  # The JSON texts of the section `texts`, the programs over them, and what is measured of them besides time.

  alias PtcRunner.{Json, Native}
  alias PtcRunner.Json.Codec

  @bytes 17_000_000
  @quick_bytes 2_000_000
  # On a busy machine a watcher may miss a whole run: of several runs, the worst counts.
  @runs 10

  @type name :: :rows | :earthquakes | :deep | :escapes

  @doc "The texts by name."
  @spec all(quick? :: boolean) :: %{name => binary}
  def all(quick?) do
    bytes = if quick?, do: @quick_bytes, else: @bytes

    %{
      rows: list(bytes, &row/1),
      earthquakes: File.read!(Path.expand("../../examples/data/earthquakes.json", __DIR__)),
      deep: deep(bytes),
      escapes: list(bytes, &escaped/1)
    }
  end

  @doc "About two kilobytes of the rows."
  @spec small() :: binary
  def small, do: list(2_000, &row/1)

  defp list(bytes, line) do
    lines =
      Stream.iterate(1, &(&1 + 1))
      |> Stream.map(line)
      |> Stream.transform(0, fn line, written ->
        if written < bytes, do: {[line], written + byte_size(line) + 1}, else: {:halt, written}
      end)

    IO.iodata_to_binary([?[, Enum.intersperse(lines, ?,), ?]])
  end

  @statuses {"active", "pending", "closed", "open"}
  @regions {"north", "south", "east", "west", "central"}

  defp row(id) do
    pick = fn choices -> elem(choices, :erlang.phash2({id, choices}, tuple_size(choices))) end
    number = fn below -> :erlang.phash2({id, below}, below) end
    two = fn number -> number |> Integer.to_string() |> String.pad_leading(2, "0") end

    ~s({"id":#{id},"name":"Customer #{id}","status":"#{pick.(@statuses)}","region":"#{pick.(@regions)}",) <>
      ~s("amount":#{number.(100_000)}.#{two.(number.(97))},"count":#{number.(50)},"paid":#{number.(3) == 0},) <>
      ~s("created_at":"2024-0#{1 + number.(9)}-1#{number.(8)}T08:30:00Z"})
  end

  defp escaped(id) do
    status = elem(@statuses, rem(id, 4))

    ~S({"line":"line ) <>
      "#{id}" <> ~S(:\t\") <> status <> ~S(\" \u00e4 C:\\dir\\) <> "#{status}" <> ~S(\n"})
  end

  # An index keeps the numbers of members down to 65,536 levels; a deeper text is decoded.
  @levels 60_000

  defp deep(bytes) do
    level =
      ~s({"key":"value","number":17,"text":") <>
        String.duplicate("x", max(div(bytes, @levels) - 45, 0)) <> ~s(","next":)

    String.duplicate(level, @levels) <> "null" <> String.duplicate("}", @levels)
  end

  @load ~s({"op":"load","name":"data"})
  @call ~s({"op":"call","tool":"data"})

  @doc "The texts of the programs, and what jaq is asked for the same."
  @spec programs() :: %{atom => {name, program :: String.t(), jaq :: String.t() | nil}}
  def programs do
    %{
      filter_sum:
        {:rows,
         pipe(
           ~s({"op":"filter","where":{"op":"gt","field":"amount","value":50000}},{"op":"sum","field":"count"})
         ), "[.[]|select(.amount>50000)|.count]|add"},
      filter_sort:
        {:rows,
         pipe(
           ~s({"op":"filter","where":{"op":"eq","field":"status","value":"active"}},) <>
             ~s({"op":"sort_by","field":"amount","order":"desc"},) <>
             ~s({"op":"select","fields":["id","name","amount"]},{"op":"take","count":10})
         ), nil},
      group_count:
        {:rows, pipe(~s({"op":"group_by","field":"region","each":{"n":{"op":"count"}}})), nil},
      everything: {:rows, ~s({"program":#{@load}}), nil},
      small_field: {:small, pipe(~s({"op":"nth","index":5},{"op":"get","field":"amount"})), nil},
      magnitudes:
        {:earthquakes,
         pipe(
           ~s({"op":"get","field":"features"},) <>
             ~s({"op":"map","expr":{"mag":{"op":"get","path":["properties","mag"]}}},) <>
             ~s({"op":"filter","where":{"op":"gt","field":"mag","value":4}},{"op":"count"})
         ), nil},
      all_earthquakes: {:earthquakes, ~s({"program":#{@load}}), nil},
      deep_field: {:deep, pipe(~s({"op":"get","path":["next","next","number"]})), nil},
      escaped_filter:
        {:escapes,
         pipe(
           ~s({"op":"filter","where":{"op":"contains","field":"line","value":"\\"active\\" ä"}},{"op":"count"})
         ), nil},
      all_escapes: {:escapes, ~s({"program":#{@load}}), nil}
    }
  end

  defp pipe(steps), do: ~s({"program":{"op":"pipe","steps":[#{@load},#{steps}]}})

  @limits [timeout: :infinity, max_heap: 0]

  @doc "A function that runs the program over a text that is not decoded."
  @spec in_place(String.t(), binary) :: (... -> term)
  def in_place(program, text) do
    {:ok, program} = Json.compile(program, edition: 2)
    fn -> run(program, Json.text(text)) end
  end

  @doc "The same for a text that a tool answers; `read`: what it answers of the text."
  @spec answered(String.t(), binary, (binary -> term)) :: (... -> term)
  def answered(program, text, read) do
    {:ok, program} = program |> String.replace(@load, @call) |> Json.compile(edition: 2)
    tools = %{"data" => fn _args -> read.(text) end}
    fn -> Json.run!(program, [tools: tools] ++ @limits) end
  end

  @doc "A function that decodes the text, and runs the program."
  @spec decoded(String.t(), binary) :: (... -> term)
  def decoded(program, text) do
    {:ok, program} = Json.compile(program, edition: 2)

    fn ->
      {:ok, data} = Codec.decode(text, timeout: :infinity)
      run(program, data)
    end
  end

  defp run(program, data) do
    {:ok, value, _delta, _memory} = Json.run(program, [context: %{"data" => data}] ++ @limits)
    value
  end

  @doc """
  By how many bytes the memory of the VM grows at its peak, with the native memory of the index, for the program in place and over
  the decoded text.
  """
  @spec memory(binary) :: [
          %{case: :memory, name: atom, growth: integer, looks: pos_integer, text: pos_integer}
        ]
  def memory(text) do
    {:rows, program, _jaq} = programs().filter_sum

    for {name, run, runs} <- [
          {:in_place, in_place(program, text), @runs},
          {:answered, answered(program, text, &Json.text/1), @runs},
          {:decoded, decoded(program, text), 3}
        ] do
      seen = for _ <- 1..runs, do: growth(run)
      {growths, looks} = Enum.unzip(seen)

      %{
        case: :memory,
        name: name,
        growth: Enum.max(growths),
        looks: Enum.sum(looks),
        text: byte_size(text)
      }
    end
  end

  # In a process of its own, so that the garbage of other measurements is not collected meanwhile.
  defp growth(run) do
    work = fn ->
      :erlang.garbage_collect()
      before = :erlang.memory(:total)
      me = self()
      watcher = :erlang.spawn_opt(fn -> watch(me, before, 0) end, [:link, priority: :high])
      run.()
      send(watcher, :stop)
      receive do: ({^watcher, peak, looks} -> {peak - before, looks})
    end

    work |> Task.async() |> Task.await(:infinity)
  end

  defp watch(owner, peak, looks) do
    peak = max(peak, :erlang.memory(:total))

    receive do
      :stop -> send(owner, {self(), peak, looks + 1})
    after
      1 -> watch(owner, peak, looks + 1)
    end
  end

  @doc """
  The longest calls of runs in place on normal schedulers, in nanoseconds of CPU time: all of them, and those during which the
  system did not take the scheduler off its core.
  """
  @spec longest_calls(%{name => binary}) :: [map]
  def longest_calls(texts) do
    if Native.clock_switch(true) do
      for _ <- 1..5, {_case, {name, program, _jaq}} <- programs(), text = texts[name] do
        in_place(program, text).()
      end

      Native.clock_switch(false)

      lines =
        for {nif, false, calls, _over, {_min, _p50, _p99, longest, _total, alone}} <-
              Native.clock_read(),
            nif in ["start", "resume"],
            do: {calls, longest, alone}

      {calls, longest, alone} =
        Enum.reduce(lines, {0, 0, 0}, fn {calls, longest, alone}, {all, worst, worst_alone} ->
          {all + calls, max(longest, worst), max(alone, worst_alone)}
        end)

      [%{case: :longest_call, calls: calls, longest: longest, alone: alone}]
    else
      []
    end
  end

  @doc """
  How fast the texts are indexed and validated, with vectors and without, in GB/s. It is measured by a program of the crate, without
  the VM: an empty list if it cannot be built.
  """
  @spec speeds(%{name => binary}) :: [map]
  def speeds(texts) do
    directory = Path.join(System.tmp_dir!(), "ptc_texts_#{System.unique_integer([:positive])}")
    File.mkdir_p!(directory)

    paths =
      for {name, text} <- texts do
        path = Path.join(directory, Atom.to_string(name))
        File.write!(path, text)
        path
      end

    try do
      paths |> measured() |> Enum.map(&speed(&1, texts)) |> Enum.reject(&is_nil/1)
    after
      File.rm_rf!(directory)
    end
  end

  defp measured(paths) do
    args = ~w(run --release --locked --quiet -p ptc_index --example speed --) ++ paths
    env = [{"CARGO_TARGET_DIR", Path.expand("../../_build/native", __DIR__)}]
    root = Path.expand("../..", __DIR__)

    with cargo when is_binary(cargo) <- System.find_executable("cargo"),
         {output, 0} <- System.cmd(cargo, args, cd: root, env: env) do
      String.split(output, "\n", trim: true)
    else
      _missing -> []
    end
  end

  defp speed(line, texts) do
    with [_, path, vectors, scalar, share] <-
           Regex.run(~r/^(\S+)\s.*?([\d.]+) GB\/s\s+([\d.]+) GB\/s\s+([\d.]+)/, line),
         name = Path.basename(path),
         {name, text} <- Enum.find(texts, &(Atom.to_string(elem(&1, 0)) == name)) do
      [vectors, scalar, share] = Enum.map([vectors, scalar, share], &String.to_float/1)

      %{
        case: :index,
        name: name,
        bytes: byte_size(text),
        vectors: vectors,
        scalar: scalar,
        share: share
      }
    else
      _other -> nil
    end
  end
end
