defmodule PtcRunner.Native.Renamed do
  @moduledoc false
  # A compiled module under another name. The module's own name is the first atom in its table of atoms, and all that the module
  # says of itself refers to that entry. Stripped files of a release have the table too.

  # How the table is called, and its marks for lengths that need more than four bits, from OTP 28 on.
  @atoms ~c"AtU8"

  @doc """
  The code of a module under another name.

      iex> text = "defmodule PtcRunner.Doctest.Named do def me, do: {__MODULE__, Enum.map([1], &twice/1)}; defp twice(n), do: 2 * n end"
      iex> [{PtcRunner.Doctest.Named, beam}] = Code.compile_string(text)
      iex> {:ok, renamed} = PtcRunner.Native.Renamed.beam(beam, PtcRunner.Doctest.Other)
      iex> {:module, other} = :code.load_binary(PtcRunner.Doctest.Other, ~c"none", renamed)
      iex> other.me()
      {PtcRunner.Doctest.Other, [2]}

      iex> PtcRunner.Native.Renamed.beam("no code", PtcRunner.Doctest.Other)
      :error

  """
  @spec beam(binary(), module()) :: {:ok, binary()} | :error
  def beam(beam, name) do
    with {:ok, _module, chunks} <- :beam_lib.all_chunks(beam),
         {_, table} <- List.keyfind(chunks, @atoms, 0),
         {:ok, table} <- named(table, Atom.to_string(name)),
         chunks = List.keyreplace(chunks, @atoms, 0, {@atoms, table}),
         {:ok, renamed} <- :beam_lib.build_module(chunks),
         do: {:ok, renamed},
         else: (_other_form -> :error)
  end

  # The number of atoms, then each with its length before it. From OTP 28 on the number is negative, and a length is written as
  # operands of instructions are: up to 15 in the upper half of a byte, up to 2047 in eleven bits.
  defp named(<<count::signed-32, rest::binary>>, name) when count < 0 do
    with {:ok, length, rest} <- operand(rest),
         left when left >= 0 <- byte_size(rest) - length,
         do:
           {:ok,
            <<count::signed-32, as_operand(byte_size(name))::binary, name::binary,
              binary_part(rest, length, left)::binary>>}
  end

  defp named(<<count::32, length, _name::binary-size(length), rest::binary>>, name)
       when byte_size(name) < 256,
       do: {:ok, <<count::32, byte_size(name), name::binary, rest::binary>>}

  defp named(_table, _name), do: :error

  defp operand(<<length::4, 0::4, rest::binary>>), do: {:ok, length, rest}
  defp operand(<<high::3, 0b01000::5, low, rest::binary>>), do: {:ok, high * 256 + low, rest}
  defp operand(_other), do: :error

  defp as_operand(length) when length < 16, do: <<length::4, 0::4>>
  defp as_operand(length), do: <<div(length, 256)::3, 0b01000::5, rem(length, 256)>>
end
