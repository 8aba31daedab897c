defmodule PtcRunner.Test.Oracle.Fail do
  @moduledoc false
  # The first error ends the program: it is thrown where it occurs and caught at one point.

  defmodule Hidden do
    @moduledoc false
    defstruct []

    defimpl Inspect do
      def inspect(_hidden, _opts), do: "…"
    end
  end

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
    if proper_list?(value), do: value, else: fail("#{what}, got #{shown(value)}")
  end

  @doc "The value if it is a map (or struct), the failure `<what>, got <value>` otherwise."
  @spec map!(term(), String.t()) :: map()
  def map!(value, _what) when is_map(value), do: value
  def map!(value, what), do: fail("#{what}, got #{shown(value)}")

  # Longer values that are no texts are shortened. How is not what the oracle judges.
  @longest PtcRunner.Shown.value_limit()

  @doc "The text of a value in an error: that of `inspect/1`, without the values of firewalled keys."
  @spec shown(term()) :: String.t()
  def shown(value) do
    text = inspected(value)

    if is_binary(value) or byte_size(text) <= @longest,
      do: text,
      else: PtcRunner.Shown.text(value)
  end

  @doc "The texts of two values in one error."
  @spec both(term(), term()) :: {String.t(), String.t()}
  def both(left, right) do
    {left_text, right_text} = {inspected(left), inspected(right)}

    if byte_size(left_text) + byte_size(right_text) <= @longest,
      do: {left_text, right_text},
      else: PtcRunner.Shown.both(left, right)
  end

  # Which marks are escaped is not what the oracle judges.
  defp inspected(value),
    do: value |> public() |> Kernel.inspect() |> PtcRunner.Shown.Line.seen()

  @doc "A name in an error: on one line. How it is escaped is not what the oracle judges."
  @spec name(binary()) :: String.t()
  def name(name), do: PtcRunner.Shown.name(name)

  defp public(map) when is_map(map) and not is_struct(map),
    do:
      Map.new(map, fn {key, value} ->
        {public(key), if(firewalled?(key), do: %Hidden{}, else: public(value))}
      end)

  defp public([first | rest]), do: [public(first) | public(rest)]

  defp public(tuple) when is_tuple(tuple),
    do: tuple |> Tuple.to_list() |> public() |> List.to_tuple()

  defp public(leaf), do: leaf

  defp firewalled?(key) when is_atom(key), do: key |> Atom.to_string() |> firewalled?()
  defp firewalled?(key), do: is_binary(key) and String.starts_with?(key, ["_", "-"])

  @doc "Is the term a list that ends in `[]`?"
  @spec proper_list?(term()) :: boolean()
  def proper_list?(value), do: is_list(value) and not List.improper?(value)
end
