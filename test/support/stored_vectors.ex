defmodule PtcRunner.Test.StoredVectors do
  @moduledoc """
  Golden vectors for test modules with many cases. The tags of a test are copied with each test
  that runs, so a tag holds the index of a case, and the cases are stored once.
  """

  alias PtcRunner.Test.Vectors

  @type place :: {file :: String.t(), index :: non_neg_integer()}

  @doc "The cases of a file with their indices."
  @spec placed(String.t()) :: [{map(), place()}]
  def placed(file) do
    for {vector, index} <- file |> Vectors.read() |> Enum.with_index(),
        do: {vector, {file, index}}
  end

  @doc """
  A test for each case of a file, or of several. The block is compiled once, as a function.
  The tag `:group` is the first part of the identifier, so `mix test --only group:upper` runs `upper/…`.

      vectors "JsonParser.parse/1", "json_parser", vector do
        assert JsonParser.parse(vector.text) === vector.expect
      end
  """
  defmacro vectors(title, files, vector, do: check) do
    name = :"check #{title}"

    quote do
      defp unquote(name)(unquote(vector)), do: unquote(check)

      describe unquote(title) do
        for file <- List.wrap(unquote(files)),
            {found, place} <- unquote(__MODULE__).placed(file) do
          @tag vector: place
          @tag group: found.id |> String.split("/") |> hd()
          test found.id, %{vector: place} do
            unquote(name)(unquote(__MODULE__).fetch(place))
          end
        end
      end
    end
  end

  @doc "The case at an index. A file is read once."
  @spec fetch(place()) :: map()
  def fetch({file, index}), do: elem(stored(file), index)

  defp stored(file) do
    key = {__MODULE__, file}

    with nil <- :persistent_term.get(key, nil) do
      cases = List.to_tuple(Vectors.read(file))
      :persistent_term.put(key, cases)
      cases
    end
  end
end
