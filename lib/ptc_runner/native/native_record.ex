defmodule PtcRunner.Native.NativeRecord do
  @moduledoc false
  # Native records, a kind of term since OTP 29, and kinds that come after it. For programs they are opaque values:
  # neither maps nor lists, compared and ordered by the VM.

  alias PtcRunner.Shown.{Head, Size}

  # The module exists since OTP 29.
  @compile {:no_warn_undefined, :records}

  @doc """
  Whether a term is a native record, or of a kind that this library does not know.

      iex> Enum.any?([1, 1.5, :a, "a", <<1::3>>, [], {}, %{}, self(), make_ref(), & &1],
      ...>   &PtcRunner.Native.NativeRecord.is?/1)
      false

  """
  @spec is?(term()) :: boolean()
  # Elixir's type checker knows no other kinds either, and would warn of a plain `or`.
  def is?(term) do
    not :lists.member(true, [
      is_atom(term) or is_number(term) or is_bitstring(term),
      is_list(term) or is_tuple(term) or is_map(term),
      is_function(term) or is_pid(term) or is_port(term) or is_reference(term)
    ])
  end

  @doc "The names of the fields; none for a kind that this library does not know."
  @spec names(term()) :: [atom()]
  def names(record) do
    :records.get_field_names(record)
  rescue
    _unknown -> []
  end

  @doc "The values of the fields; none for a kind that this library does not know."
  @spec values(term()) :: [term()]
  def values(record), do: for(name <- names(record), do: :records.get(name, record))

  @doc """
  The text of `inspect/1`, or only the name, if that text would be long or would show a firewalled value. `inspect/1`
  knows no limit for native records.
  """
  @spec text(term(), Inspect.Opts.t()) :: String.t()
  def text(record, opts) do
    with true <- Size.small?(record) and Head.open?(record),
         text = Inspect.inspect(record, opts),
         true <- is_binary(text) and String.valid?(text) do
      text
    else
      _not_shown -> concealed(record)
    end
  rescue
    # `inspect/1` of Elixir before 1.20 does not know native records.
    _unknown -> concealed(record)
  end

  defp concealed(record) do
    "##{Atom.to_string(:records.get_module(record))}:#{Atom.to_string(:records.get_name(record))}{…}"
  rescue
    _unknown -> "#Unknown<…>"
  end
end
