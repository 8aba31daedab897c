defmodule PtcRunner.Sandbox.Modules do
  @moduledoc false
  # What this library asks about the modules of applications. The code server answers by a message, and a process that is over its
  # heap limit must not wait for one: see `PtcRunner.Sandbox.Guarded.settle/0`.

  alias PtcRunner.Sandbox.Guarded

  @doc """
  Whether a module is loaded, or can be.

      iex> for module <- [Enum, NoModule], do: PtcRunner.Sandbox.Modules.loaded?(module)
      [true, false]

  """
  @spec loaded?(module()) :: boolean()
  def loaded?(module),
    do: :erlang.module_loaded(module) or (Guarded.settle() == :ok and Code.ensure_loaded?(module))

  @doc """
  The implementation of a protocol for a term; `none` if a struct has none. A protocol that is not consolidated makes an atom of the struct's
  name when it is asked, so it is asked only where an implementation of that name is loaded or has a file.

      iex> for term <- [~D[2024-01-01], %{__struct__: NoModule}, {1}],
      ...>   do: PtcRunner.Sandbox.Modules.implementation(PtcRunner.Json.Encoder, term, nil)
      [PtcRunner.Json.Encoder.Date, nil, nil]

  """
  @spec implementation(module(), term(), module() | nil) :: module() | nil
  def implementation(protocol, %{__struct__: module} = struct, none) when is_atom(module) do
    if protocol.__protocol__(:consolidated?) or named?(protocol, module),
      do: protocol.impl_for(struct),
      else: none
  end

  def implementation(protocol, term, _none), do: protocol.impl_for(term)

  defp named?(protocol, module) do
    name =
      case Atom.to_string(module) do
        "Elixir." <> name -> "#{protocol}.#{name}"
        name -> "#{protocol}.#{name}"
      end

    existing?(name) or
      (Guarded.settle() == :ok and
         :code.where_is_file(String.to_charlist(name <> ".beam")) != :non_existing)
  end

  defp existing?(name) do
    is_atom(String.to_existing_atom(name))
  rescue
    _none_or_too_long in [ArgumentError, SystemLimitError] -> false
  end

  @doc """
  What `fun` reads from the files of modules, in a process of its own without a limit: the reading waits for several messages,
  and what it builds meanwhile may be larger than the limit of the caller.

      iex> {:docs_v1, _, :elixir, _, _, _, _} = PtcRunner.Sandbox.Modules.read(fn -> Code.fetch_docs(Enum) end)

  """
  @spec read((() -> value)) :: value when value: term()
  def read(fun) do
    case Guarded.call(0, :infinity, fn nil -> fun.() end, nil) do
      {:ok, value} -> value
      {:exit, reason} -> exit(reason)
    end
  end
end
