defmodule PtcRunner.CLI.Files do
  @moduledoc false
  # Reads and writes the files of the Mix tasks.

  alias PtcRunner.Json.Codec

  @doc "The text of a file; `-` is the standard input. Raises `Mix.Error`."
  @spec text!(Path.t()) :: binary()
  def text!("-") do
    case IO.read(:stdio, :eof) do
      text when is_binary(text) -> text
      :eof -> ""
      other -> Mix.raise("cannot read the standard input: #{inspect(other)}")
    end
  end

  def text!(path) do
    case File.read(path) do
      {:ok, text} -> text
      {:error, reason} -> Mix.raise("cannot read #{path}: #{:file.format_error(reason)}")
    end
  end

  @doc "Writes a JSON file. Raises `Mix.Error`."
  @spec write_json!(Path.t(), term()) :: :ok
  def write_json!(path, json) do
    with {:error, reason} <- File.write(path, [Codec.encode!(json), "\n"]),
         do: Mix.raise("cannot write #{path}: #{:file.format_error(reason)}")
  end

  @doc "The map in a JSON file; an empty one without a file. Raises `Mix.Error`."
  @spec map!(Path.t() | nil, String.t()) :: map()
  def map!(nil, _what), do: %{}

  def map!(path, what) do
    case path |> text!() |> Codec.decode() do
      {:ok, map} when is_map(map) -> map
      {:ok, _other} -> Mix.raise("the #{what} in #{path} must be a JSON object")
      {:error, error} -> Mix.raise("#{path} is no JSON: #{Exception.message(error)}")
    end
  end
end
