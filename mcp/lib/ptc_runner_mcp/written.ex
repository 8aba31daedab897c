defmodule PtcRunnerMcp.Written do
  @moduledoc """
  The program of a call, in one of the two languages: PTC-JSON as the argument `program`, PTC-Lisp as the argument `lisp`.
  """

  alias PtcRunner.{Agent, Json, Lisp}
  alias PtcRunner.Agent.Lisp.Allowed
  alias PtcRunner.Agent.Tool
  alias PtcRunnerMcp.{Catalogue, Result, Server}

  @typedoc "A program of PTC-JSON, which may be a text, or a compiled one of PTC-Lisp."
  @type t :: map() | String.t() | Lisp.Program.t()

  @doc """
  The program of the arguments, or the result that says why there is none. Models sometimes write the whole object of PTC-JSON once more.

      iex> server = PtcRunnerMcp.new([])
      iex> PtcRunnerMcp.Written.program(%{"program" => %{"program" => %{"op" => "it"}}}, server)
      {:ok, %{"program" => %{"op" => "it"}}}
      iex> {:ok, program} = PtcRunnerMcp.Written.program(%{"lisp" => "(+ 1 2)"}, server)
      iex> program.source
      "(+ 1 2)"
      iex> {:none, %{"isError" => true, "content" => [%{"text" => text}]}} = PtcRunnerMcp.Written.program(%{"lisp" => "(+ 1"}, server)
      iex> text =~ "unbalanced parentheses: 1 unclosed '('"
      true

  """
  @spec program(map(), Server.t()) :: {:ok, t()} | {:none, map()}
  def program(%{"lisp" => text, "program" => program}, _server)
      when text != nil and program != nil,
      do:
        {:none,
         Result.error("Give one program: \"program\" in PTC-JSON, or \"lisp\" in PTC-Lisp")}

  def program(%{"lisp" => text}, server) when is_binary(text) do
    options = [language: :lisp, timeout: server.timeout, max_heap: server.max_heap]

    case Agent.program(text, options) do
      {:ok, program, _warnings} -> {:ok, program}
      {:error, _error, feedback} -> {:none, Result.error(Result.cut(feedback, server.most_text))}
    end
  end

  def program(%{"program" => %{"program" => program} = whole}, server) when map_size(whole) == 1,
    do: program(%{"program" => program}, server)

  def program(%{"program" => program}, _server) when is_map(program) or is_list(program),
    do: {:ok, %{"program" => program}}

  def program(%{"program" => text}, _server) when is_binary(text), do: {:ok, text}

  def program(_args, _server) do
    {:none,
     Result.error(
       "The arguments must have a program, as in {\"program\": {\"op\": …}} or {\"lisp\": \"(…)\"}"
     )}
  end

  @doc """
  The program of a run that waits.

      iex> tools = PtcRunner.Agent.Tool.list!(%{"pay" => {fn _ -> 1 end, approve: true}})
      iex> {:paused, paused} = PtcRunner.Agent.run("(tool/pay)", tools, language: :lisp)
      iex> server = PtcRunnerMcp.new(tools: tools)
      iex> PtcRunnerMcp.Written.waiting(paused, server).names.tools
      ["pay"]

  """
  @spec waiting(Agent.Paused.t(), Server.t()) :: t()
  def waiting(%Agent.Paused{run: %Json.Paused{lisp: nil, program: program}}, _server), do: program

  def waiting(%Agent.Paused{run: %Json.Paused{program: source}}, server) do
    {:ok, program} = program(%{"lisp" => source}, server)
    program
  end

  @doc "Whether a run that waits is one of this program."
  @spec waits?(t(), Agent.Paused.t()) :: boolean()
  def waits?(%Lisp.Program{source: source}, %Agent.Paused{
        run: %Json.Paused{lisp: lisp, program: other}
      }),
      do: lisp != nil and source == other

  def waits?(program, %Agent.Paused{run: %Json.Paused{lisp: lisp, program: other}}),
    do: lisp == nil and program == other

  @doc """
  The tools that a run of the program gets; or why it cannot have one that it names.

      iex> server = PtcRunnerMcp.new(tools: %{"a" => fn _ -> 1 end, "b" => fn _ -> 2 end})
      iex> for text <- ["(tool/a)", "(tool/c)"] do
      ...>   {:ok, program} = PtcRunnerMcp.Written.program(%{"lisp" => text}, server)
      ...>   {:ok, tools} = PtcRunnerMcp.Written.tools(program, server)
      ...>   length(tools)
      ...> end
      [1, 2]

  """
  @spec tools(t(), Server.t()) :: {:ok, [Tool.t()]} | {:none, map()}
  def tools(%Lisp.Program{names: %{tools: names}}, server) do
    catalogue = server.catalogue.()
    tools = for name <- Enum.uniq(names), tool = catalogue.names[name], do: tool

    if Enum.all?(names, &is_map_key(catalogue.names, &1)) do
      case Enum.find_value(tools, &refusal/1) do
        nil -> {:ok, tools}
        why -> {:none, Result.error(why)}
      end
    else
      # The error of the program lists what there is.
      {:ok, Enum.reject(catalogue.tools, &refusal/1)}
    end
  end

  def tools(program, server), do: {:ok, Catalogue.used(server.catalogue.(), program)}

  # Why programs of PTC-Lisp cannot call a tool.
  defp refusal(tool) do
    Allowed.tools!([tool], [])
    nil
  rescue
    error in ArgumentError -> Exception.message(error)
  end

  @doc "Runs the program."
  @spec run(t(), [Tool.t()], keyword()) :: term()
  def run(%Lisp.Program{} = program, tools, opts),
    do: Agent.run(program, tools, [language: :lisp] ++ opts)

  def run(program, tools, opts), do: Agent.run(program, tools, opts)

  @doc """
  A value of a program as JSON has it: sets of PTC-Lisp are lists, and keywords are texts.

      iex> PtcRunnerMcp.Written.value(%{"a" => MapSet.new([1, 2]), "b" => [%PtcRunner.Lisp.Keyword{name: "due"}]})
      %{"a" => [1, 2], "b" => ["due"]}

  """
  @spec value(term()) :: term()
  def value(%MapSet{} = set), do: set |> MapSet.to_list() |> value()
  def value(%Lisp.Keyword{name: name}), do: name
  def value(struct) when is_struct(struct), do: struct
  def value(map) when is_map(map), do: Map.new(map, fn {key, value} -> {key, value(value)} end)
  def value([item | rest]), do: [value(item) | value(rest)]
  def value(other), do: other

  @doc """
  What the program will do.

      iex> server = PtcRunnerMcp.new(tools: %{"pay" => fn _ -> 1 end})
      iex> {:ok, program} = PtcRunnerMcp.Written.program(%{"lisp" => "(tool/pay {:sum 3})"}, server)
      iex> {:ok, plan} = PtcRunnerMcp.Written.plan(program, server)
      iex> for tool <- plan.tools, do: {tool.name, tool.calls}
      [{"pay", "≤ 1"}]

  """
  @spec plan(t(), Server.t()) :: {:ok, Json.Plan.t()} | {:error, String.t()} | {:none, map()}
  def plan(program, server) do
    with {:ok, tools} <- tools(program, server) do
      options = [tools: Map.new(tools, &{&1.name, &1}), context: server.context]
      planned(program, options)
    end
  end

  defp planned(%Lisp.Program{} = program, options) do
    with {:error, error} <- Lisp.plan(program, options), do: {:error, Lisp.format_error(error)}
  end

  defp planned(program, options) do
    with {:error, error} <-
           Json.plan(program, options ++ [edition: 2, keys: :any, structs: :values]),
         do: {:error, Json.format_error(error)}
  end
end
