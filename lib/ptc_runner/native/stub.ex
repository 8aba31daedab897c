defmodule PtcRunner.Native.Stub do
  @moduledoc false
  # Functions that the native library takes the place of: a spec is all that is written of one.
  #
  #     nif weight(term(), pos_integer()) :: {:ok, non_neg_integer()}
  #
  # `pair` declares two: one for a slice on the scheduler of the caller, which says `:busy` where that is
  # not enough, and one on a dirty scheduler, whose name ends in `_dirty`.

  defmacro nif({:"::", _, [{name, _, types}, reply]}), do: stub(name, types, reply)

  defmacro pair({:"::", _, [{name, _, types}, reply]}) do
    [stub(name, types, reply), stub(:"#{name}_dirty", types, reply)]
  end

  defp stub(name, types, reply) do
    args = Enum.map(types, fn _type -> {:_, [], __MODULE__} end)

    quote do
      @doc false
      @spec unquote(name)(unquote_splicing(types)) :: unquote(reply)
      def unquote(name)(unquote_splicing(args)),
        do: :erlang.nif_error(PtcRunner.Native.Library.not_loaded())
    end
  end
end
