defmodule PtcRunner.Quanta do
  @moduledoc false
  # Native work that may take long begins where it is asked for. It is left after about a millisecond
  # and goes on: for some slices on the scheduler of its process, with turns for others in between,
  # then in quanta on a dirty one. The native side says which; this is the one place that knows how.

  alias PtcRunner.Native

  @typedoc "Work that was left: where its plain part is, and its terms."
  @type left :: {:more | :long, state :: reference(), terms :: tuple()}

  @doc """
  Goes on with work until it is done.

      iex> PtcRunner.Quanta.finish(PtcRunner.Native.json_decode("[1]", :infinity, {:infinity, 0}))
      {:ok, [1]}

  """
  @spec finish(left() | result) :: result when result: term()
  def finish({next, _state, _terms} = left) when next in [:more, :long],
    do: left |> go_on() |> finish()

  def finish(done), do: done

  @doc """
  Goes on with work for one slice or one quantum.
  """
  @spec go_on(left()) :: left() | term()
  def go_on({:more, state, terms}), do: Native.resume(state, terms, :more)
  def go_on({:long, state, terms}), do: Native.resume_dirty(state, terms, :more)
end
