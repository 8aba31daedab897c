defmodule PtcRunner.Test.AnswerOracle.Find do
  @moduledoc false
  # Finds the JSON of an answer. Offsets are bytes.

  alias PtcRunner.Test.AnswerOracle.Decode

  @blanks ~c"\t\n\v\f\r "
  @json_bytes ~c"\"':,{}[]\\"

  def parse(text) do
    case first_choice(text) do
      {:ok, value} -> {:ok, value}
      error -> recovered(text) || error
    end
  end

  defp first_choice(text) do
    case fence(text, 0) do
      nil -> raw(text)
      content -> with :error <- Decode.whole(content), do: {:error, :invalid_json}
    end
  end

  defp raw(text) do
    with start when start != nil <- bracket(text, 0),
         region when region != nil <- region(text, start) do
      with :error <- Decode.whole(region), do: {:error, :invalid_json}
    else
      nil -> {:error, :no_json_found}
    end
  end

  # The content of the fence that counts; nil if there is none, or if it is empty.
  defp fence(text, from) do
    with {marker, 3} <- match(text, "```", from),
         start = text |> after_json(marker + 3) |> skip(text),
         {stop, 3} <- match(text, "```", start) do
      case around(text, from, marker) do
        nil -> non_empty(String.trim(binary_part(text, start, stop - start)))
        after_region -> fence(text, after_region)
      end
    else
      :nomatch -> nil
    end
  end

  defp non_empty(""), do: nil
  defp non_empty(content), do: content

  defp after_json(text, at), do: if(part(text, at, 4) == "json", do: at + 4, else: at)

  # The end of the JSON that contains the marker.
  defp around(text, from, marker) do
    with start when start != nil and start < marker <- bracket(text, from),
         region when region != nil <- region(text, start) do
      stop = start + byte_size(region)

      cond do
        stop <= marker -> around(text, stop, marker)
        match?({:ok, _}, Decode.whole(region)) -> stop
        true -> nil
      end
    else
      _none -> nil
    end
  end

  defp recovered(text) do
    case candidates(text, 0, []) do
      [range] -> Decode.whole(range)
      _none_or_more -> nil
    end
  catch
    :veto -> nil
  end

  defp candidates(text, at, found) when at >= byte_size(text), do: found

  defp candidates(text, at, found) do
    case :binary.at(text, at) do
      ?` ->
        case ticks(text, at) do
          length when length < 3 -> candidates(text, at + length, found)
          length -> fenced(text, at, length, found)
        end

      byte when byte in ~c"{[" ->
        bare(text, at, found)

      _other ->
        candidates(text, at + 1, found)
    end
  end

  defp bare(text, at, found) do
    region = region(text, at) || throw(:veto)
    stop = at + byte_size(region)
    interior = binary_part(region, 1, byte_size(region) - 2)

    cond do
      match?({:ok, _}, Decode.whole(region)) -> candidates(text, stop, [region | found])
      Enum.any?(:binary.bin_to_list(interior), &(&1 in @json_bytes)) -> throw(:veto)
      true -> candidates(text, stop, found)
    end
  end

  defp fenced(text, at, length, found) do
    rest = part(text, at + length, byte_size(text))
    [_, blanks, tag] = Regex.run(~r/\A([ \t]*)([A-Za-z0-9_+.#-]*)/, rest)
    json? = tag |> part(0, 4) |> String.downcase() == "json"
    next = skip(at + length + byte_size(blanks) + byte_size(tag), text)
    opaque = fn -> candidates(text, after_run(text, at + length, length), found) end

    cond do
      part(text, next, 1) in ["{", "["] ->
        region = region(text, next)
        stop = region && skip(next + byte_size(region), text)

        cond do
          region && match?({:ok, _}, Decode.whole(region)) && ticks(text, stop) >= length ->
            candidates(text, stop + ticks(text, stop), [region | found])

          tag == "" or json? ->
            throw(:veto)

          true ->
            opaque.()
        end

      next < byte_size(text) and ticks(text, next) < length and json? ->
        throw(:veto)

      true ->
        opaque.()
    end
  end

  defp after_run(text, at, length), do: after_run(text, at, at, length)

  defp after_run(text, default, at, _length) when at >= byte_size(text), do: default

  defp after_run(text, default, at, length) do
    case ticks(text, at) do
      0 -> after_run(text, default, at + 1, length)
      run when run >= length -> at + run
      run -> after_run(text, default, at + run, length)
    end
  end

  defp ticks(text, at),
    do: at |> Stream.iterate(&(&1 + 1)) |> Enum.find(&(part(text, &1, 1) != "`")) |> Kernel.-(at)

  defp region(text, start) do
    open = :binary.at(text, start)
    stop = stop(part(text, start, byte_size(text)), open, open + 2, 0, false, 0)
    stop && binary_part(text, start, stop)
  end

  defp stop(text, open, close, depth, string?, at) do
    case {text, string?} do
      {"", _} -> nil
      {<<?", rest::binary>>, _} -> stop(rest, open, close, depth, not string?, at + 1)
      {<<?\\, _, rest::binary>>, true} -> stop(rest, open, close, depth, true, at + 2)
      {<<_, rest::binary>>, true} -> stop(rest, open, close, depth, true, at + 1)
      {<<^open, rest::binary>>, _} -> stop(rest, open, close, depth + 1, false, at + 1)
      {<<^close, _::binary>>, _} when depth == 1 -> at + 1
      {<<^close, rest::binary>>, _} -> stop(rest, open, close, depth - 1, false, at + 1)
      {<<_, rest::binary>>, _} -> stop(rest, open, close, depth, false, at + 1)
    end
  end

  defp bracket(text, from) do
    case match(text, ["{", "["], from) do
      {at, 1} -> at
      :nomatch -> nil
    end
  end

  defp match(text, pattern, from) when from <= byte_size(text),
    do: :binary.match(text, pattern, scope: {from, byte_size(text) - from})

  defp match(_text, _pattern, _from), do: :nomatch

  defp skip(at, text),
    do:
      if(at < byte_size(text) and :binary.at(text, at) in @blanks,
        do: skip(at + 1, text),
        else: at
      )

  defp part(text, at, _length) when at >= byte_size(text), do: ""
  defp part(text, at, length), do: binary_part(text, at, min(length, byte_size(text) - at))
end
