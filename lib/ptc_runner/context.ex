defmodule PtcRunner.Context do
  @moduledoc """
  What a program can see: external data, memory and tools.

  | field | read by | holds |
  |---|---|---|
  | `ctx` | `load` | external data of this run, by string name |
  | `memory` | `var` | what earlier runs stored, by string name |
  | `tools` | `call` | functions of one argument, by string name |
  | `turn_history` | – | results of earlier turns, newest last |

  The fields are stored as they are given.
  """

  defstruct [:ctx, :memory, :tools, turn_history: []]

  @type t :: %__MODULE__{
          ctx: map() | nil,
          memory: map() | nil,
          tools: map() | nil,
          turn_history: [term()]
        }

  @type error :: {:execution_error, String.t()}

  @doc """
  Builds a context.

      iex> PtcRunner.Context.new(%{"orders" => []})
      %PtcRunner.Context{ctx: %{"orders" => []}, memory: %{}, tools: %{}, turn_history: []}

  """
  @spec new(map(), map(), map(), [term()]) :: t()
  def new(ctx \\ %{}, memory \\ %{}, tools \\ %{}, turn_history \\ []) do
    %__MODULE__{ctx: ctx, memory: memory, tools: tools, turn_history: turn_history}
  end

  @doc """
  The value of a name in the external data, `nil` if it is not there.

      iex> context = PtcRunner.Context.new(%{"orders" => [1, 2]})
      iex> PtcRunner.Context.get_ctx(context, "orders")
      {:ok, [1, 2]}
      iex> PtcRunner.Context.get_ctx(context, "users")
      {:ok, nil}
      iex> PtcRunner.Context.get_ctx(context, :orders)
      {:error, {:execution_error, "Context key must be a string, got :orders"}}

  """
  @spec get_ctx(t(), term()) :: {:ok, term()} | {:error, error()}
  def get_ctx(%__MODULE__{ctx: ctx}, name) when is_binary(name), do: {:ok, Map.get(ctx, name)}
  def get_ctx(%__MODULE__{}, name), do: not_a_string("Context", name)

  @doc """
  The value of a name in the memory, `nil` if it is not there.

      iex> context = PtcRunner.Context.new(%{}, %{"total" => 42})
      iex> PtcRunner.Context.get_memory(context, "total")
      {:ok, 42}
      iex> PtcRunner.Context.get_memory(context, nil)
      {:error, {:execution_error, "Memory key must be a string, got nil"}}

  """
  @spec get_memory(t(), term()) :: {:ok, term()} | {:error, error()}
  def get_memory(%__MODULE__{memory: memory}, name) when is_binary(name),
    do: {:ok, Map.get(memory, name)}

  def get_memory(%__MODULE__{}, name), do: not_a_string("Memory", name)

  @doc """
  Stores a value in the memory.

      iex> context = PtcRunner.Context.put_memory(PtcRunner.Context.new(), "total", 42)
      iex> context.memory
      %{"total" => 42}

  """
  @spec put_memory(t(), String.t(), term()) :: t()
  def put_memory(%__MODULE__{memory: memory} = context, name, value) when is_binary(name),
    do: %__MODULE__{context | memory: Map.put(memory, name, value)}

  defp not_a_string(kind, name),
    do:
      {:error,
       {:execution_error, "#{kind} key must be a string, got #{PtcRunner.Shown.text(name)}"}}
end
