defmodule PtcRunner.Quanta do
  @moduledoc false
  # Drives native work to its end. Each native call starts on the scheduler of its process, for about a
  # millisecond at most. Its reply decides how the work continues:
  #
  #   * `:busy`: no work was kept; the function's `_dirty` twin does all of it on a dirty scheduler
  #   * `{:more, state, terms}`: resumed in another slice, after other processes have run
  #   * `{:long, state, terms}`: resumed in a quantum on a dirty scheduler
  #
  # native/ptc_nif/src/schedule.rs decides when work is suspended.

  alias PtcRunner.Native
  alias PtcRunner.Native.Types
  alias PtcRunner.Sandbox.Guarded

  # The terms of a text of this size hardly make the VM collect garbage.
  @small 4_096

  @doc """
  Runs a native call to its end. If the function returns `:busy`, its twin, whose name ends in `_dirty`, is
  called with the same arguments.

      iex> require PtcRunner.Quanta
      iex> PtcRunner.Quanta.run(PtcRunner.Native.signature_lisp_key("user_id"))
      {:ok, "user-id"}

  """
  defmacro run({{:., _, [module, name]}, _, args}) do
    vars = Macro.generate_arguments(length(args), __MODULE__)
    given = for {var, arg} <- Enum.zip(vars, args), do: quote(do: unquote(var) = unquote(arg))

    quote do
      unquote_splicing(given)

      try do
        unquote(module).unquote(name)(unquote_splicing(vars))
      catch
        :error, :undef -> PtcRunner.Quanta.gone()
      else
        :busy ->
          PtcRunner.Quanta.finish(
            unquote(module).unquote(:"#{name}_dirty")(unquote_splicing(vars))
          )

        reply ->
          PtcRunner.Quanta.finish(reply)
      end
    end
  end

  @doc """
  Runs a native call of a function that returns no error: it raises if the native function panics.

      iex> require PtcRunner.Quanta
      iex> PtcRunner.Quanta.run!(PtcRunner.Native.signature_lisp_key("user_id"))
      {:ok, "user-id"}

  """
  defmacro run!(call) do
    quote do
      try do
        PtcRunner.Quanta.run(unquote(call))
      catch
        :error, :nif_panicked -> PtcRunner.Native.Panic.raise!()
      end
    end
  end

  @doc """
  One native call whose reply is not finished here.

      iex> require PtcRunner.Quanta
      iex> PtcRunner.Quanta.native(PtcRunner.Native.map_view())
      :direct

  """
  defmacro native(call) do
    quote do
      try do
        unquote(call)
      catch
        :error, :undef -> PtcRunner.Quanta.gone()
      end
    end
  end

  @doc false
  # The native module has been deleted. Its callers know the error of a panic, which has no arguments of a call.
  @spec gone() :: no_return()
  def gone, do: :erlang.error(:nif_panicked)

  @doc """
  Resumes work until it is done.

      iex> PtcRunner.Quanta.finish(PtcRunner.Native.json_decode("[1]", :infinity, {:infinity, 0}))
      {:ok, [1]}

  """
  @spec finish(Types.left() | result) :: result when result: term()
  def finish({next, _state, _terms} = left) when next in [:more, :long],
    do: left |> go_on() |> resumed()

  def finish(done), do: done

  # Work that was resumed may have made large terms.
  defp resumed({next, _state, _terms} = left) when next in [:more, :long],
    do: left |> go_on() |> resumed()

  defp resumed(done) do
    Guarded.settle()
    done
  end

  @doc """
  Like `finish/1`, for terms that were made from a text of so many bytes.

      iex> PtcRunner.Quanta.finish(PtcRunner.Native.json_decode("[1]", :infinity, {:infinity, 0}), 3)
      {:ok, [1]}

  """
  @spec finish(Types.left() | result, non_neg_integer()) :: result when result: term()
  def finish(reply, bytes) when bytes <= @small, do: finish(reply)

  def finish(reply, _bytes) do
    done = finish(reply)
    Guarded.settle()
    done
  end

  @doc """
  Resumes work for one slice or one quantum.
  """
  @spec go_on(Types.left()) :: Types.left() | term()
  def go_on({:more, state, terms}), do: native(Native.resume(state, terms, :more))
  def go_on({:long, state, terms}), do: native(Native.resume_dirty(state, terms, :more))
end
