# How many broken answers are restored: `mix run bench/repair.exs [--json FILE]`, see README.md.

alias PtcRunner.Json.Codec
alias PtcRunner.SubAgent.JsonParser

{:ok, cases} = :file.consult("test/vectors/answer_repair.eterm")

# Faults that no one sees who does not know the type.
typed = ~w(camel_keys bare_element stringified quoted_scalars)
syntax = Enum.reject(cases, fn %{kind: kind} -> String.contains?(kind, typed) end)

outcome = fn answer, %{expect: expect} ->
  case answer do
    {:ok, ^expect, _repairs} -> :restored
    {:ok, _other, _repairs} -> :wrong
    {:error, {:ambiguous, _places}} -> :ambiguous
    {:error, _reason} -> :refused
  end
end

percent = fn part, all -> "#{Float.round(100 * part / all, 1)} %" end

line = fn name, cases, answer ->
  found = Enum.frequencies_by(cases, &outcome.(answer.(&1), &1))
  all = length(cases)

  cells =
    for key <- [:restored, :wrong, :ambiguous, :refused],
        do: String.pad_leading(percent.(Map.get(found, key, 0), all), 9)

  IO.puts(String.pad_trailing(name, 40) <> String.pad_leading("#{all}", 6) <> Enum.join(cells))
end

with_type = &JsonParser.repair(&1.text, &1.signature)
without = &JsonParser.repair(&1.text)

IO.puts(String.duplicate(" ", 40) <> " cases restored    wrong  ambig.  refused")
line.("with the signature", cases, with_type)
line.("without, faults of syntax", syntax, without)

line.("plain parse/1", cases, fn case ->
  with {:ok, value} <- JsonParser.parse(case.text), do: {:ok, value, []}
end)

IO.puts("\nby kind, with the signature")
for {kind, cases} <- Enum.group_by(cases, & &1.kind), do: line.(kind, cases, with_type)

with ["--json", file] <- System.argv() do
  lines = for case <- cases, do: [Codec.encode!(case), "\n"]
  File.write!(file, lines)
end
