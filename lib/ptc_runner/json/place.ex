defmodule PtcRunner.Json.Place do
  @moduledoc false
  # The places of a program's calls: the native side gives the address of a call, and finds its path in what the program keeps of its
  # source. A path that was asked for is kept: a loop calls the same tool often.

  alias PtcRunner.{Aligned, Native, Quanta}
  alias PtcRunner.Native.Panic
  require Quanta

  # Maximum parts at the start and at the end of a path that is not whole, as in an explanation.
  @most_parts 32

  @enforce_keys [:handle, :consts, :source]
  defstruct [:handle, :consts, :source, :text, paths: %{}]

  @type t :: %__MODULE__{}

  @doc "The places of a program with this native part and these constants, which was compiled from this source."
  @spec new(reference(), tuple(), term()) :: t()
  def new(handle, consts, source),
    do: %__MODULE__{handle: handle, consts: consts, source: source}

  @doc "The path of the call at an address; and the places, if that was not known: nil if it was."
  @spec path(t() | nil, non_neg_integer()) :: {[term()] | nil, t() | nil}
  def path(nil, _pc), do: {nil, nil}

  def path(place, pc) do
    case place.paths do
      %{^pc => path} ->
        {path, nil}

      paths ->
        place = with_text(place)
        path = place |> found(pc) |> shortened()
        {path, %{place | paths: Map.put(paths, pc, path)}}
    end
  end

  defp with_text(%{text: nil, source: source} = place) when is_binary(source),
    do: %{place | text: Aligned.text(source)}

  defp with_text(place), do: place

  defp found(%{handle: handle, consts: consts, text: text}, pc) do
    {:ok, path} = Quanta.finish(Quanta.native(Native.call_path(handle, consts, text, pc)))
    path
  catch
    :error, :nif_panicked -> Panic.raise!()
  end

  defp shortened(nil), do: nil

  defp shortened(path) do
    path = ["program" | path]

    if length(path) <= 2 * @most_parts + 1,
      do: path,
      else: Enum.take(path, @most_parts) ++ ["…"] ++ Enum.take(path, -@most_parts)
  end
end
