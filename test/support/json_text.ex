defmodule PtcRunner.Test.JsonText do
  @moduledoc """
  Writes a term as JSON text, if it has a JSON form.

      iex> PtcRunner.Test.JsonText.encode(%{"a" => [1, -0.0, nil]})
      {:ok, ~S({"a":[1,-0.0,null]})}

      iex> PtcRunner.Test.JsonText.encode(%{a: 1})
      :error
  """

  @doc "The JSON text of a term, `:error` for atoms, tuples, structs, bytes that are no text, ..."
  @spec encode(term()) :: {:ok, String.t()} | :error
  def encode(term) do
    {:ok, term |> text() |> IO.iodata_to_binary()}
  catch
    :no_json -> :error
  end

  defp text(nil), do: "null"
  defp text(boolean) when is_boolean(boolean), do: Atom.to_string(boolean)
  defp text(integer) when is_integer(integer), do: Integer.to_string(integer)
  defp text(float) when is_float(float), do: Float.to_string(float)
  defp text(struct) when is_struct(struct), do: throw(:no_json)

  defp text(string) when is_binary(string) do
    if String.valid?(string), do: [?", escape(string), ?"], else: throw(:no_json)
  end

  defp text(list) when is_list(list) do
    if List.improper?(list), do: throw(:no_json)
    [?[, list |> Enum.map(&text/1) |> Enum.intersperse(?,), ?]]
  end

  defp text(map) when is_map(map) do
    [?{, map |> Enum.map(&entry/1) |> Enum.intersperse(?,), ?}]
  end

  defp text(_other), do: throw(:no_json)

  defp entry({key, value}) when is_binary(key), do: [text(key), ?:, text(value)]
  defp entry(_entry), do: throw(:no_json)

  defp escape(string) do
    for <<char::utf8 <- string>>, into: "" do
      case char do
        ?" -> ~S(\")
        ?\\ -> ~S(\\)
        control when control < 0x20 -> "\\u00" <> Base.encode16(<<control>>)
        char -> <<char::utf8>>
      end
    end
  end
end
