defmodule PtcRunner.Json.Place do
  @moduledoc false
  # The places of a program's calls: the native side gives the address of a call, and the path belongs to the call with the
  # same number in the program that is compiled for observation. That is done when a path is first asked for.

  alias PtcRunner.Json.{Limits, Program}
  alias PtcRunner.Native

  # Maximum parts at the start and at the end of a path that is not whole, as in an explanation.
  @most_parts 32

  @enforce_keys [:handle, :source, :reading]
  defstruct [:handle, :source, :reading, :observed, paths: %{}]

  @type t :: %__MODULE__{}

  @doc "The places of a program with this native part, which is compiled from this source."
  @spec new(reference(), Program.source(), Limits.reading()) :: t()
  def new(handle, source, reading),
    do: %__MODULE__{handle: handle, source: source, reading: reading}

  @doc "The path of the call at an address; and the places, if that was not known: nil if it was."
  @spec path(t() | nil, non_neg_integer()) :: {[term()] | nil, t() | nil}
  def path(nil, _pc), do: {nil, nil}

  def path(place, pc) do
    case place.paths do
      %{^pc => path} -> {path, nil}
      paths -> found(place, pc, paths)
    end
  end

  defp found(place, pc, paths) do
    place = observed(place)

    path =
      place.observed && place.observed |> at(Native.call_number(place.handle, pc)) |> shortened()

    {path, %{place | paths: Map.put(paths, pc, path)}}
  end

  defp at({handle, consts}, number), do: Native.call_path(handle, consts, number)

  defp observed(%{observed: nil} = place) do
    {timeout, max_heap, _depth} = Limits.default()
    reading = Program.observed(place.reading)

    case Program.build(place.source, reading, {timeout, max_heap}) do
      {:ok, handle, consts} -> %{place | observed: {handle, consts}}
      _error -> %{place | observed: false}
    end
  end

  defp observed(place), do: place

  defp shortened(nil), do: nil

  defp shortened(path) do
    path = ["program" | path]

    if length(path) <= 2 * @most_parts + 1,
      do: path,
      else: Enum.take(path, @most_parts) ++ ["…"] ++ Enum.take(path, -@most_parts)
  end
end
