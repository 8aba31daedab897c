defmodule PtcRunner.Native do
  @moduledoc """
  What this library does beside `ptc_runner`: `info/0`, `attach/0`, `detach/0`.

  In an application that depends on `ptc_runner` too, modules of this library take the place of the
  originals when the application starts. The configuration says which:

      config :ptc_runner_native, overlay: :auto   # all that can (the default)
      config :ptc_runner_native, overlay: :off
      config :ptc_runner_native, overlay: [PtcRunner.SubAgent.Signature]

  All other functions here are the native ones, which only the modules of this library call.
  """

  # One function a NIF. Options, defaults and messages are made by the modules that call here.
  #
  # `depth` is how deep a program may nest; `given` is {context, memory, timeout, max_heap}, in
  # milliseconds (or :infinity) and words (0: no limit). A function whose name ends in `_dirty` does
  # the same on a dirty scheduler, where the work may take as long as it needs.
  #
  # The module cannot be replaced in a running VM: a NIF library that knows no upgrade cannot. Loading
  # it a second time is refused, and what is loaded stays in use.

  alias PtcRunner.Native.Library
  require Library

  @on_load :load

  @doc false
  def load do
    path = Library.path()

    with :ok <- Library.check(path),
         :ok <- :erlang.load_nif(path, 0) do
      Library.loaded(:ok)
    else
      {:error, {reason, text}} -> Library.loaded(Library.load_error(reason, text))
      {:error, sentence} -> Library.loaded({:error, sentence})
    end
  end

  alias PtcRunner.Native.Overlay

  @doc """
  What is native in this application, as data.

  `:modules` says for each module that `ptc_runner` has too: `:replaced` by the native one, or
  `{:left, reason}`; `:added` stands for one that the release of `ptc_runner` does not have. Without
  `ptc_runner` the list is empty: then all modules are this library's own.

      iex> PtcRunner.Native.info()
      %{version: "0.1.0", ptc_runner: nil, modules: []}

  """
  @spec info() :: %{
          version: String.t(),
          ptc_runner: String.t() | nil,
          modules: [{module(), Overlay.state()}]
        }
  def info do
    Application.load(:ptc_runner_native)

    %{
      version: "#{Application.spec(:ptc_runner_native, :vsn)}",
      ptc_runner: Overlay.release(),
      modules: Overlay.states()
    }
  end

  @doc """
  Puts the native modules in the place of the originals of `ptc_runner`, as the configuration says;
  what came of it. The application does it when it starts; calling it again does no harm.

      iex> PtcRunner.Native.attach()
      []

  """
  @spec attach() :: [{module(), Overlay.state()}]
  def attach, do: Overlay.attach(Application.get_env(:ptc_runner_native, :overlay, :auto))

  @doc """
  Puts the originals of `ptc_runner` back.

      iex> PtcRunner.Native.detach()
      :ok

  """
  @spec detach() :: :ok
  def detach, do: Overlay.detach()

  # native/ptc_nif/src/table.rs
  @doc false
  def operations, do: err()

  # native/ptc_nif/src/names.rs: the value of the key that spells the name otherwise
  @spec name_twin(map(), binary(), :string | :atom | :keyword) ::
          {:ok, term()} | :error | :too_long
  def name_twin(_map, _name, _of), do: err()

  # `limits` are {timeout, max_heap}, as in `given`. What is left in the middle is
  # {:more | :long, state, terms}: see `PtcRunner.Quanta`.

  # native/ptc_nif/src/decode.rs
  def json_decode(_text, _depth, _limits), do: err()

  # native/ptc_nif/src/encode.rs: {:ok, text} | {:partial, [text | foreign]} | :busy
  # | {:error, {:foreign, term} | {:not_utf8, binary, offset} | :too_long | limit}
  def json_encode(_term, _max_bytes, _limits), do: err()
  def json_encode_dirty(_term, _max_bytes, _limits), do: err()

  # native/ptc_nif/src/tools.rs: tools | :busy
  def merge_tools(_tools, _overrides), do: err()
  def merge_tools_dirty(_tools, _overrides), do: err()

  # native/ptc_nif/src/program.rs: {:ok, handle, consts} | {:error, _} | {:more | :long, _, _}
  def compile_text(_text, _depth, _limits), do: err()
  def compile_node(_node, _depth, _limits), do: err()

  # native/ptc_nif/src/run.rs: {:ok, value, words} | {:error, _}
  # | {:call, state, terms, tool, args, milliseconds_left} | {:limits, state, terms}
  # | {:more | :long, state, terms}: go on with `resume/3` or with `resume_dirty/3`
  def run_text(_text, _depth, _given), do: err()
  def run_node(_node, _checked?, _depth, _given), do: err()
  def run_compiled(_handle, _consts, _given), do: err()

  # goes on with anything that was left, for a slice or for a quantum
  def resume(_state, _terms, _answer), do: err()
  def resume_dirty(_state, _terms, _answer), do: err()

  # native/ptc_nif/src/answer.rs: {:ok, value} | {:error, {reason, place | nil} | limit}
  def answer_parse(_text, _limits), do: err()

  # {:ok | :hyphens | :map | :list, value} | {:invalid, errors, line}
  # | {:error, {reason, place | nil} | limit}; `list?`: the type is one of a list, which may be wrapped
  def answer_read(_text, _type, _list?, _limits), do: err()

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
  def signature_lisp_key_dirty(_name), do: err()
  def signature_parse(_text), do: err()
  def signature_parse_dirty(_text), do: err()
  def signature_render(_type, _lisp?), do: err()
  def signature_render_dirty(_type, _lisp?), do: err()
  def signature_schema(_type), do: err()
  def signature_schema_dirty(_type), do: err()
  def signature_public(_type), do: err()
  def signature_public_dirty(_type), do: err()

  # what follows is also {:more, state, terms} on a dirty scheduler: resume goes on, for a quantum
  def signature_resume(_type, _state, _terms), do: err()

  # :ok | {:error, errors, finished?} | {:unknown, type}
  def signature_validate(_type, _value, _closed?), do: err()
  def signature_validate_dirty(_type, _value, _closed?), do: err()

  # {:ok, value, warnings} | {:ask, questions} | {:refused, failure, hidden?}
  # | {:error, errors, finished?} | :too_much | {:unknown, type}; `answers` are those to the questions, nil at first
  def signature_coerce(_type, _value, _answers), do: err()
  def signature_coerce_dirty(_type, _value, _answers), do: err()
  def signature_input(_type, _value, _answers), do: err()
  def signature_input_dirty(_type, _value, _answers), do: err()

  # native/ptc_nif/src/error_line.rs: a string, or :other for errors of other terms than usual
  def error_line(_errors), do: err()
  def error_line_dirty(_errors), do: err()

  # native/ptc_nif/src/stream.rs: a stream is a reference, and how many bytes it has taken
  def stream_new(_type, _list?, _early?, _prose?), do: err()
  def stream_new_dirty(_type, _list?, _early?, _prose?), do: err()

  # the new number of bytes | {:halt, {path, message} | :not_an_object | :not_wrapped | :prose
  # | {:syntax, offset}} | :fork, if the reference went on without this stream | :busy
  def stream_feed(_state, _taken, _chunk), do: err()
  def stream_feed_dirty(_state, _taken, _chunk), do: err()

  # a reference of its own for a stream that took this text
  def stream_again(_state, _text), do: err()

  # {:ok, value} | :none | :busy; `text`: all that the stream took
  def stream_partial(_state, _text), do: err()
  def stream_partial_dirty(_state, _text), do: err()

  # native/ptc_nif/src/weigh.rs: words | :too_much | {:funs, funs, words} | :busy
  def weigh_now(_pending, _words, _limit), do: err()
  def weigh_dirty(_pending, _words, _limit), do: err()

  # native/ptc_nif/src/normalize: {:ok, value} | {:improper, tail} | :busy;
  # `form` is :keys, :cache_key or :public
  def normalize(_term, _form), do: err()
  def normalize_dirty(_term, _form), do: err()

  # native/ptc_nif/src/panics.rs
  def take_panics, do: err()
  def panic_for_test(_message), do: err()

  # native/ptc_nif/src/clock.rs, for tests: how long each NIF holds its thread. `clock_switch/1` says
  # whether the system has such a clock. [{name, dirty?, calls, calls of more than 2 ms,
  # {min, p50, p99, max, total}}], in nanoseconds
  def clock_switch(_on?), do: err()
  def clock_read, do: err()

  # native/ptc_nif/src/bare.rs, for benchmarks: the map of `id`, `label` and `value` out of `id`, `name` and `amount`
  # of each row, as a plain loop over the NIF interface makes it; at most 10,000 rows
  def bare_objects(_rows), do: err()

  defp err, do: :erlang.nif_error(Library.not_loaded())
end
