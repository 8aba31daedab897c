defmodule PtcRunner.Test.Oracle.Fail do
  @moduledoc false
  # The first error ends the program: it is thrown where it occurs and caught at one point.

  @doc "Ends the check or the run with a message."
  @spec fail(String.t()) :: no_return()
  def fail(message), do: throw({__MODULE__, message})

  @doc "Calls `fun`; a failure in it becomes an error of the given kind."
  @spec catching(kind, (... -> value)) :: value | {:error, {kind, String.t()}}
        when kind: atom(), value: term()
  def catching(kind, fun) do
    fun.()
  catch
    {__MODULE__, message} -> {:error, {kind, message}}
  end

  @doc "The value if it is a proper list, the failure `<what>, got <value>` otherwise."
  @spec list!(term(), String.t()) :: list()
  def list!(value, what) do
    if proper_list?(value), do: value, else: fail("#{what}, got #{inspect(value)}")
  end

  @doc "The value if it is a map (or struct), the failure `<what>, got <value>` otherwise."
  @spec map!(term(), String.t()) :: map()
  def map!(value, _what) when is_map(value), do: value
  def map!(value, what), do: fail("#{what}, got #{inspect(value)}")

  @doc "Is the term a list that ends in `[]`?"
  @spec proper_list?(term()) :: boolean()
  def proper_list?(value), do: is_list(value) and not List.improper?(value)
end
