defmodule PtcRunner.SubAgent.TypeExtractor.Memo do
  @moduledoc false
  # What was found out about functions, for the whole node. The key has the MD5 of the module's code:
  # an entry is never wrong, and so never changed, which persistent terms are made for. Their number
  # is bounded: what comes after the last one is found out each time.

  @most 10_000

  @type found :: {String.t() | nil, String.t() | nil}

  @doc "What is remembered of a function, or else what `find` says."
  @spec fetch(module(), atom(), arity(), (module(), atom(), arity() -> found())) :: found()
  def fetch(module, name, arity, find) do
    case md5(module) do
      nil -> find.(module, name, arity)
      md5 -> remembered({__MODULE__, module, name, arity, md5}, find)
    end
  end

  defp remembered({_, module, name, arity, _} = key, find) do
    with nil <- :persistent_term.get(key, nil) do
      found = find.(module, name, arity)
      if room?(), do: :persistent_term.put(key, found)
      found
    end
  end

  # Two processes that come at once may count one entry twice, or both make the counter: the bound is
  # no less a bound.
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

  # Only code that is there has one.
  defp md5(module) do
    with {:module, ^module} <- Code.ensure_loaded(module),
         true <- function_exported?(module, :module_info, 1),
         do: module.module_info(:md5),
         else: (_ -> nil)
  end
end
