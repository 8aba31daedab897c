defmodule PtcRunner.MessagesTest do
  # Messages are for readers: no code looks into one to see what has happened. A code, or what the message was made of, says that.
  use ExUnit.Case, async: true

  # What reads a message, as far as a search can tell: a part of a text is taken off, compared or searched, and the text is a message by its
  # name or by its words.
  @reading [
    ~r/(?::binary\.(?:split|match|matches)|String\.(?:split|contains\?|starts_with\?|ends_with\?|replace))\((?:message|msg|error|reason|warning|warnings)\b/,
    ~r/\b(?:message|msg|reason|warning)\s*\|>\s*(?:String\.(?:split|contains\?|starts_with\?|ends_with\?)|:binary\.(?:split|match))/,
    ~r/\b(?:message|msg|error|reason|warning|text)\s*=~\s*(?:~r|")[^"]*(?:expected|got|requires|must be|not found)/,
    ~r/(?:split|match|starts_with\?|contains\?|ends_with\?)\([^)]*"[^"]*(?:, got|expected |requires |must be| not found)/,
    ~r/\{:(?:parse_error|validation_error|execution_error), "[^"#]*" <> \w+\}/,
    ~r/"(?:expected|coerced|cannot coerce) [^"]*" (?:<> \w+ = |<> _)/,
    ~r/@\w*warning\w* "/
  ]

  # Their only input is a documented error, which is a text: `PtcRunner.Json.format_error/1`, `PtcRunner.Lisp.format_error/1` and
  # `Signature.format_error/2`.
  @texts [
    "lib/ptc_runner/json/error_text.ex",
    "lib/ptc_runner/lisp/error_text.ex",
    "lib/ptc_runner/sub_agent/signature/error_text.ex"
  ]

  defp lines(file) do
    file
    |> File.read!()
    |> String.split("\n")
    |> Enum.with_index(1)
    |> Enum.reject(fn {line, _number} -> line =~ ~r/^\s*(?:#|iex>|\.\.\.>)/ end)
  end

  defp reading(files) do
    for file <- files,
        {line, number} <- lines(file),
        Enum.any?(@reading, &(line =~ &1)),
        do: "#{file}:#{number}: #{String.trim(line)}"
  end

  test "no code reads a message" do
    files = Path.wildcard("lib/**/*.ex") -- @texts
    assert length(files) > 200
    assert reading(files) == []
  end

  test "the search finds what it looks for" do
    assert reading(@texts) != []

    for line <- [
          ~S{[public | _got] = :binary.split(message, [", got ", ": "])},
          ~S|def of_error({:validation_error, "Node must be a map, got " <> got}, 2), do: got|,
          ~S|{:error, "expected " <> _ = message} -> [message]|,
          ~S|with [_op, operands] <- String.split(text, " requires numeric operands, got: ", parts: 2)|,
          ~S|@warning "coerced keyword to string"|
        ] do
      assert Enum.any?(@reading, &(line =~ &1)), line
    end
  end
end
