defmodule PtcRunner.Native do
  @moduledoc false
  # Loads the native library; one function a NIF, nothing else. Options, defaults and messages are
  # made by the modules that call here.
  #
  # `depth` is how deep a program may nest; `given` is {context, memory, timeout, max_heap}, in
  # milliseconds (or :infinity) and words (0: no limit). A function whose name ends in `_dirty` does
  # the same on a dirty scheduler, where the work may take as long as it needs.

  @on_load :load

  @doc false
  def load do
    path = :filename.join(:code.priv_dir(:ptc_runner_native), ~c"native/ptc_nif")
    :erlang.load_nif(path, 0)
  end

  # native/ptc_nif/src/table.rs
  def operations, do: err()

  # native/ptc_nif/src/decode.rs
  def json_decode(_text), do: err()
  def json_decode_dirty(_text), do: err()
  def json_decode(_text, _depth), do: err()
  def json_decode_dirty(_text, _depth), do: err()

  # native/ptc_nif/src/encode.rs: {:ok, text} | {:partial, [text | foreign]} | :busy
  # | {:error, {:foreign, term} | {:not_utf8, binary, offset}}
  def json_encode(_term, _limit), do: err()
  def json_encode_dirty(_term, _limit), do: err()

  # native/ptc_nif/src/tools.rs: tools | :busy
  def merge_tools(_tools, _overrides), do: err()
  def merge_tools_dirty(_tools, _overrides), do: err()

  # native/ptc_nif/src/program.rs: {:ok, handle, consts} | :busy | {:error, _}
  def compile_text(_text, _depth), do: err()
  def compile_text_dirty(_text, _depth), do: err()
  def compile_node(_node, _depth), do: err()
  def compile_node_dirty(_node, _depth), do: err()

  # native/ptc_nif/src/run.rs: {:ok, value, words} | {:error, _} | :busy
  # | {:call, state, terms, tool, args, milliseconds_left} | {:more, state, terms}
  def run_text(_text, _depth, _given), do: err()
  def run_text_dirty(_text, _depth, _given), do: err()
  def run_node(_node, _checked?, _depth, _given), do: err()
  def run_node_dirty(_node, _checked?, _depth, _given), do: err()
  def run_compiled(_handle, _consts, _given), do: err()
  def run_compiled_dirty(_handle, _consts, _given), do: err()
  def resume(_state, _terms, _answer), do: err()
  def resume_dirty(_state, _terms, _answer), do: err()

  # native/ptc_nif/src/answer.rs: {:ok, value} | {:error, {reason, place | nil}}
  def answer_parse(_text), do: err()
  def answer_parse_dirty(_text), do: err()

  # {:ok | :hyphens | :map | :list, value} | {:invalid, errors, line}
  # | {:error, {reason, place | nil}}
  # | :busy; `list?`: the type is one of a list, which may be wrapped
  def answer_now(_text, _type, _list?), do: err()
  def answer_dirty(_text, _type, _list?), do: err()

  # native/ptc_nif/src/repair.rs: {:ok, value, [{kind, start, end, line, column, path}]}
  # | {:error, :no_reading | :memory_exceeded | {:ambiguous, [{line, column}]}} | :busy;
  # `type` may be nil
  def repair_value(_text, _type), do: err()
  def repair_value_dirty(_text, _type), do: err()

  # the same, judged as an answer, or {:undecided, value, repairs}
  def repair_answer(_text, _type, _list?), do: err()
  def repair_answer_dirty(_text, _type, _list?), do: err()
  def answer_is_part(_text), do: err()

  # native/ptc_nif/src/signature: `type` is a type term; each says :busy instead of taking too long
  def signature_lisp_key(_name), do: err()
  def signature_parse(_text), do: err()
  def signature_parse_dirty(_text), do: err()
  def signature_render(_type, _lisp?), do: err()
  def signature_render_dirty(_type, _lisp?), do: err()
  def signature_schema(_type), do: err()
  def signature_schema_dirty(_type), do: err()
  def signature_public(_type), do: err()
  def signature_public_dirty(_type), do: err()

  # :ok | {:error, errors, finished?} | {:unknown, type}
  def signature_validate(_type, _value, _closed?), do: err()
  def signature_validate_dirty(_type, _value, _closed?), do: err()

  # {:ok, value, warnings} | {:ask, questions} | {:refused, failure} | {:error, errors, finished?}
  # | :too_much | {:unknown, type}; `answers` are those to the questions, nil at first
  def signature_coerce(_type, _value, _answers), do: err()
  def signature_coerce_dirty(_type, _value, _answers), do: err()
  def signature_input(_type, _value, _answers), do: err()
  def signature_input_dirty(_type, _value, _answers), do: err()

  # native/ptc_nif/src/error_line.rs: a string, or :other for errors of other terms than usual
  def error_line(_errors), do: err()
  def error_line_dirty(_errors), do: err()

  # native/ptc_nif/src/stream.rs: a stream is a reference and how many bytes it has taken
  def stream_new(_type, _list?, _early?, _prose?), do: err()
  def stream_new_dirty(_type, _list?, _early?, _prose?), do: err()

  # the new number of bytes | {:halt, {path, message} | :not_an_object | :not_wrapped | :prose
  # | {:syntax, offset}} | :fork, if the reference went on without this stream | :busy
  def stream_feed(_state, _taken, _chunk), do: err()
  def stream_feed_dirty(_state, _taken, _chunk), do: err()
  def stream_fork(_state, _taken), do: err()

  # as `answer_now/3`
  def stream_finish(_state, _taken, _type, _list?), do: err()
  def stream_finish_dirty(_state, _taken, _type, _list?), do: err()

  # {:ok, value} | :none | :busy
  def stream_partial(_state, _taken), do: err()
  def stream_partial_dirty(_state, _taken), do: err()

  # the text so far
  def stream_text(_state, _taken), do: err()

  defp err, do: :erlang.nif_error(:nif_not_loaded)
end
