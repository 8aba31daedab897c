defmodule PtcRunner.Lisp.Data do
  @moduledoc false
  # What a program reads of its context: `data/name` in the text of the program, and in functions of its memory.

  alias PtcRunner.Lisp.{Program, Remembered}

  @doc """
  The values of the names that a program reads, as it finds them.

      iex> {:ok, program} = PtcRunner.Lisp.compile("(+ data/a data/b-c data/d)")
      iex> PtcRunner.Lisp.Data.parts(program, %{"a" => 1, "b_c" => 2, "other" => 3})
      [{"a", {:ok, 1}}, {"b-c", {:ok, 2}}, {"d", :error}]

  """
  @spec parts(Program.t(), map()) :: [{String.t(), {:ok, term()} | :error}]
  def parts(%Program{names: names}, context),
    do: for(name <- names.data, do: {name, fetch(context, name)})

  # The spellings of a name, in the order in which a program tries them.
  defp fetch(context, name) do
    with :error <- Remembered.fetch(context, name) do
      other = String.replace(name, "-", "_")
      if other == name, do: :error, else: Remembered.fetch(context, other)
    end
  end
end
