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

  defp err, do: :erlang.nif_error(:nif_not_loaded)
end
