defmodule PtcRunner.Native.Stub do
  @moduledoc false
  # Declares functions that the native library replaces: a spec is enough.
  #
  #     nif weight(term(), pos_integer()) :: {:ok, non_neg_integer()}
  #
  # `pair` declares two functions: one runs for a slice on the scheduler of the caller and returns `:busy` if
  # that is not enough; the other one runs on a dirty scheduler, and its name ends in `_dirty`.

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
