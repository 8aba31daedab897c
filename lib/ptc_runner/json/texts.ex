defmodule PtcRunner.Json.Texts do
  @moduledoc false
  # The JSON texts in the context of a run, and those that tools answer. A long text is indexed, and the run reads it in place; any
  # other is decoded.

  alias PtcRunner.Json.{Codec, Deadline, Limits, NumberTokens, Program, Run, Text}
  alias PtcRunner.Json.Codec.{DecodeError, Reading}
  alias PtcRunner.Json.Run.{Reply, Start}
  alias PtcRunner.{Aligned, Native, Quanta, Shown}
  alias PtcRunner.Lisp.Program, as: Lisp
  alias PtcRunner.Native.Panic
  alias PtcRunner.SubAgent.{AnswerStream, Signature}
  alias PtcRunner.SubAgent.Signature.Exact
  import Bitwise
  require Quanta

  # A shorter text is decoded in less time than an index and a run over it would take.
  @short 4_096
  @few 4
  # A shorter answer of a tool is decoded in less time than a walk over it would take. What is decoded of a longer text is not short in the record of a call.
  @judged 16_384
  # Bytes of a text that are read to show its beginning.
  @beginning 4_096
  # As in native/ptc_lazy/src/term.rs: where the number of a text stands, and what stands for its whole value.
  @number_at 33
  @whole 0xFFFF_FFFF
  @markers 1 <<< 58
  # The index takes at most 0.142 bytes for each byte of its text, a word has eight bytes.
  @bytes_per_index_word 50

  @doc """
  Starts a run whose context has texts.

      iex> alias PtcRunner.Json.Run
      iex> node = %{"op" => "concat", "lists" => [%{"op" => "load", "name" => "n"}]}
      iex> context = %{"n" => PtcRunner.Json.text("[1, 2]")}
      iex> {:ok, value, _words} = PtcRunner.Json.Texts.start(%Run{program: {:checked, node}, context: context, limits: {1_000, 0, 100}})
      iex> value
      [1, 2]

  """
  @spec start(Run.t()) :: Reply.t()
  def start(run) do
    case few_short(run) do
      {:ok, context} -> Start.begin(%{run | context: context})
      :error -> start_limited(run)
    end
  end

  # A few short texts are decoded in less time than it takes to look at the limits of the run; the limits are looked at where
  # something is wrong.
  defp few_short(%Run{context: context, limits: {timeout, max_heap, _reading}}) do
    limits = {timeout || :infinity, max_heap || 0}
    few_short(:maps.to_list(context), context, limits, @few)
  end

  defp few_short([{key, %Text{binary: binary}} | rest], context, limits, few)
       when few > 0 and is_binary(binary) and byte_size(binary) <= @short do
    case Quanta.finish(Quanta.native(Native.json_decode(binary, :infinity, limits))) do
      {:ok, term} -> few_short(rest, %{context | key => term}, limits, few - 1)
      {:error, _reason} -> :error
    end
  end

  defp few_short([{_key, %Text{}} | _rest], _context, _limits, _few), do: :error
  defp few_short([_other | rest], context, limits, few), do: few_short(rest, context, limits, few)
  defp few_short([], context, _limits, _few), do: {:ok, context}

  defp start_limited(run) do
    {run, deadline} = limited(run)
    long = if readable?(run), do: long(run.context), else: []

    with [_ | _] <- long,
         {:ok, others} <- decoded(run, deadline, &short?/1),
         reply when reply != :decode <- over_texts(others, deadline, long) do
      reply
    else
      # Of several errors it is the first one.
      _not_in_place ->
        with {:ok, run} <- decoded(run, deadline, fn _text -> true end), do: Start.begin(run)
    end
  end

  # The time of decoding counts. Which limits hold is decided here, because the run gets what is left of them.
  defp limited(%Run{limits: {timeout, max_heap, reading}} = run) do
    {timeout, max_heap, _reading} = Limits.resolve({timeout, max_heap, 1})
    {%{run | limits: {timeout, max_heap, reading}}, Deadline.from_now(timeout)}
  end

  @doc "Whether a run reads a text of its context where it is, if its loops do not fork."
  @spec in_place?(Run.t()) :: boolean()
  def in_place?(%Run{} = run), do: readable?(%{run | forks?: false}) and long(run.context) != []

  # A run whose loops fork, an observed one, and one of a program that is compiled while it runs read what is decoded.
  defp readable?(%Run{forks?: true}), do: false
  defp readable?(%Run{program: {:observed, _observation, _program}}), do: false
  defp readable?(%Run{program: {:unchecked, _node}}), do: false
  defp readable?(_run), do: true

  defp long(context),
    do: for({key, %Text{} = text} <- sorted(context), not short?(text), do: {key, text.binary})

  defp short?(%Text{binary: binary}), do: not is_binary(binary) or byte_size(binary) <= @short

  defp sorted(context), do: Enum.sort(for {_key, %Text{}} = entry <- context, do: entry)

  defp decoded(%Run{limits: {_timeout, max_heap, reading}} = run, deadline, which) do
    texts = Enum.filter(sorted(run.context), fn {_key, text} -> which.(text) end)

    result =
      Enum.reduce_while(texts, {:ok, run.context}, fn {key, text}, {:ok, context} ->
        case read(key, text.binary, {Deadline.left(deadline), max_heap}) do
          {:ok, term} -> {:cont, {:ok, %{context | key => term}}}
          error -> {:halt, error}
        end
      end)

    with {:ok, context} <- result,
         do:
           {:ok, %{run | context: context, limits: {Deadline.left(deadline), max_heap, reading}}}
  end

  defp read(key, binary, {timeout, max_heap}) when is_binary(binary) do
    case decode(binary, timeout, max_heap) do
      {:ok, term} -> {:ok, term}
      {:error, %{reason: reason}} when reason in [:timeout, :memory_exceeded] -> {:error, reason}
      {:error, error} -> {:error, {:execution_error, "Context '#{name(key)}': #{text(error)}"}}
    end
  end

  defp read(key, _other, _limits),
    do: {:error, {:execution_error, "Context '#{name(key)}': the JSON text is not a binary"}}

  defp name(key) when is_binary(key), do: Shown.name(key)
  defp name(key), do: Shown.text(key)

  defp text(error), do: "JSON decode error: " <> Exception.message(error)

  @doc """
  Runs a compiled program over a context that is the object of a text. `given` is `{memory, timeout, max_heap}`; the index does
  not count. Returns the value and the words built, or why there is none: `:decode` for a text that is short, is no object or
  cannot be read in place.

      iex> {:ok, program} = PtcRunner.Json.compile(~s({"program": {"op": "load", "name": "n"}}))
      iex> text = ~s({"n": 1, "pad": ") <> String.duplicate("x", 5_000) <> ~s("})
      iex> {:ok, value, _words} = PtcRunner.Json.Texts.over_object(program, text, {%{}, 1_000, 5_000})
      iex> value
      1
      iex> PtcRunner.Json.Texts.over_object(program, "[]", {%{}, 1_000, 5_000})
      {:error, :decode}

  """
  @spec over_object(Program.t(), binary(), {map(), timeout(), non_neg_integer()}) ::
          {:ok, term(), non_neg_integer()}
          | {:error, :decode | :timeout | :memory_exceeded | term()}
  def over_object(%Program{} = program, text, {memory, timeout, max_heap}) do
    if byte_size(text) > @short and object?(text) do
      marker = marker()

      limit =
        if max_heap == 0, do: 0, else: max_heap + div(byte_size(text), @bytes_per_index_word)

      given = {{marker, @whole}, memory, timeout, limit}
      texts = {marker, Aligned.text(text)}

      case Quanta.finish(Native.start(program.handle, program.consts, given, {:texts, texts})) do
        {:ok, _value, _words} = done -> done
        {:error, reason} -> {:error, reason}
        # It calls a tool.
        _reply -> {:error, :decode}
      end
    else
      {:error, :decode}
    end
  end

  defp object?(<<blank, rest::binary>>) when blank in ~c" \n\r\t", do: object?(rest)
  defp object?(text), do: match?("{" <> _, text)

  defp marker, do: @markers |> :rand.uniform_s(:rand.seed_s(:exsss)) |> elem(0)

  # The native part knows the values of texts by a marker that no other tuple has.
  defp over_texts(%Run{limits: {_timeout, max_heap, reading}} = run, deadline, long) do
    marker = marker()

    {context, texts, _number} =
      Enum.reduce(long, {run.context, [], 0}, fn {key, binary}, {context, texts, number} ->
        value = {marker, (number <<< @number_at) + @whole}
        {%{context | key => value}, [Aligned.text(binary) | texts], number + 1}
      end)

    run = %{run | context: context, limits: {Deadline.left(deadline), max_heap, reading}}
    texts = List.to_tuple([marker | Enum.reverse(texts)])

    with {:ok, handle, consts} <- built(run),
         do: Quanta.finish(native(handle, consts, run, texts))
  end

  defp native(handle, consts, run, texts) do
    Native.start(handle, consts, Start.given(run), {:texts, texts})
  rescue
    # The handle is from another node, or from this one before a restart.
    error in ArgumentError ->
      case run do
        %Run{program: %Program{} = program, limits: {timeout, max_heap, _reading}} ->
          with {:ok, handle, consts} <- Program.rebuild(program, {timeout, max_heap}),
               do: Native.start(handle, consts, Start.given(run), {:texts, texts})

        %Run{program: %Lisp{}} ->
          with {:ok, %Lisp{handle: handle, consts: consts}} <- Start.lisp_again(run),
               do: Native.start(handle, consts, Start.given(run), {:texts, texts})

        _source ->
          reraise error, __STACKTRACE__
      end
  end

  defp built(%Run{program: %Program{handle: handle, consts: consts}}),
    do: {:ok, handle, consts}

  defp built(%Run{program: %Lisp{handle: handle, consts: consts}}), do: {:ok, handle, consts}

  defp built(%Run{program: source, limits: {timeout, max_heap, reading}}),
    do: Program.build(source, reading, {timeout, max_heap})

  @doc """
  Whether a run should read the answer of a tool in place. Then the driver gives it `lent/2`.

      iex> PtcRunner.Json.Texts.long?(PtcRunner.Json.text("[1, 2]"))
      false

      iex> PtcRunner.Json.Texts.long?(PtcRunner.Json.text(String.duplicate(" ", 5_000) <> "1"))
      true

  """
  @spec long?(Text.t()) :: boolean()
  def long?(%Text{} = text), do: not short?(text)

  @doc """
  What a run is resumed with if a tool has answered a long text. Its reply is `{:decode, state, terms, {name, binary}}` if it does not
  read that text in place; then it is resumed with what the text is decoded to.

      iex> PtcRunner.Json.Texts.lent("fetch", PtcRunner.Json.text("[1, 2]"))
      {"fetch", "[1, 2]"}

  """
  @spec lent(String.t(), Text.t()) :: {String.t(), binary()}
  def lent(name, %Text{binary: binary}), do: {name, Aligned.text(binary)}

  @doc """
  The answer of a tool whose result has this type: a long text that is of the type, as it is; what any other text stands for; and any
  other answer as it is. The type is nil if the run does not read the text in place.

      iex> rows = PtcRunner.Json.text("[" <> String.duplicate(~s({"id": 1}, ), 2_000) <> ~s({"id": 2}]))
      iex> type = &{:list, {:map, [{"id", &1}]}}
      iex> PtcRunner.Json.Texts.typed(rows, type.(:int)) == rows
      true
      iex> PtcRunner.Json.Texts.typed(rows, type.(:string)) |> hd()
      %{"id" => 1}

  """
  @spec typed(term(), Signature.type() | nil) :: term()
  def typed(%Text{binary: binary} = text, type)
      when type != nil and is_binary(binary) and byte_size(binary) > @judged do
    if type?(binary, type), do: text, else: answer(text)
  end

  def typed(other, _type), do: answer(other)

  # It is decoded if the native function panics, too.
  defp type?(binary, type) do
    Quanta.finish(Quanta.native(Native.text_has_type(Aligned.text(binary), type)))
  catch
    :error, :nif_panicked -> false
  end

  @doc """
  The answer of a tool whose result has decimals or dates: what the text stands for, with the digits of its numbers.

      iex> alias PtcRunner.Json.Texts
      iex> %{"d" => decimal} = Texts.exact(PtcRunner.Json.text(~s({"d": 12345678901234567.89})), {:map, [{"d", :decimal}]})
      iex> if is_binary(decimal), do: decimal, else: PtcRunner.Json.Values.text(decimal)
      "12345678901234567.89"

  """
  @spec exact(Text.t(), Signature.type()) :: term()
  def exact(%Text{binary: binary}, type) when is_binary(binary) do
    case exactly(binary, type) do
      {:ok, term} -> term
      {:error, detail} -> with_large(binary, type, detail)
    end
  catch
    :error, :nif_panicked -> {:error, Panic.caught()}
  end

  def exact(%Text{} = text, _type), do: answer(text)

  defp exactly(binary, type) do
    with {:ok, term} <-
           Quanta.finish(
             Quanta.native(Native.json_decode_exact(Aligned.text(binary), {:infinity, 0}))
           ),
         do: {:ok, Exact.of_json(term, type)}
  end

  # A number that no float can hold is the text of its digits, which is a decimal too.
  defp with_large(binary, type, detail) do
    with text when text != nil <- NumberTokens.with_large_quoted(binary),
         {:ok, term} <- exactly(text, type) do
      term
    else
      _none -> {:error, "the answer is not JSON. " <> text(DecodeError.new(detail))}
    end
  end

  @doc """
  The text of a value, or of the value that a JSON text begins with.

      iex> rows = "[" <> String.duplicate(~s({"id": 1, "_pin": 2}, ), 20) <> "3]"
      iex> PtcRunner.Json.Texts.shown(PtcRunner.Json.text(rows), 64)
      ~S|[%{"_pin" => …, "id" => 1}, %{"_… (a JSON text of 443 bytes)|

  """
  @spec shown(term(), pos_integer()) :: String.t()
  def shown(%Text{binary: binary}, limit) do
    size = "a JSON text of #{byte_size(binary)} bytes"
    beginning = binary_part(binary, 0, min(byte_size(binary), @beginning))
    stream = AnswerStream.new(if object?(beginning), do: "() -> :map", else: "() -> [:any]")

    with {:cont, stream} <- AnswerStream.feed(stream, beginning),
         {:ok, value} <- AnswerStream.partial(stream) do
      Shown.beginning(value, limit, size)
    else
      # A string or a number.
      _none -> size
    end
  end

  def shown(value, limit), do: Shown.text(value, limit)

  # Bytes of a text whose terms may be more than a process of a tool may have: it is checked first.
  @large 100_000

  @doc """
  The answer of a tool: what a text stands for, and any other answer as it is.

      iex> PtcRunner.Json.Texts.answer(PtcRunner.Json.text(~s({"a": 1})))
      %{"a" => 1}

      iex> PtcRunner.Json.Texts.answer(PtcRunner.Json.text("[1,]"))
      {:error, "the answer is not JSON. JSON decode error: Unexpected token at position 3"}

  """
  @spec answer(term()) :: term()
  # The process of the tool has the limits.
  def answer(%Text{binary: binary}) when is_binary(binary) do
    case byte_size(binary) > @large && broken(binary, :infinity) do
      {:error, error} -> {:error, "the answer is not JSON. " <> text(error)}
      _valid_or_small -> answer(binary, :infinity, 0)
    end
  end

  def answer(%Text{}), do: {:error, "the JSON text is not a binary"}
  def answer(other), do: other

  @doc """
  What the text that a tool has answered stands for, where no process of the tool has the limits.

      iex> PtcRunner.Json.Texts.answer("[1, 2]", 1_000, 10_000)
      [1, 2]

      iex> PtcRunner.Json.Texts.answer("[" <> String.duplicate("1, ", 999) <> "2]", 1_000, 233)
      {:error, :memory_exceeded}

  """
  @spec answer(binary(), timeout(), non_neg_integer()) :: term()
  def answer(binary, timeout, max_heap) do
    case decode(binary, timeout, max_heap) do
      {:ok, term} -> term
      {:error, %{reason: reason}} when reason in [:timeout, :memory_exceeded] -> {:error, reason}
      {:error, error} -> {:error, "the answer is not JSON. " <> text(error)}
    end
  end

  # A text that is too large to be decoded may be no JSON: then this is the error. It is found without building anything.
  defp decode(binary, timeout, max_heap) do
    with {:error, %{reason: :memory_exceeded}} = exceeded <-
           Codec.decode(binary, timeout: timeout, max_heap: max_heap),
         do: broken(binary, timeout) || exceeded
  end

  # It is decoded if the native function panics, too.
  defp broken(binary, timeout) do
    with {_, _} = detail <- Reading.fault(binary, timeout), do: {:error, DecodeError.new(detail)}
  catch
    :error, :nif_panicked -> nil
  end
end
