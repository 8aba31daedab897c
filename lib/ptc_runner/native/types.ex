defmodule PtcRunner.Native.Types do
  @moduledoc false
  # The arguments and replies of the native functions, see `PtcRunner.Native`.

  # suspended work: a reference to its plain data, and its terms
  @type left :: {:more | :long, state :: reference(), terms :: tuple()}

  # milliseconds, and words (0: no limit)
  @type limits :: {timeout(), non_neg_integer()}

  # maximum nesting of a program; whether atoms are keys too, whether it is strict, whether structs are values, the
  # edition (that of a depth alone is 2)
  @type reading ::
          pos_integer()
          | {pos_integer(), boolean(), boolean(), boolean(), 1 | 2}
          | {:observed | :findings | :plan | :recipes, pos_integer(), boolean(), boolean(),
             boolean(), 1 | 2}

  # what a program reads besides its context: one of PTC-JSON its memory; one of PTC-Lisp the memory, the results of earlier turns (the newest
  # first), the budget, and whether data that are not there are an error
  @type environment ::
          map()
          | {memory :: map(), history :: [term()], budget :: map(), strict_data? :: boolean()}

  # the context, the environment, the limits (nil: not known yet), and the time of the start, if that is given
  @type given ::
          {map(), environment(), timeout() | nil, non_neg_integer() | nil}
          | {map(), environment(), timeout() | nil, non_neg_integer() | nil, now :: String.t()}

  # the program of a run: a handle of `compile_text/3`, `compile_node/3` or `lisp_compile/3`, or an observation of `observation/1`, with the
  # constants of the program; a text or a term, with how it is read (`:unchecked`: errors are reported where they occur)
  @type program :: reference() | binary() | {:checked | :unchecked, term()}

  # how a compiled program runs; nil: as any other; `:unless_calls`: the same, but it is not started if it may call a tool. `forks?`: it is suspended at the start of a loop that calls tools; `asks`: its caller decides
  # about each call, so the run does not move; with `:together` it is told of the calls that follow, where nothing catches an error of the tool.
  # `:texts`: over JSON texts that are not decoded. The context has a tuple of a marker and a number in the place of each; the texts stand
  # behind the marker
  @type how ::
          nil
          | :unless_calls
          | {forks? :: boolean(), asks :: boolean() | :together}
          | {:texts, tuple()}

  # a type of a signature, which may be invalid
  @type type :: term()

  @type limit :: :timeout | :memory_exceeded

  # stage, code, operation, field, terms
  @type fault ::
          {:parse, term()}
          | {:validation | :execution, atom(), String.t() | nil, String.t() | nil, [term()]}
          | {:expensive_to_inspect, tuple()}

  # the path of an error is known only for programs that are compiled for observation
  @type compiled ::
          {:ok, handle :: reference(), consts :: tuple()}
          | {:rejected, {:error, fault()}, path :: list()}
          | {:error, fault() | limit()}
          | left()

  # a finding: its code, its path, its operation, what more is known, and line and column of a text
  @type finding ::
          {:error | :warning, atom(), path :: list(), op :: binary() | nil, details :: list(),
           {line :: pos_integer(), column :: pos_integer()} | nil}

  @type checked ::
          {:ok,
           {type :: term(), reads :: [binary()], tools :: [binary()], findings :: [finding()]}}
          | {:ok, {tools :: [tuple()], reads :: [tuple()], result :: {[tuple()], [tuple()]}}}
          | {:rejected, {:error, fault()}, path :: list()}
          | {:error, fault() | limit()}
          | left()

  # the words of arguments, if they are known; in a run whose caller decides about each call, with the call's address
  @type weight ::
          non_neg_integer()
          | {:at_most, pos_integer()}
          | {non_neg_integer() | nil, address :: non_neg_integer()}
          | nil

  @type run ::
          {:ok, value :: term(), words :: non_neg_integer()}
          | {:error, fault() | limit()}
          | {:call | :moves, reference(), tuple(), tool :: term(), args :: term(),
             timeout() | nil, weight()}
          | {:last, words :: non_neg_integer(), nil, tool :: term(), args :: term(),
             timeout() | nil, weight()}
          | {:limits, reference(), tuple()}
          | {:decode, reference(), tuple(), {tool :: term(), text :: binary()}}
          | {:fork, reference(), tuple(), loop :: String.t(), list :: term(), timeout(),
             tools :: [String.t()]}
          | :decode
          | :texts
          | :calls
          | left()

  @type coerced ::
          {:ok | :doubled, term(), warnings :: [String.t()]}
          | {:ask, questions :: [tuple()]}
          | {:unknown, term()}
          | :too_much
          | :busy
          | left()

  @type refused :: {:refused, failure :: term(), hidden? :: boolean()}

  @type unread :: {:error, {atom(), place :: tuple() | nil} | limit()} | left()

  @type unrepaired ::
          {:error, :no_reading | limit() | {:ambiguous, [{pos_integer(), pos_integer()}]}}
          | {:error, {:truncated, path :: list(), items :: non_neg_integer() | nil, boolean()}}
          | :busy
          | left()

  # a text; `:partial` has the foreign terms between the pieces of text
  @type written ::
          {:ok, binary()}
          | {:partial, [binary() | term()]}
          | {:error,
             {:foreign, term()} | {:not_utf8, binary(), non_neg_integer()} | :too_long | limit()}
          | left()

  # an answer that was read; `found` is the value with its own keys
  @type judged ::
          {:ok, term(), form(), found :: term()}
          | {:coerced, term(), warnings :: [String.t()], form(), found :: term()}
          | {:hyphens | :undecided, form(), found :: term()}
          | {:unfit, atom(), form(), found :: term()}
          | {:invalid, errors :: [map()], {line :: String.t(), non_neg_integer()} | nil, form(),
             found :: term()}

  # `:hyphens`: some key has a hyphen; `:plain`: none has one; `:declared`: and each object that has fields by its type has these keys only
  @type form ::
          {keys :: :declared | :plain | :hyphens, start :: non_neg_integer(), pos_integer()}

  # a stream that has read another chunk; `:fork` and `:tag`: see `PtcRunner.Native.stream_feed/4`
  @type fed ::
          :ok
          | {:halt,
             {path :: list(), String.t()}
             | :not_an_object
             | :not_wrapped
             | :prose
             | {:syntax, offset :: non_neg_integer()}}
          | :fork
          | :tag
          | :busy
end
