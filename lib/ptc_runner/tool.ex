defmodule PtcRunner.Tool do
  @moduledoc """
  A tool of a PTC-Lisp program in one form.

    * `name`, `function` - the name, and a function of the map of arguments
    * `signature`, `description` - what is known of it, as texts
    * `type` - `:native`: an Elixir function
    * `cache` - whether it is called once for equal arguments in one run

  """

  alias PtcRunner.Agent
  alias PtcRunner.Agent.Calls
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.Shown

  @enforce_keys [:name]
  defstruct [:name, :function, :signature, :description, type: :native, cache: false]

  @type t :: %__MODULE__{
          name: String.t(),
          function: (map() -> term()) | nil,
          signature: String.t() | nil,
          description: String.t() | nil,
          type: atom(),
          cache: boolean()
        }

  @typedoc "What `new/2` takes."
  @type form ::
          (map() -> term())
          | {(map() -> term()), String.t() | tuple() | :skip}
          | {(map() -> term()), keyword()}
          | t()
          | Agent.Tool.t()

  @doc """
  Makes a tool of a name and a form: a function of one argument; `{function, signature}`, whose arguments and result are coerced and
  validated; `{function, options}` with the options `:signature`, `:description` and `:cache`; a `PtcRunner.Tool`; or a
  `PtcRunner.Agent.Tool`. `{function, :skip}` is a function without a signature.

      iex> {:ok, tool} = PtcRunner.Tool.new("double", {&(&1["n"] * 2), "(n :int) -> :int"})
      iex> {tool.name, tool.signature, tool.function.(%{"n" => "4"})}
      {"double", "(n :int) -> :int", 8}

      iex> {:ok, tool} = PtcRunner.Tool.new("now", {fn _ -> 5 end, cache: true, description: "The time"})
      iex> {tool.cache, tool.description}
      {true, "The time"}

      iex> PtcRunner.Tool.new("double", 2)
      {:error, "expected a function of one argument, {function, signature}, {function, options} or a PtcRunner.Tool, got: 2"}

  """
  @spec new(String.t(), form() | term()) :: {:ok, t()} | {:error, String.t()}
  def new(name, function) when is_function(function, 1),
    do: {:ok, %__MODULE__{name: name, function: function}}

  def new(name, %{__struct__: __MODULE__, function: function} = tool)
      when is_function(function, 1),
      do: {:ok, %{tool | name: name}}

  def new(name, %Agent.Tool{fun: fun} = tool) when is_function(fun, 1),
    do: {:ok, of(name, tool, &Calls.validated/1)}

  def new(name, {function, :skip}) when is_function(function, 1), do: new(name, function)

  def new(name, {function, options}) when is_function(function, 1) and is_list(options) do
    {own, others} = Keyword.split(options, [:signature, :description, :cache])

    with {:ok, options} <- {:ok, Enum.reject(own, fn {_key, value} -> value in [nil, :skip] end)},
         {:ok, tool} <- agents(name, {function, options}) do
      validated = if options[:signature], do: &Calls.validated/1, else: & &1.fun
      # Options that only `ptc_runner` knows say nothing about how a tool is called.
      _ignored = others
      {:ok, of(name, tool, validated)}
    end
  end

  def new(name, {function, signature})
      when is_function(function, 1) and (is_binary(signature) or is_tuple(signature)) do
    with {:ok, tool} <- agents(name, {function, signature}),
         do: {:ok, of(name, tool, &Calls.validated/1)}
  end

  def new(_name, other) do
    {:error,
     "expected a function of one argument, {function, signature}, {function, options} or a PtcRunner.Tool, got: " <>
       Shown.text(other, 500)}
  end

  defp agents(name, form) do
    {:ok, Agent.Tool.of!(name, form)}
  rescue
    error in ArgumentError -> {:error, Exception.message(error)}
  end

  defp of(name, tool, function) do
    %__MODULE__{
      name: name,
      function: function.(tool),
      signature: tool.signature && Signature.render(tool.signature),
      description: tool.description,
      cache: tool.cache
    }
  end
end
