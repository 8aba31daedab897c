defmodule PtcRunner.Agent do
  @moduledoc """
  From a task to a checked value: what a model is told, what it answers, what becomes of its program.

      iex> quakes = [%{"mag" => 5.1, "net" => "ci"}, %{"mag" => 2.3, "net" => "ak"}]
      iex> model = fn _messages ->
      ...>   ~s(Here you are: {"program": {"op": "pipe", "steps": [{"op": "load", "name": "quakes"}, {"op": "max_by", "field": "mag"}]}})
      ...> end
      iex> {:ok, step} = PtcRunner.Agent.loop(model,
      ...>   task: "Which one was the strongest?", context: %{"quakes" => quakes}, returns: "{mag :float, net :string}")
      iex> step.return
      %{"mag" => 5.1, "net" => "ci"}

  `loop/3` is the whole way. Its steps can be used alone:

  | | |
  |---|---|
  | `prompt/1` | what the model is told: language, data, tools, result |
  | `program/2` | the text that it wrote, prose and fence and all, to a compiled program |
  | `run/3` | a program to its value, with tools and a result that are checked |
  | `answer/3` | where the model writes the value itself: its text to the value |

  Each gives `{:ok, value, more}` or `{:error, errors, feedback}`; the feedback is for the model. All is data in and data out: a model
  is a function of messages, and no function here knows HTTP, keys or a provider.

  ## Tools

  A map of names, each with one of

    * a function of one argument; the signature is that of its `@spec`, if it takes one map with known keys
    * `{function, signature}`, the signature as text or parsed
    * `{function, options}` with `:signature`, `:description`, `:enums` and `:descriptions` (see
      `t:PtcRunner.SubAgent.Signature.schema_option/0`), which may concern the arguments
    * an `ALLM.Tool`

  or a list of `ALLM.Tool`, or an `ALLM.Engine`, whose context handlers of two arguments get.

  Arguments are coerced and checked before the function is called, and what it returns is checked after (see
  `PtcRunner.SubAgent.Signature.call_tool/4`). Of `{:ok, value}` the program gets the value. The reason of `{:error, reason}` is shown to
  the model: a text as it is, with its line breaks, anything else as `inspect/1` does.
  """

  alias PtcRunner.Agent.{Answer, Loop, Prompt, Run, Source, Tool}
  alias PtcRunner.{Json, Options, Step}
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.Annotations

  @no_returns "options :enums and :descriptions are about the result: they need :returns"

  @reading %{timeout: {:maybe, :timeout}, max_heap: {:maybe, :max_heap}}
  @notes %{enums: :any, descriptions: :any}
  @compiling Map.merge(@reading, %{
               max_depth: :depth,
               strict: :boolean,
               keys: {:one_of, [:strings, :any]}
             })
  @running Map.put(@compiling, :tool_concurrency, {:up_to, 1_024})

  @telling Map.merge(@notes, %{
             task: {:maybe, :text},
             context: :map,
             memory: :map,
             tools: :any,
             returns: :any,
             answer: {:one_of, [:program, :value]},
             language: {:one_of, [:prompt, :schema, :none]},
             examples: :count,
             samples: :boolean,
             max_turns: :positive
           })

  @prompt_options @telling
  @answer_options @reading
                  |> Map.merge(@notes)
                  |> Map.merge(%{coerce: :boolean, repair: :boolean})
  @program_options Map.put(@compiling, :repair, :boolean)
  @run_options @running
               |> Map.merge(@notes)
               |> Map.merge(Map.take(@telling, [:context, :memory, :returns]))
  @loop_options @running
                |> Map.merge(@telling)
                |> Map.merge(%{coerce: :boolean, repair: :boolean, max_bytes: :positive})

  @typedoc "A text, parsed, or nil for any object."
  @type signature :: String.t() | Signature.t() | nil

  @typedoc "See above."
  @type tools :: %{optional(String.t()) => term()} | [struct()] | struct()

  @typedoc "What a model is asked with, oldest first."
  @type message :: %{role: :system | :user | :assistant, content: String.t()}

  @typedoc """
  Asks a model. What else it counted, such as tokens, is added up in the step's `usage`. An error ends the
  loop.
  """
  @type ask ::
          ([message()] ->
             String.t() | {:ok, String.t()} | {:ok, String.t(), map()} | {:error, term()})

  @typedoc "A tool call as it is kept; the result as text, of which at most 256 bytes are kept."
  @type tool_call :: %{
          name: String.t(),
          args: map(),
          result: String.t() | nil,
          warnings: [String.t()],
          ok?: boolean()
        }

  @doc """
  What a model is told, as one text.

  ## Options

    * `:task` - what it is to do
    * `:context` - the data that programs `load`, by name: types are told, and one sample of each; the data are not
    * `:tools` - see above
    * `:memory` - what earlier programs kept
    * `:returns` - the signature of the result
    * `:enums`, `:descriptions` - which values fields of the result may have, and what they are for
    * `:samples` - `false` tells types and no values. Fields whose name begins with `_` are never told.
    * `:language` - `:prompt` (the default) explains the language in 4 KB, which is what models write best from.
      `:schema` is the JSON schema instead, some 20 times as long, for models that do not know what to do with prose. `:none` is for
      providers that are given `PtcRunner.Schema.to_llm_schema/0` as the form of the answer (structured output), or models that know
      the language.
    * `:examples` - how many programs are shown, 0 to 3
    * `:answer` - `:value` asks for the value itself, and no program
    * `:max_turns` - if there are more than one, how to look at something first

  An example:

      iex> prompt = PtcRunner.Agent.prompt(language: :none, task: "How many are open?",
      ...>   context: %{"tickets" => [%{"id" => 1, "status" => "open", "_pin" => 7}]},
      ...>   tools: %{"owner" => {& &1, "(id :int) -> :string"}}, returns: ":int")
      iex> prompt |> String.split("\\n") |> Enum.reject(&(&1 == ""))
      ["## Data, read with load",
       "- tickets [{id :int, status :string}]",
       ~s(  sample: [{"id":1,"status":"open"}]),
       ~s(## Tools, called with {"op":"call","tool":NAME,"args":{...}}),
       "- owner(id :int) -> :string",
       "## Result",
       "The program must return a value that fits :int",
       "Types: :int, :float (any number), :string, :bool, :map (any object), :any; [T] is a list, {name T} an object with these keys, T? may be null or missing.",
       "## Task",
       "How many are open?"]

  """
  @spec prompt(keyword()) :: String.t()
  def prompt(opts) do
    Options.check!(opts, @prompt_options, "PtcRunner.Agent.prompt/1")
    opts |> with_signature() |> Prompt.text()
  end

  @doc """
  The value in a model's answer, by a signature.

  An answer that is right as it stands gives its value and no warnings. One that is not is coerced (a number
  in a string), then repaired (a comma too few), and the warnings say what was done. A value that is no
  object or list is taken bare, or from `{"value": ...}`.

  ## Options

    * `:coerce`, `:repair` - by default `true`
    * `:enums` - the values that fields may have: `%{"status" => ["open", "closed"]}`
    * `:timeout`, `:max_heap` - see `PtcRunner.SubAgent.JsonParser.parse/2`

  An answer with prose around it, and an integer in a string:

      iex> PtcRunner.Agent.answer(~s(Sure: {"id": "7", "tags": ["a"]}), "{id :int, tags [:string]}")
      {:ok, %{"id" => 7, "tags" => ["a"]}, ["coerced string \\"7\\" to integer"]}

  An example:

      iex> {:error, errors, feedback} = PtcRunner.Agent.answer(~s({"id": "x"}), "{id :int}")
      iex> errors
      [%{path: ["id"], message: "expected int, got string"}]
      iex> feedback |> String.split("\\n") |> Enum.at(1)
      ~s(- id: expected integer, got string "x")

  """
  @spec answer(String.t(), signature(), keyword()) ::
          {:ok, term(), warnings :: [String.t()]}
          | {:error, [Signature.error(), ...], feedback :: String.t()}
  def answer(text, signature, opts \\ []) when is_binary(text) do
    Options.check!(opts, @answer_options, "PtcRunner.Agent.answer/3")
    Answer.read(text, parsed(signature), opts)
  end

  @doc """
  The program in a model's answer, compiled.

  Prose and a fence around it are left out, an operation that does not stand under `"program"` is put there, and
  what is almost JSON is repaired, unless the end is missing: half a program must not run as a whole one.

  ## Options

    * `:repair` - by default `true`
    * `:timeout`, `:max_heap`, `:max_depth` and the others of `PtcRunner.Json.compile/2`

  An example:

      iex> text = "This counts them:\\n```json\\n{\\"program\\": {\\"op\\": \\"load\\", \\"name\\": \\"n\\",}}\\n```"
      iex> {:ok, program, warnings} = PtcRunner.Agent.program(text)
      iex> {PtcRunner.Json.run!(program, context: %{"n" => 3}), warnings}
      {3, [~s(line 3, column 39: left out the last comma in "program")]}

      iex> {:error, error, feedback} = PtcRunner.Agent.program(~s({"program": {"op": "lod", "name": "n"}}))
      iex> error
      {:validation_error, "Unknown operation 'lod'. Did you mean 'load'?"}
      iex> feedback
      "ValidationError: Unknown operation 'lod'. Did you mean 'load'? Write the whole program again, as one JSON object."

  """
  @spec program(String.t(), keyword()) ::
          {:ok, Json.Program.t(), warnings :: [String.t()]}
          | {:error, Json.error(), feedback :: String.t()}
  def program(text, opts \\ []) when is_binary(text) do
    Options.check!(opts, @program_options, "PtcRunner.Agent.program/2")
    Source.read(text, opts)
  end

  @doc """
  Runs a program with tools whose arguments and results are checked.

  ## Options

    * `:context` - the data, by name. Keys inside it must be strings: `ArgumentError` otherwise, since programs would not find them.
    * `:memory` - what `var` reads
    * `:returns` - the signature that the value must fit
    * `:enums` - the values that its fields may have
    * `:timeout`, `:max_heap`, `:max_depth` and the others of `PtcRunner.Json.run/2`

  ## Returns

    * `{:ok, value, info}`: `info` has `:memory`, `:delta` (see `PtcRunner.Json.run/2`), `:tool_calls` and `:warnings`, what was coerced
    * `{:error, error, feedback}`: an error of `PtcRunner.Json.run/2`, or `{:invalid_result, errors}`

  An example:

      iex> tools = %{"rate" => {fn %{"day" => day} -> day * 0.5 end, "(day :int) -> :float"}}
      iex> program = ~s({"program": {"op": "call", "tool": "rate", "args": {"day": "3"}}})
      iex> {:ok, value, info} = PtcRunner.Agent.run(program, tools, returns: ":float")
      iex> {value, info.warnings}
      {1.5, [~s(rate: coerced string "3" to integer)]}

      iex> program = ~s({"program": {"op": "call", "tool": "rates"}})
      iex> {:error, _error, feedback} = PtcRunner.Agent.run(program, %{"rate" => {& &1, "(day :int) -> :float"}})
      iex> feedback |> String.split("\\n") |> Enum.take(2)
      ["ExecutionError: Tool 'rates' not found. Did you mean 'rate'? There are these tools:", "- rate(day :int) -> :float"]

  """
  @spec run(Json.program(), tools(), keyword()) ::
          {:ok, term(), map()}
          | {:error, Json.error() | {:invalid_result, [Signature.error()]},
             feedback :: String.t()}
  def run(program, tools \\ %{}, opts \\ []) do
    Options.check!(opts, @run_options, "PtcRunner.Agent.run/3")
    Run.run(program, Tool.list!(tools), with_signature(opts))
  end

  @doc """
  Asks a model until it has written a program whose value fits, or has no turn left.

  `task` are the options of `prompt/1`; those of `run/3` go with them or into `opts`. The first messages are the prompt, as `:system`,
  and the task, as `:user`. What is wrong with an answer goes back as feedback, with how many turns are left. Programs share their
  memory; one whose value has the key `"look"` is shown that value and asked again.

  ## Options

    * `:max_turns` - by default 5
    * `:max_bytes` - the longest answer that is read, by default 1,000,000 bytes. Of a longer one the first 4 KB are kept, and the
      model is told.
    * `:coerce` - with `answer: :value`, see `answer/3`
    * `:repair` - see `program/2` and `answer/3`
    * the limits of `run/3`, for each turn

  ## Returns

  `{:ok, step}` with the value in `step.return`, or `{:error, step}` with `step.fail`, whose `:reason` is `:max_turns` (the
  message is the last feedback) or `:model_error`. Either has all that happened: `:turns` (answer, program, result or error,
  tool calls, memory), `:messages`, `:tool_calls`, `:memory`, `:usage`. Steps and turns can be written as JSON.

      iex> model = fn messages ->
      ...>   case length(messages) do
      ...>     2 -> ~s({"program": {"op": "call", "tool": "temperature", "args": {"city": "Rome"}}})
      ...>     4 -> ~s({"program": {"op": "call", "tool": "temperature_of", "args": {"city": "Rome"}}})
      ...>   end
      ...> end
      iex> tools = %{"temperature_of" => {fn %{"city" => "Rome"} -> 31 end, "(city :string) -> :int"}}
      iex> {:ok, step} = PtcRunner.Agent.loop(model, [task: "How warm is it in Rome?", tools: tools, returns: ":int"], max_turns: 3)
      iex> {step.return, length(step.turns), hd(step.turns).success?}
      {31, 2, false}

  """
  @spec loop(ask(), keyword(), keyword()) :: {:ok | :error, Step.t()}
  def loop(ask, task, opts \\ []) when is_function(ask, 1) do
    Options.check!(task, @loop_options, "PtcRunner.Agent.loop/3")
    Options.check!(opts, @loop_options, "PtcRunner.Agent.loop/3")

    opts
    |> Keyword.merge(task, fn _name, given, _same -> given end)
    |> Keyword.put_new(:max_turns, 5)
    |> with_signature()
    |> then(&Loop.run(ask, &1))
  end

  # What is wrong with the signature or the notes on it is said before anything runs.
  defp with_signature(opts) do
    opts = Keyword.replace_lazy(opts, :returns, &parsed/1)

    case opts[:returns] do
      {:signature, _params, type} -> Annotations.of!(opts, type)
      nil -> if opts[:enums] || opts[:descriptions], do: raise(ArgumentError, @no_returns)
    end

    opts
  end

  defp parsed(nil), do: nil
  defp parsed(signature), do: Signature.parsed!(signature)
end
