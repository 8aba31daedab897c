defmodule PtcRunner.Native do
  @moduledoc """
  Information about this library, and its use beside `ptc_runner`: `info/0`, `attach/0`, `detach/0`.

  In an application that also depends on `ptc_runner`, modules of this library replace the
  originals when the application starts. The configuration selects them:

      config :ptc_runner_native, overlay: :auto   # all that can (the default)
      config :ptc_runner_native, overlay: :off
      config :ptc_runner_native, overlay: [PtcRunner.SubAgent.Signature]
      config :ptc_runner_native, lisp: :native    # programs of PTC-Lisp, too

  All other functions here are native; only the modules of this library call them.
  """

  # ## The native functions
  #
  # The calling modules handle options, defaults and messages. `pair` declares two functions:
  # see `PtcRunner.Native.Stub`; `PtcRunner.Quanta` calls them.
  #
  # ## Replies
  #
  #   * `:ok`, `{:ok, …}` - the result
  #   * `{:error, reason}` - the reason why there is no result, for the caller of the library
  #   * any other atom, and a tuple with another tag - a case that Elixir handles, see the spec
  #   * `:busy` - a slice is not enough, and no work was kept: call the twin. The twin returns it only
  #     if its caller has ended.
  #   * `{:more | :long, state, terms}` - suspended: `resume/3`, for a slice, or `resume_dirty/3`,
  #     for a quantum, resumes it with `:more`
  #   * `{:limits, state, terms}` - suspended because its limits are not known yet: `resume/3` resumes it
  #     with `{:limits, timeout, max_heap}`
  #   * `{:call, state, terms, tool, args, milliseconds, weight, address, round}` - suspended for a tool, which has this much time
  #     (or `:infinity`): `resume/3` resumes it with `{:answer, term, words}`. The weight is the words of a copy of
  #     `args`, or nil if only `weigh/3` can tell. The address is that of the call in the program. The round is nil
  #     unless the run goes through a loop in turn.
  #     After `{:replayed, term, words}` instead, the next reply may be `{:ahead, state, terms, tool, [args, …], milliseconds, address, round}`:
  #     the run calls the tool in the rounds that follow too, and may be resumed with `{:replayed_all, answers, words}`, a list of at most as
  #     many answers.
  #     With `{:unanswered, nil, 0}` instead the run stays where it is. The reply is that of another one, which goes on behind the call and ends,
  #     with a value that means nothing, where something could read the answer; `:uncaught` if there is no such run.
  #   * `{:moves, state, terms, tool, args, milliseconds, words}` - suspended for a tool; the run should move to the process of its
  #     tools, where it is resumed with `{:moved, term, words}`. The words are those of a copy of `terms` and `args`;
  #     `{:at_most, words}` if only `weigh/3` can tell whether it is small enough.
  #   * `{:moved_call, state, terms, tool, args, built}` - a run that has moved is suspended for a tool. It has built this many words.
  #   * `{:moved_calls, state, terms, tool, [args, …], built}` - the same run, whose next rounds call the tool too: it may be resumed with
  #     `{:moved_all, answers, words}`, a list of at most as many answers, or as after `:moved_call`
  #   * `{:calls, state, terms, tool, [args, …], milliseconds, built, address}` - a run of PTC-Lisp that forks, or of
  #     PTC-JSON that does not, whose next rounds call the tool too: it may be resumed with `{:answers, answers, words}`, a list of at most as many answers, or as after `:call`
  #   * `{:last, tool, args, milliseconds, weight, address, built}` - the tool's answer is the value of
  #     the program, so nothing is suspended
  #   * `{:decode, state, terms, tool, text}` - a run that was resumed with `{:text, {tool, text}, words}`, the JSON text that
  #     a tool has answered, does not read it in place: it is resumed with what that is decoded to, as with any answer.
  #     `:text_moved` stands for `:text` in the process of the tools.
  #   * `{:fork, state, terms, loop, list, milliseconds, tools}` - suspended at the start of a loop whose rounds may
  #     overlap, and which calls the tools with these names: `resume/3` resumes it with `{:joined, value of the loop, words}`; or with `{:in_turn, nil, 0}`: then it goes through the loop itself,
  #     one round after another. With `{:round, item, 0}` the run stays where it is, here and at each call of a round in turn. The reply is that of another one, whose value is that of
  #     the loop's body for the item
  #
  # Suspended work is resumed once, with its own terms; anything else raises `ArgumentError`. Functions with
  # only one kind of reply return it without a tag: `operations/1`, `answer_is_part/1`, and the functions for tests.
  #
  # The module cannot be replaced in a running VM, because the NIF library does not support upgrades. Loading
  # it a second time is refused, and the loaded code stays in use.

  import PtcRunner.Native.Stub, only: [nif: 1, pair: 1]

  alias PtcRunner.Json.Edition
  alias PtcRunner.Native.{Library, Overlay, Types}

  # Loading this module needs the other one.
  Code.ensure_compiled!(Library)
  @on_load :load

  @doc false
  def load do
    path = Library.path()

    with :ok <- Library.check(path),
         :ok <- :erlang.load_nif(path, Library.load_info()) do
      Library.loaded(:ok)
    else
      {:error, {reason, text}} -> Library.loaded(Library.load_error(reason, text))
      {:error, sentence} -> Library.loaded({:error, sentence})
    end
  end

  @doc """
  Reports the native modules of this application, as data.

  `:modules` lists each module that `ptc_runner` has too: `:replaced` by the native one, or
  `{:left, reason}`; `:added` means that the release of `ptc_runner` does not have the module. Without
  `ptc_runner` the list is empty: then all modules are this library's own.

  `:lisp` counts programs of PTC-Lisp beside `ptc_runner`, with `lisp: :native` in the configuration: `%{native: count, original: count}`.

  `:map_view` reports how small maps are read: `:direct`, in place in memory, or `:iterator`, entry
  by entry, which is slower. It is `:iterator` on a VM with another map layout than that of OTP 25 to 27,
  or if `PTC_RUNNER_NATIVE_MAP_VIEW` is `iterator` in the environment when the library is loaded.

      iex> PtcRunner.Native.info()
      %{version: "0.1.0", ptc_runner: nil, modules: [], lisp: nil, map_view: :direct}

  """
  @spec info() :: %{
          version: String.t(),
          ptc_runner: String.t() | nil,
          modules: [{module(), Overlay.state()}],
          lisp: %{native: non_neg_integer(), original: non_neg_integer()} | nil,
          map_view: :direct | :iterator
        }
  def info do
    Application.load(:ptc_runner_native)

    %{
      version: "#{Application.spec(:ptc_runner_native, :vsn)}",
      ptc_runner: Overlay.release(),
      modules: Overlay.states(),
      lisp: PtcRunner.Lisp.Beside.counts(),
      map_view: map_view()
    }
  end

  @doc """
  Replaces the originals of `ptc_runner` with the native modules, and decides which edition of the language is the
  default, according to the configuration. Returns the state of each module. The application does this when it starts; another call does no harm.

      iex> PtcRunner.Native.attach()
      []

  """
  @spec attach() :: [{module(), Overlay.state()}]
  def attach do
    states = Overlay.attach(Application.get_env(:ptc_runner_native, :overlay, :auto))
    with {:error, sentence} <- Edition.decide(), do: raise(ArgumentError, sentence)
    states
  end

  @doc """
  Puts the originals of `ptc_runner` back.

      iex> PtcRunner.Native.detach()
      :ok

  """
  @spec detach() :: :ok
  def detach, do: Overlay.detach()

  # native/ptc_nif/src/table.rs: {name, family, about, types, shape, [{field, kind, presence, about, values, choices}]}
  nif(
    operations(1 | 2) :: [
      {String.t(), String.t(), String.t(), String.t(), String.t(),
       [{String.t(), atom(), atom(), String.t(), String.t(), [String.t()]}]}
    ]
  )

  # native/ptc_nif/src/table.rs: the built-ins of PTC-Lisp, by section: {name, arguments, about}
  nif(built_ins() :: [{String.t(), [{String.t(), String.t(), String.t()}]}])

  # native/ptc_nif/src/names.rs: the value of the key that spells the name differently; nil instead of `:error`
  nif(
    name_twin(map(), name :: binary() | atom(), :string | :atom | :keyword) ::
      {:ok, term()} | :error
  )

  nif(name_twin_value(map(), name :: binary() | atom(), :string | :atom | :keyword) :: term())

  # native/ptc_nif/src/similar.rs: the most similar name, and the names that were not compared yet
  pair(
    nearest(word :: binary(), names :: [binary()]) ::
      {:ok, {binary(), float()} | nil, [binary()]} | :busy
  )

  # native/ptc_nif/src/bits_view.rs: an aligned binary
  pair(aligned(binary()) :: {:ok, binary()} | :busy)

  # native/ptc_nif/src/decode.rs; exact: see `PtcRunner.SubAgent.Signature.Exact`
  nif(
    json_decode(text :: binary(), depth :: non_neg_integer() | :infinity, Types.limits()) ::
      {:ok, term()} | {:error, tuple() | Types.limit()} | Types.left()
  )

  # words: as limits count them; held: in the memory of a heap, about
  nif(
    json_measure(text :: binary(), depth :: non_neg_integer() | :infinity, Types.limits()) ::
      {:ok, {words :: non_neg_integer(), held :: non_neg_integer()}}
      | {:error, tuple() | Types.limit()}
      | Types.left()
  )

  nif(
    json_decode_exact(text :: binary(), Types.limits()) ::
      {:ok, term()} | {:error, tuple() | Types.limit()} | Types.left()
  )

  # native/ptc_nif/src/texts.rs: whether a text is JSON that can be read in place and has this type
  nif(text_has_type(text :: binary(), Types.type()) :: boolean() | Types.left())

  # native/ptc_nif/src/encode.rs: `:partial` has the foreign terms between the pieces of text
  nif(json_encode(term(), max_bytes :: pos_integer(), Types.limits()) :: Types.written())

  # native/ptc_nif/src/tools.rs
  pair(merge_tools(tools :: list(), overrides :: list()) :: {:ok, list()} | :busy)

  # native/ptc_nif/src/program
  nif(compile_text(binary(), Types.reading(), Types.limits()) :: Types.compiled())
  nif(compile_node(term(), Types.reading(), Types.limits()) :: Types.compiled())

  # native/ptc_nif/src/lisp.rs: `added` are functions of the memory, each with the names of what it has captured; `shadowed` are
  # built-ins whose names the memory has; the lists of names are followed by the number of unique
  # symbols, the names of the data, and the places that call tools. `:place`: the part of the program's text that belongs to the first address that has one,
  # of the addresses of a run that has failed, the innermost first
  nif(
    lisp_compile(
      {source :: binary(), added :: [{String.t(), [String.t()]}], shadowed :: [String.t()],
       observed? :: boolean()},
      {:program, empty_set :: struct(), most_symbols :: non_neg_integer()}
      | {:place, addresses :: [non_neg_integer()]},
      Types.limits()
    ) ::
      {:ok, handle :: reference(), consts :: tuple(), names :: tuple()}
      | {:ok, {start :: non_neg_integer(), stop :: non_neg_integer()} | nil}
      | {:error, {:problem, String.t(), String.t(), list(), non_neg_integer(), non_neg_integer()}}
      | {:error, :timeout | :memory_exceeded}
      | Types.left()
  )

  # a program that was compiled from this text, with other observation; nothing is read
  nif(
    compile_again(
      handle :: reference(),
      binary(),
      :observed | :findings | nil,
      Types.limits()
    ) :: Types.compiled()
  )

  # native/ptc_nif/src/check.rs
  nif(
    check_program(
      source :: term(),
      Types.reading(),
      types :: map() | nil,
      tools :: map() | nil,
      memory :: map() | nil,
      returns :: term(),
      Types.limits()
    ) :: Types.checked()
  )

  # a program that was compiled, with its constants and its text, or nil if it is a term; nothing is read
  nif(
    check_compiled(
      handle :: reference(),
      consts :: tuple(),
      binary() | nil,
      :findings | :observed | :plan | :recipes,
      types :: map() | nil,
      tools :: map() | nil,
      memory :: map() | nil,
      returns :: term(),
      Types.limits()
    ) :: Types.checked()
  )

  # without a handle, the text is read
  nif(
    locate(handle :: reference() | nil, binary(), path :: [binary() | non_neg_integer()]) ::
      {:ok, {pos_integer(), pos_integer()} | nil} | Types.left()
  )

  nif(type_of(term(), rows :: pos_integer()) :: {:ok, term()} | Types.left())

  # native/ptc_nif/src/start.rs: starts a run, of any program. `:calls`: see `Types.how`; `:texts`: its context has texts, and it was not
  # started over these; `:decode`: a text must be decoded
  nif(
    start(
      Types.program(),
      consts_or_reading :: tuple() | Types.reading(),
      Types.given(),
      Types.how()
    ) :: Types.run()
  )

  # native/ptc_nif/src/moving.rs
  nif(time_left(state :: reference()) :: timeout())

  # native/ptc_nif/src/guard.rs
  nif(guard(caller :: pid()) :: :ok | :none | :gone)
  nif(unguard(pid()) :: :ok)
  nif(exiting() :: boolean())
  nif(take_orphans() :: [pid()])

  # native/ptc_nif/src/kept.rs: a place for answers, with the time now and its units in a second; keeps an answer of so many words; the time now;
  # takes the first answers out, and says whether there are more
  nif(keep_answers(since :: integer(), units :: pos_integer()) :: reference())
  nif(keep_answer(reference(), answer :: term(), words :: non_neg_integer()) :: :ok)
  nif(kept_time(reference()) :: integer())

  nif(
    kept_answers(reference()) ::
      {more? :: boolean(), [{answer :: term(), words :: non_neg_integer(), at :: integer()}]}
  )

  # native/ptc_nif/src/explain.rs: a resource for the counts of one run of a program that was compiled for
  # observation; the counts: {number | nil, [{parent | nil, place, op, counts, keys}]}, or nil

  nif(observation(handle :: reference()) :: reference())

  # native/ptc_nif/src/source.rs: of a program that was compiled from this text (nil: from a term), the part at a path, the path of
  # the call at an address, and the bytes that it keeps of its source
  nif(
    program_part(handle :: reference(), binary(), path :: [term()]) ::
      {:ok, term()} | Types.left()
  )

  nif(
    call_path(handle :: reference(), consts :: tuple(), binary() | nil, non_neg_integer()) ::
      {:ok, [term()] | nil} | Types.left()
  )

  nif(source_bytes(handle :: reference()) :: pos_integer())

  # the digest of a program, which its handle keeps with that of the text
  nif(keep_digest(handle :: reference(), text :: binary(), program :: binary()) :: :ok)
  nif(kept_digest(handle :: reference(), text :: binary()) :: binary() | nil)

  # what a program loads
  nif(context_names(handle :: reference(), consts :: tuple()) :: [term()])

  pair(
    observed(reference(), consts :: tuple()) ::
      {non_neg_integer() | nil, [tuple()]} | nil | :busy
  )

  # native/ptc_nif/src/resume.rs
  pair(
    resume(
      state :: reference(),
      terms :: tuple(),
      :more
      | {:answer | :moved | :joined | :text | :text_moved, term(), words :: non_neg_integer()}
      | {:limits, timeout(), max_heap :: non_neg_integer()}
    ) :: Types.run() | term()
  )

  # native/ptc_nif/src/answer.rs; `list?`: the type is that of a list, which may be wrapped.
  # `found` is the value with its own keys, and `form` says where it is and whether its keys are the declared ones. `coerce?`: a value of
  # another type is coerced, if they are. `:hyphens`: valid, but two of its keys would become equal; `:undecided`:
  # not judged; `:unfit`: not an object, or not a list. `all?`: all errors are wanted, and no line of them; otherwise
  # the first errors, the line, and the number of errors that are not listed
  nif(
    answer_find(binary(), Types.limits()) ::
      {:ok, start :: non_neg_integer(), length :: pos_integer()}
      | Types.unread()
  )

  nif(
    answer_parse(binary(), Types.limits()) ::
      {:ok, term()} | Types.unread()
  )

  nif(
    answer_read(
      binary(),
      Types.type(),
      list? :: boolean(),
      all? :: boolean(),
      exact? :: boolean(),
      coerce? :: boolean(),
      Types.limits()
    ) ::
      Types.judged() | Types.unread()
  )

  # native/ptc_nif/src/repair.rs; the type may be nil; repairs: {kind, start, end, line, column, path}
  # `at_end`: 0 closes what is open at the end of the text, 1 only objects, 2 nothing
  pair(
    repair_value(binary(), Types.type(), at_end :: 0..2, exact? :: boolean(), Types.limits()) ::
      {:ok, term(), [tuple()]} | Types.unrepaired()
  )

  pair(
    repair_answer(
      binary(),
      Types.type(),
      list? :: boolean(),
      at_end :: 0..2,
      exact? :: boolean(),
      Types.limits()
    ) ::
      {:ok | :undecided, term(), [tuple()]} | Types.unrepaired()
  )

  nif(answer_is_part(binary()) :: boolean())

  # native/ptc_nif/src/signature
  pair(signature_lisp_key(binary()) :: {:ok, String.t()} | :busy)
  pair(signature_parse(binary()) :: {:ok, tuple()} | {:error, tuple()} | :busy)

  pair(
    signature_render(Types.type(), lisp? :: boolean()) ::
      {:ok, String.t()} | :too_long | {:unknown, term()} | :busy
  )

  pair(signature_schema(Types.type()) :: {:ok, map()} | {:unknown, term()} | :busy)
  pair(signature_public(Types.type()) :: {:ok, Types.type()} | :busy)

  # `finished?`: Elixir has no error to complete
  pair(
    signature_validate(Types.type(), term(), closed? :: boolean()) ::
      :ok
      | {:error, errors :: list(), finished? :: boolean()}
      | {:unknown, term()}
      | :busy
      | Types.left()
  )

  # `answers` are the answers to the questions, nil in the first call; `of_json?`: null, true and false are no texts
  pair(
    signature_coerce(Types.type(), term(), answers :: list() | nil, of_json? :: boolean()) ::
      Types.coerced() | Types.refused()
  )

  pair(
    signature_spelled(Types.type(), term()) ::
      Types.coerced() | Types.refused()
  )

  pair(
    signature_input(Types.type(), term(), answers :: list() | nil, of_json? :: boolean()) ::
      Types.coerced() | {:error, errors :: list(), finished? :: boolean()}
  )

  # Data of a JSON Schema: keys are as declared, and other keys of open maps stay.
  pair(
    signature_data(Types.type(), term(), answers :: list() | nil) ::
      Types.coerced() | {:error, errors :: list(), finished? :: boolean()}
  )

  pair(
    signature_exact(Types.type(), term()) ::
      :ok
      | {:error, errors :: list(), finished? :: boolean()}
      | {:unknown, term()}
      | :busy
      | Types.left()
  )

  # native/ptc_nif/src/error_line.rs: at most `most` errors and `bytes` bytes; `omitted`: the number of errors
  # that are not in the list; `:other`: the errors contain unexpected terms
  pair(
    error_line(
      errors :: term(),
      most :: non_neg_integer(),
      bytes :: non_neg_integer(),
      omitted :: non_neg_integer()
    ) :: {:ok, String.t()} | :other | :busy
  )

  # native/ptc_nif/src/stream.rs: a stream is a reference, and the number of bytes it has read
  pair(
    stream_new(Types.type(), list? :: boolean(), early? :: boolean(), prose? :: boolean()) ::
      {:ok, reference()} | :busy
  )

  # `:fork`: the state has not read `taken` bytes, but those of another stream; `:tag`: nothing was read, because the chunk may end a
  # tag of thinking, and `looks?`
  pair(
    stream_feed(reference(), taken :: non_neg_integer(), chunk :: binary(), looks? :: boolean()) ::
      Types.fed()
  )

  # a separate reference for a stream that has read this text
  nif(stream_again(reference(), text :: binary()) :: {:ok, reference()})
  pair(stream_partial(reference(), text :: binary()) :: {:ok, term()} | :none | :busy)

  # native/ptc_nif/src/weigh.rs: `words` plus those of the terms; `:opaque`: without the parts of these terms
  pair(
    weigh(pending :: [term()], words :: non_neg_integer(), limit :: non_neg_integer()) ::
      {:ok, non_neg_integer()}
      | :too_much
      | {:opaque, [term()], non_neg_integer()}
      | :busy
      | Types.left()
  )

  # native/ptc_nif/src/normalize.rs
  pair(
    normalize(term(), :keys | :cache_key | :public) ::
      {:ok, term()} | {:improper, tail :: term()} | :busy
  )

  # native/ptc_nif/src/map_view.rs; rules.rs: for the whole VM, see `PtcRunner.Native.Rules`
  nif(map_view() :: :direct | :iterator)
  nif(use_rules(before_0_11? :: boolean()) :: :ok)

  # native/ptc_nif/src/panics.rs
  nif(take_panics() :: [String.t()])
  nif(panic_for_test(message :: String.t()) :: :off)

  # native/ptc_nif/src/clock.rs, for tests: how long each NIF holds its thread. `clock_switch/1` returns
  # whether the system has such a clock; {name, dirty?, calls, calls of more than 2 ms, {min, p50, p99,
  # max, total}}, in nanoseconds
  nif(clock_switch(on? :: boolean()) :: boolean())
  # how many texts and terms were read as programs, and how often the compiler walked one
  nif(count_programs(on? :: boolean()) :: boolean())

  nif(
    programs_counted() ::
      {texts :: non_neg_integer(), terms :: non_neg_integer(), walks :: non_neg_integer()}
  )

  nif(clock_read() :: [{String.t(), boolean(), pos_integer(), non_neg_integer(), tuple()}])

  # native/ptc_nif/src/bare.rs, for benchmarks: a map of `id`, `label` and `value` from `id`, `name` and `amount`
  # of each row, made by a plain loop over the NIF interface; at most 10,000 rows
  nif(bare_objects(rows :: [map()]) :: [map()])
end
