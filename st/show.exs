[f | rest] = System.argv()
rows = File.read!(f) |> :erlang.binary_to_term()
{:suite, t, times} = List.last(rows)
IO.inspect({t, times})
tests = for {:test, _e, m, n, us, a} <- rows, do: {m, n, us / 1.0e6, a}
for a <- [true, false] do
  ts = Enum.filter(tests, fn {_, _, _, x} -> x == a end)
  IO.puts("async #{a}: #{length(ts)} tests, #{Float.round(Enum.sum(Enum.map(ts, &elem(&1, 2))), 1)} s")
  ts |> Enum.group_by(&elem(&1, 0)) |> Enum.map(fn {m, l} -> {Enum.sum(Enum.map(l, &elem(&1, 2))), m, length(l)} end) |> Enum.sort(:desc) |> Enum.take(String.to_integer(Enum.at(rest, 0, "40")))
  |> Enum.each(fn {s, m, n} -> IO.puts("  #{:io_lib.format("~7.2f", [s])} #{n} #{inspect m}") end)
end
IO.puts "slowest"
tests |> Enum.sort_by(&(-elem(&1, 2))) |> Enum.take(String.to_integer(Enum.at(rest, 1, "60"))) |> Enum.each(fn {m, n, s, a} -> IO.puts("  #{:io_lib.format("~7.2f", [s])} #{if a, do: "a", else: "S"} #{inspect m} #{n}") end)
IO.puts "timeline: every 5 s: cpu busy of cores (all), vm runtime share"
cpu = for {:cpu, t, i, a, rt} <- rows, do: {t, i, a, rt}
for [{t1, i1, a1, r1} | _] = ch <- Enum.chunk_every(cpu, 6, 5), length(ch) == 6 do
  {t2, i2, a2, r2} = List.last(ch)
  IO.puts("#{div(t1,1000)}: busy #{Float.round(2 * (1 - (i2 - i1) / max(1, a2 - a1)), 2)} vm #{Float.round((r2 - r1) / max(1,(t2 - t1)), 2)}")
end
