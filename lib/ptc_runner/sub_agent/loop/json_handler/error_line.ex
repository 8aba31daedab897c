defmodule PtcRunner.SubAgent.Loop.JsonHandler.ErrorLine do
  @moduledoc false
  # Validation errors in one line of limited length. There may be millions of errors:
  # the errors of a validation are written natively, and native/ptc_nif/src/error_line.rs writes
  # the same text as this module.

  alias PtcRunner.{Native, Quanta, Shown}
  alias PtcRunner.Native.Panic
  require Quanta

  # Maximum bytes of the path and the message of one error, and of the line.
  @part 2_000
  @all 1_048_576

  @doc false
  def text(errors) do
    case native(errors) do
      :other -> write(errors, :infinity, @all, 0)
      {:ok, text} -> text
    end
  end

  @doc false
  # At most `most` errors and about `bytes` bytes, and then the number of further errors, including
  # `omitted` that are not in the list.
  def first(errors, most, bytes, omitted), do: write(errors, most, bytes, omitted)

  defp native(errors) do
    Quanta.run(Native.error_line(errors))
  catch
    :error, :nif_panicked ->
      _text = Panic.caught()
      :other
  end

  defp write(errors, most, bytes, omitted) do
    {texts, _count, _left, more} = Enum.reduce(errors, {[], 0, bytes, 0}, &add(&1, &2, most))
    more = more + omitted
    texts = if more > 0, do: ["and #{more} more" | texts], else: texts
    texts |> Enum.reverse() |> Enum.join("; ")
  end

  defp add(error, {texts, count, left, more}, most) when count < most and more == 0 do
    text = one(error)
    left = left - byte_size(text) - 2

    if left < 0,
      do: {texts, count, left, 1},
      else: {[text | texts], count + 1, left, 0}
  end

  defp add(_error, {texts, count, left, more}, _most), do: {texts, count, left, more + 1}

  defp one(%{path: path, message: message}), do: way(path) <> ": " <> part(message)

  defp way([]), do: "root"
  defp way(path), do: path |> Enum.map_join(".", &Shown.string/1) |> part()

  defp part(text), do: text |> Shown.string() |> Shown.cut(@part)
end
