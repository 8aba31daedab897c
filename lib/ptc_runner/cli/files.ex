defmodule PtcRunner.CLI.Files do
  @moduledoc false
  # Reads and writes the files of the Mix tasks.

  alias PtcRunner.CLI.{Plain, Progress}
  alias PtcRunner.Json.{Codec, Limits}

  # Bytes that are read between two looks at the clock.
  @piece 4_194_304

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

  @doc """
  The text of a file, with a progress line for a large one on a terminal; an empty text without a file. Raises `Mix.Error`.
  """
  @spec large_text!(Path.t() | nil) :: binary() | nil
  def large_text!(nil), do: nil
  def large_text!("-"), do: text!("-")

  def large_text!(path) do
    with {:ok, %{type: :regular, size: size}} <- File.stat(path),
         true <- Progress.large?(size),
         {:ok, file} <- File.open(path, [:read, :raw, :binary]) do
      Progress.counting("reading #{Plain.text(Path.basename(path))}", size, fn count ->
        pieces(file, path, count, [])
      end)
    else
      _other -> text!(path)
    end
  end

  defp pieces(file, path, count, pieces) do
    case :file.read(file, @piece) do
      {:ok, piece} ->
        count.(byte_size(piece))
        pieces(file, path, count, [pieces, piece])

      :eof ->
        File.close(file)
        IO.iodata_to_binary(pieces)

      {:error, reason} ->
        Mix.raise("cannot read #{path}: #{:file.format_error(reason)}")
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
  def map!(path, what), do: path |> text!() |> map!(path, what, Limits.text_timeout())

  @doc "The map in the text of a JSON file. Raises `Mix.Error`."
  @spec map!(binary(), Path.t(), String.t(), timeout()) :: map()
  def map!(text, path, what, timeout) do
    case Codec.decode(text, timeout: timeout) do
      {:ok, map} when is_map(map) ->
        map

      {:ok, _other} ->
        Mix.raise("the #{what} in #{path} must be a JSON object")

      {:error, %{reason: :timeout}} ->
        Mix.raise("decoding #{path} took longer than #{timeout} ms: raise --timeout")

      {:error, error} ->
        Mix.raise("#{path} is no JSON: #{Exception.message(error)}")
    end
  end
end
