defmodule PtcRunner.Test.StoredVectors do
  @moduledoc """
  Golden vectors for test modules with many cases. The cases that begin with the same word are one test: a test for each of 9,000
  cases takes longer to compile, and to start, than most cases take. Each case runs in a process of its own all the
  same, and all cases that are wrong are shown.

  The tags of a test are copied with each test that runs, so a tag holds the places of cases, and the cases are stored once.
  """

  import ExUnit.Assertions, only: [flunk: 1]

  alias PtcRunner.Test.Vectors

  @type place :: {file :: String.t(), index :: non_neg_integer()}

  # Wrong cases that a failure shows.
  @shown 25

  @doc "The cases of a file with their places."
  @spec placed(String.t()) :: [{map(), place()}]
  def placed(file) do
    for {vector, index} <- file |> Vectors.read() |> Enum.with_index(),
        do: {vector, {file, index}}
  end

  @doc """
  The places of the cases, by group, in the order of the file. The group is what stands before the first `/` of an identifier,
  without a number at its end.

      iex> groups = PtcRunner.Test.StoredVectors.groups(PtcRunner.Test.StoredVectors.placed("render"))
      iex> Enum.map(groups, fn {group, places} -> {group, length(places)} end)
      [{"render-render", 11}, {"render-render-type", 21}, {"render-opts", 19}, {"render-to-lisp-key", 7}]
  """
  @spec groups([{map(), place()}]) :: [{group :: String.t(), [place(), ...]}]
  def groups(placed) do
    by_group = Enum.group_by(placed, fn {vector, _} -> group(vector.id) end, &elem(&1, 1))

    for group <- placed |> Enum.map(fn {vector, _} -> group(vector.id) end) |> Enum.uniq(),
        do: {group, by_group[group]}
  end

  defp group(id), do: id |> String.split("/") |> hd() |> String.replace(~r/-\d+$/, "")

  @doc """
  A test for each group of cases of a file, or of several. The block is compiled once, as a function of a case.
  The group is a tag, so `mix test --only group:upper` runs `upper/…`.

      vectors "JsonParser.parse/1", "json_parser", vector do
        assert JsonParser.parse(vector.text) === vector.expect
      end
  """
  defmacro vectors(title, files, vector, do: check) do
    quote do
      placed = unquote(files) |> List.wrap() |> Enum.flat_map(&unquote(__MODULE__).placed/1)
      unquote(__MODULE__).vectors_of(unquote(title), placed, unquote(vector), do: unquote(check))
    end
  end

  @doc "The same for cases with their places: `placed/1` gives them."
  defmacro vectors_of(title, placed, vector, do: check) do
    name = :"check #{title}"

    quote do
      defp unquote(name)(unquote(vector)), do: unquote(check)

      describe unquote(title) do
        for {group, places} <- unquote(__MODULE__).groups(unquote(placed)) do
          @tag places: places
          @tag group: group
          test group, %{places: places} do
            unquote(__MODULE__).check_each(places, &unquote(name)(&1))
          end
        end
      end
    end
  end

  @doc "Fails with all cases of which `check` fails."
  @spec check_each([place(), ...], (map() -> term())) :: :ok
  def check_each([_ | _] = places, check) do
    wrong =
      for place <- places,
          vector = fetch(place),
          text = wrong(vector, check),
          do: "#{vector.id}: #{text}"

    if wrong != [] do
      shown = wrong |> Enum.take(@shown) |> Enum.join("\n\n")
      flunk("#{length(wrong)} of #{length(places)} cases are wrong:\n\n" <> shown)
    end

    :ok
  end

  # What is wrong, as a text; nil if nothing is.
  defp wrong(vector, check) do
    test = self()

    {pid, monitor} =
      spawn_monitor(fn -> send(test, {:checked, self(), failure(vector, check)}) end)

    receive do
      {:checked, ^pid, failure} -> Process.demonitor(monitor, [:flush]) && failure
      {:DOWN, ^monitor, :process, ^pid, reason} -> "its process has ended: #{inspect(reason)}"
    end
  end

  defp failure(vector, check) do
    check.(vector)
    nil
  catch
    kind, reason -> Exception.format(kind, reason, __STACKTRACE__)
  end

  @doc "The case at a place. A file is read once."
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
