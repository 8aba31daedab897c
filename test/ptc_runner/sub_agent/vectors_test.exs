defmodule PtcRunner.SubAgent.VectorsTest do
  # Golden vectors of signatures, templates and extracted types, one test for each group of cases.
  use ExUnit.Case, async: true

  import ExUnit.CaptureLog
  import PtcRunner.Test.StoredVectors, only: [placed: 1, vectors: 4]

  alias PtcRunner.SubAgent.{Signature, Template, TypeExtractor}
  alias PtcRunner.SubAgent.Signature.{Coercion, Parser, Renderer, TypeResolver, Validator}

  # The compiled modules of the type extractor's cases.
  setup_all do
    directory = Path.join(System.tmp_dir!(), "ptc_types_#{System.pid()}")
    File.mkdir_p!(directory)
    true = Code.prepend_path(directory)
    for {vector, _} <- placed("type_extractor"), do: compile(vector, directory)
    on_exit(fn -> File.rm_rf!(directory) end)
    :ok
  end

  defp assert_expected(answer, %{match: :prefix, expect: {:error, prefix}}) do
    assert {:error, message} = answer
    assert String.starts_with?(message, prefix)
    assert byte_size(message) > byte_size(prefix)
  end

  defp assert_expected(answer, %{expect: expect}), do: assert(answer === expect)

  vectors "parse/1", "signature_parse", vector do
    assert_expected(Signature.parse(vector.input), vector)
    assert Parser.parse(vector.input) === Signature.parse(vector.input)
  end

  vectors "validate/2 and validate_input/2", "signature_validate", vector do
    assert_expected(
      apply(Signature, vector.function, [vector.signature, vector.data]),
      vector
    )

    if source = vector[:source],
      do: assert(Signature.parse(source) === {:ok, vector.signature})

    with %{function: :validate, signature: {:signature, _, type}} <- vector do
      assert_expected(Validator.validate(vector.data, type), vector)
    end
  end

  vectors "coerce/2,3", "coerce", vector do
    opts = if opts = vector[:opts], do: [opts], else: []
    assert_expected(apply(Coercion, :coerce, [vector.value, vector.type | opts]), vector)
  end

  vectors "Renderer", "render", vector do
    assert_expected(apply(Renderer, vector.function, vector.args), vector)
  end

  vectors "JSON Schema", ["json_schema", "signature_errors"], vector do
    assert_expected(apply(Signature, vector.function, vector.args), vector)
  end

  vectors "TypeResolver", "type_resolver", vector do
    assert_expected(apply(TypeResolver, vector.function, vector.args), vector)
  end

  vectors "Template", "template", vector do
    assert_expected(apply(Template, vector.function, vector.args), vector)
  end

  vectors "the firewall", "signature_firewall", vector do
    assert_expected(firewall(vector.function, vector.args), vector)

    if rendered = vector[:rendered],
      do: assert(Signature.render(vector.expect) === rendered)
  end

  defp firewall(:public_view_to_json_schema, [signature]),
    do: signature |> Signature.public_view() |> Signature.to_json_schema()

  defp firewall(function, args), do: apply(Signature, function, args)

  vectors "call_tool/4", "tool_contract", vector do
    test = self()

    tool = fn args ->
      send(test, {:called, args})
      vector.tool_returns
    end

    opts = Keyword.take(Map.to_list(vector), [:mode])

    capture_log(fn ->
      assert_expected(Signature.call_tool(vector.signature, vector.args, tool, opts), vector)
    end)

    case vector.tool_sees do
      :not_called -> refute_received {:called, _}
      args -> assert_received {:called, ^args}
    end
  end

  vectors "TypeExtractor", "type_extractor", vector do
    fun = captured(vector)
    capture_log(fn -> assert_expected(TypeExtractor.extract(fun), vector) end)
  end

  defp compile(vector, directory) do
    ExUnit.CaptureIO.capture_io(:stderr, fn ->
      for {module, beam} <- Code.compile_string(vector.source) do
        File.write!(Path.join(directory, "#{module}.beam"), beam)
      end
    end)
  end

  defp captured(vector) do
    module = Module.concat([vector.module])
    Function.capture(module, String.to_atom(vector.function), vector.arity)
  end
end
