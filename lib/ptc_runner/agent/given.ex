defmodule PtcRunner.Agent.Given do
  @moduledoc false
  # Checks the arguments and the options of the agent's functions.

  alias PtcRunner.{Json, Options, Shown}

  @compiling Json.Given.limits() |> Options.kinds() |> Map.delete(:structs)
  @reading Map.take(@compiling, [:timeout, :max_heap])
  @notes %{enums: :any, descriptions: :any}
  @repairing %{repair: :boolean, truncated: {:one_of, [:error, :complete]}}
  @running @compiling
           |> Map.merge(Options.kinds(Json.Given.control_options()))
           |> Map.merge(%{
             recorded_calls: :count,
             recorded_bytes: :count,
             max_tool_calls: {:or_infinity, :count},
             approve: {:maybe, {:function, 1}}
           })

  @languages {:one_of, [:json, :lisp, :prompt, :schema, :none]}

  @telling Map.merge(@notes, %{
             task: {:maybe, :text},
             context: :map,
             memory: :map,
             tools: :any,
             returns: :any,
             answer: {:one_of, [:program, :value]},
             language: @languages,
             examples: :count,
             edition: @compiling.edition,
             operations: :any,
             samples: :boolean,
             catalogue: {:one_of, [:auto, true, false]},
             max_turns: :positive
           })

  @prompt_options @telling
  @answer_options @reading
                  |> Map.merge(@notes)
                  |> Map.merge(@repairing)
                  |> Map.put(:coerce, :boolean)
  @program_options @compiling
                   |> Map.merge(@repairing)
                   |> Map.put(:tools, :any)
                   |> Map.merge(Map.take(@telling, [:memory, :language]))
  @run_options @running
               |> Map.merge(@notes)
               |> Map.merge(
                 Map.take(@telling, [:context, :memory, :returns, :catalogue, :language])
               )
               |> Map.merge(%{info: :boolean, check: :boolean})
  @loop_options @running
                |> Map.merge(@telling)
                |> Map.merge(@repairing)
                |> Map.merge(%{
                  coerce: :boolean,
                  check: :boolean,
                  max_bytes: :positive,
                  model_timeout: :timeout,
                  messages: :any,
                  findings: {:one_of, [:feedback, :ignore]},
                  on_event: {:maybe, {:function, 1}}
                })
  @resume_options @loop_options
                  |> Map.merge(@run_options)
                  |> Map.put(:model, {:maybe, {:function, 1}})

  @replay_options Map.merge(@loop_options, @run_options)

  @options %{
    prompt: {@prompt_options, "PtcRunner.Agent.prompt/1"},
    answer: {@answer_options, "PtcRunner.Agent.answer/3"},
    program: {@program_options, "PtcRunner.Agent.program/2"},
    run: {@run_options, "PtcRunner.Agent.run/3"},
    loop: {@loop_options, "PtcRunner.Agent.loop/3"},
    resume: {@resume_options, "PtcRunner.Agent.resume/3"},
    replay: {@replay_options, "PtcRunner.Agent.replay/3"}
  }

  @doc """
  Raises `ArgumentError` if these are not options of the function.

      iex> PtcRunner.Agent.Given.options!([repair: 1], :program)
      ** (ArgumentError) option :repair of PtcRunner.Agent.program/2 must be true or false, got: 1

  """
  @spec options!(term(), :prompt | :answer | :program | :run | :loop | :resume | :replay) :: :ok
  def options!(opts, function) do
    {table, name} = Map.fetch!(@options, function)
    Options.check!(opts, table, name)
  end

  @doc """
  Raises `ArgumentError` if a model's answer is not a text.

      iex> PtcRunner.Agent.Given.text!(%{"program" => %{}}, "PtcRunner.Agent.program/2")
      ** (ArgumentError) PtcRunner.Agent.program/2 takes the text of a model's answer, got: %{"program" => %{}}. A program that is a map already is run by PtcRunner.Agent.run/3 and compiled by PtcRunner.Json.compile/2

  """
  @spec text!(term(), String.t()) :: :ok
  def text!(text, _function) when is_binary(text), do: :ok

  def text!(other, function) do
    hint =
      if is_map(other) and function =~ "program",
        do:
          ". A program that is a map already is run by PtcRunner.Agent.run/3 and compiled by " <>
            "PtcRunner.Json.compile/2",
        else: ""

    raise ArgumentError,
          "#{function} takes the text of a model's answer, got: #{Shown.text(other, 200)}#{hint}"
  end

  @doc """
  Raises `ArgumentError` if the first argument of `PtcRunner.Agent.loop/3` is not a model.

      iex> PtcRunner.Agent.Given.model!([task: "x"], fn _messages -> "" end)
      ** (ArgumentError) PtcRunner.Agent.loop/3 takes the model first, then the task: loop(ask, task, opts)

      iex> PtcRunner.Agent.Given.model!(fn -> "" end, task: "x")
      ** (ArgumentError) the model of PtcRunner.Agent.loop/3 must be a function of one argument, the messages; this one has 0

  """
  @spec model!(term(), term()) :: :ok
  def model!(ask, _task) when is_function(ask, 1), do: :ok

  def model!(ask, task) when is_function(task) and not is_function(ask) do
    raise ArgumentError,
          "PtcRunner.Agent.loop/3 takes the model first, then the task: loop(ask, task, opts)"
  end

  def model!(ask, _task) do
    got =
      if is_function(ask),
        do: "this one has #{ask |> Function.info(:arity) |> elem(1)}",
        else: "got: #{Shown.text(ask, 200)}"

    raise ArgumentError,
          "the model of PtcRunner.Agent.loop/3 must be a function of one argument, the messages; #{got}"
  end

  @doc """
  Raises `ArgumentError` if these are not messages.

      iex> PtcRunner.Agent.Given.messages!(["hello"])
      ** (ArgumentError) option :messages of PtcRunner.Agent.loop/3 must be a list of %{role: :user | :assistant | :system, content: text}, got: "hello"

  """
  @spec messages!(term()) :: :ok
  def messages!([]), do: :ok

  def messages!([%{role: role, content: content} | rest])
      when role in [:system, :user, :assistant] and is_binary(content),
      do: messages!(rest)

  def messages!(other) do
    wrong = if is_list(other) and not List.improper?(other), do: hd(other), else: other

    raise ArgumentError,
          "option :messages of PtcRunner.Agent.loop/3 must be a list of " <>
            "%{role: :user | :assistant | :system, content: text}, got: #{Shown.text(wrong, 200)}"
  end
end
