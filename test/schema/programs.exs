# Writes the JSON schemas of edition 2 and the golden programs that must fit them, for `validate.py`.

alias PtcRunner.Json
alias PtcRunner.Json.Codec
alias PtcRunner.Schema
alias PtcRunner.Test.{Nulls, Vectors}

[path] = System.argv()

# A strict program has no comments, which the schemas do not allow.
programs =
  for %{id: id, program: text, opts: opts} <- Vectors.read("ptc_json_edition_2"),
      is_binary(text),
      Keyword.get(opts, :edition, 2) == 2,
      match?({:ok, _program}, Json.compile(text, edition: 2, strict: true)) do
    program = Codec.decode!(text)

    # Models have no need of the key "__input", so only the full schema has it.
    given? = text =~ ~s("__input":)
    nulls = if not given?, do: Nulls.filled(program)

    %{
      "id" => to_string(id),
      "program" => program,
      "llm" => if(not given?, do: program),
      "nulls" => nulls
    }
  end

written = %{
  "json" => Schema.to_json_schema(edition: 2),
  "llm" => Schema.to_llm_schema(edition: 2),
  "nulls" => Schema.to_llm_schema(edition: 2, optional: :null),
  "programs" => programs
}

File.write!(path, Codec.encode!(written))
