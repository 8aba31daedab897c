defmodule PtcRunner.SubAgent.TypeExtractor.Memo do
  @moduledoc false
  # Memo of extracted signatures, for the whole node. The key contains the MD5 of the module's code, so
  # an entry is never wrong and never changes, which suits persistent terms. The number of entries
  # is bounded; further functions are extracted at each call.

  alias PtcRunner.Sandbox.Modules

  @most 10_000

  @doc "The memoized result for a function, under its name or another key, or else the result of `find`; not nil."
  @spec fetch(module(), term(), arity(), (module(), term(), arity() -> found)) :: found
        when found: term()
  def fetch(module, name, arity, find) do
    case md5(module) do
      nil -> Modules.read(fn -> find.(module, name, arity) end)
      md5 -> remembered({__MODULE__, module, name, arity, md5}, find)
    end
  end

  defp remembered({_, module, name, arity, _} = key, find) do
    with nil <- :persistent_term.get(key, nil) do
      found = Modules.read(fn -> find.(module, name, arity) end)
      if room?(), do: :persistent_term.put(key, found)
      found
    end
  end

  # Two processes at the same time may count one entry twice, or both create the counter. The number of
  # entries stays bounded.
  defp room? do
    counter =
      with nil <- :persistent_term.get(__MODULE__, nil) do
        new = :counters.new(1, [])
        :persistent_term.put(__MODULE__, new)
        new
      end

    :counters.add(counter, 1, 1)
    :counters.get(counter, 1) <= @most
  end

  # Only loaded code has an MD5.
  defp md5(module) do
    with true <- Modules.loaded?(module),
         true <- function_exported?(module, :module_info, 1),
         do: module.module_info(:md5),
         else: (_ -> nil)
  end
end
