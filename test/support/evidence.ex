defmodule PtcRunner.Test.Evidence do
  @moduledoc """
  Reads `test/evidence`: 48 business tasks, their data and tools, and the programs that a model wrote for them without
  having seen the language before (`test/evidence/README.md`).
  """

  alias PtcRunner.Json.Codec

  @directory Path.expand("../evidence", __DIR__)

  @doc "One of the files of the folder, decoded."
  @spec read(String.t()) :: term()
  def read(name) do
    @directory |> Path.join(name <> ".json") |> File.read!() |> Codec.decode!(timeout: :infinity)
  end

  @doc """
  The tools of the tasks. Each one answers from the table of the folder, and those that write send `{:wrote, name, args}`
  to the process that is given.
  """
  @spec tools(pid()) :: %{String.t() => {function(), keyword()}}
  def tools(observer) do
    table = read("tool_table")
    bounces = table["notify"]["bounces"]

    for %{"name" => name, "signature" => signature, "write" => write?} <- read("tools"),
        into: %{} do
      [parameter | _] = parameters(signature)

      function =
        if write? do
          fn %{"email" => email, "message" => message} ->
            send(observer, {:wrote, name, [email, message]})
            email not in bounces
          end
        else
          fn args -> table |> Map.fetch!(name) |> answer(args[parameter]) end
        end

      effect = if write?, do: :write, else: :read
      {name, {function, signature: signature, effect: effect}}
    end
  end

  defp parameters(signature) do
    Regex.scan(~r/(\w+) :/, hd(String.split(signature, "->")), capture: :all_but_first)
    |> List.flatten()
  end

  defp answer(answers, key) do
    case Map.get(answers, to_string(key)) do
      %{"ok" => value} -> value
      %{"error" => reason} -> {:error, reason}
      nil -> {:error, "unknown: #{key}"}
    end
  end

  @doc """
  The data of the tasks with the values that a database gives: dates and datetimes as structs, amounts as decimals.
  """
  @spec structs(map()) :: map()
  def structs(data) do
    Map.new(data, fn {table, rows} -> {table, Enum.map(rows, &structs_of_row/1)} end)
  end

  @dates ~w(hired date)
  @datetimes ~w(created_at placed_at opened_at closed_at)
  @decimals ~w(total amount price)

  defp structs_of_row(row), do: Map.new(row, fn {key, value} -> {key, of_field(key, value)} end)

  defp of_field(_key, nil), do: nil
  defp of_field(key, text) when key in @dates, do: Date.from_iso8601!(text)

  defp of_field(key, text) when key in @datetimes do
    {:ok, datetime, 0} = DateTime.from_iso8601(text)
    datetime
  end

  defp of_field(key, number) when key in @decimals and is_number(number), do: decimal(number)
  defp of_field(_key, rows) when is_list(rows), do: Enum.map(rows, &of_item/1)
  defp of_field(_key, value), do: value

  defp of_item(%{} = row), do: structs_of_row(row)
  defp of_item(item), do: item

  # A decimal with the digits of the number: 12.5 is 125 times 10 to the power of -1.
  defp decimal(integer) when is_integer(integer), do: decimal(Integer.to_string(integer))
  defp decimal(float) when is_float(float), do: decimal(Float.to_string(float))

  defp decimal(text) do
    {sign, digits} =
      if match?("-" <> _, text),
        do: {-1, binary_part(text, 1, byte_size(text) - 1)},
        else: {1, text}

    [whole | fraction] = String.split(digits, ".")
    fraction = Enum.join(fraction)

    struct!(Decimal,
      sign: sign,
      coef: String.to_integer(whole <> fraction),
      exp: -byte_size(fraction)
    )
  end

  @doc """
  Whether a value is the one that is expected: numbers to 1e-9, decimals as numbers, dates and datetimes as their text.
  """
  @spec same?(term(), term()) :: boolean()
  def same?(%{__struct__: Decimal} = decimal, expected), do: same?(number(decimal), expected)
  def same?(%Date{} = date, expected), do: Date.to_iso8601(date) == expected
  def same?(%DateTime{} = datetime, expected), do: DateTime.to_iso8601(datetime) == expected

  def same?(value, expected) when is_number(value) and is_number(expected) do
    abs(value - expected) <= 1.0e-9 * max(1, abs(expected))
  end

  def same?(value, expected) when is_list(value) and is_list(expected) do
    length(value) == length(expected) and
      Enum.all?(Enum.zip(value, expected), fn {a, b} -> same?(a, b) end)
  end

  def same?(value, expected) when is_map(value) and is_map(expected) do
    Map.keys(value) == Map.keys(expected) and
      Enum.all?(value, fn {key, a} -> same?(a, expected[key]) end)
  end

  def same?(value, expected), do: value === expected

  defp number(%{sign: sign, coef: coef, exp: exp}), do: sign * coef * :math.pow(10, exp)
end
