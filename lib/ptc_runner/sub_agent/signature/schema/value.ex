defmodule PtcRunner.SubAgent.Signature.Schema.Value do
  @moduledoc false
  # The values of rules as JSON: bounds, enumerations, defaults.

  alias PtcRunner.Json.{Codec, Values}
  alias PtcRunner.Shown

  @doc """
  A term as JSON has it, as terms; `:error` if it has no form there.

      iex> alias PtcRunner.SubAgent.Signature.Schema.Value
      iex> Value.json([:open, ~D[2024-02-29], %{n: 1.5}, nil])
      {:ok, ["open", "2024-02-29", %{"n" => 1.5}, nil]}

      iex> PtcRunner.SubAgent.Signature.Schema.Value.json({1, 2})
      :error

  """
  @spec json(term()) :: {:ok, term()} | :error
  def json(value) when is_number(value) or is_boolean(value) or value == nil, do: {:ok, value}
  def json(value) when is_atom(value), do: {:ok, Atom.to_string(value)}

  def json(value) when is_binary(value),
    do: if(String.valid?(value), do: {:ok, value}, else: :error)

  def json(list) when is_list(list) do
    if List.improper?(list), do: :error, else: all(list, &json/1)
  end

  def json(%{__struct__: _module} = struct) do
    if Values.value?(struct),
      do: Values.exact_text(struct),
      else: struct |> Values.fields() |> json()
  end

  def json(map) when is_map(map) do
    with {:ok, pairs} <- map |> Enum.sort() |> all(&pair/1), do: {:ok, Map.new(pairs)}
  end

  def json(_other), do: :error

  defp pair({key, value}) when is_binary(key) or is_atom(key) do
    with {:ok, value} <- json(value), do: {:ok, {to_string(key), value}}
  end

  defp pair(_other), do: :error

  defp all(list, convert) do
    Enum.reduce_while(list, [], fn item, done ->
      case convert.(item) do
        {:ok, item} -> {:cont, [item | done]}
        :error -> {:halt, :error}
      end
    end)
    |> case do
      :error -> :error
      done -> {:ok, Enum.reverse(done)}
    end
  end

  @doc """
  A bound as a number of JSON; `:error` for a decimal that no integer and no float is.

      iex> PtcRunner.SubAgent.Signature.Schema.Value.number(%{__struct__: Decimal, sign: 1, coef: 1250, exp: -2})
      {:ok, 12.5}

  """
  @spec number(term()) :: {:ok, number()} | :error
  def number(number) when is_number(number), do: {:ok, number}
  def number(decimal), do: with(:error <- Values.integer(decimal), do: Values.float(decimal))

  @doc """
  The name of a JSON value's type.

      iex> Enum.map(["a", 1, 1.5, true, nil, []], &PtcRunner.SubAgent.Signature.Schema.Value.type/1)
      ["string", "integer", "number", "boolean", "null", "array"]

  """
  @spec type(term()) :: String.t()
  def type(value) when is_binary(value), do: "string"
  def type(value) when is_boolean(value), do: "boolean"
  def type(nil), do: "null"
  def type(value) when is_integer(value), do: "integer"
  def type(value) when is_float(value), do: "number"
  def type(value) when is_list(value), do: "array"
  def type(value) when is_map(value), do: "object"

  @doc "A value in a sentence: as JSON, else as Elixir shows it."
  @spec text(term()) :: String.t()
  def text(value) do
    case json(value) do
      {:ok, json} -> Codec.encode!(json)
      :error -> Shown.text(value)
    end
  end
end
