# The options of a server whose tools print, wait, and say how much memory this process had at most.
require Logger
IO.puts("a configuration prints")

peak = fn _ ->
  [_, kilobytes] = Regex.run(~r/VmHWM:\s+(\d+) kB/, File.read!("/proc/self/status"))
  String.to_integer(kilobytes)
end

prints = fn _ ->
  IO.puts("a tool prints")
  :io.format(~c"and ~p~n", [1])
  Logger.error("a tool logs")
  "printed"
end

[
  tools: %{
    "peak" => {peak, signature: "() -> :int", effect: :read},
    "prints" => {prints, signature: "() -> :string", effect: :read},
    "wait" =>
      {fn _ -> Process.sleep(:infinity) end,
       signature: "() -> :int", effect: :read, timeout: :infinity}
  }
]
