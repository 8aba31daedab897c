defmodule PtcRunner.Firewall.Redacted do
  @moduledoc false
  # The fields of Ecto's structs that a schema redacts (`redact: true`). No text for a model shows them. Ecto is no dependency: a schema says
  # them through `__schema__/1`.

  @doc """
  The names of the redacted fields of a struct; none if its module is no schema, or is not loaded.

      iex> PtcRunner.Firewall.Redacted.names(1..2)
      []

  """
  @spec names(struct()) :: [atom()]
  def names(%{__struct__: module}) when is_atom(module) do
    # To load a module asks the code server. A struct of a schema is made by code that has loaded it.
    if function_exported?(module, :__schema__, 1), do: asked(module), else: []
  end

  # Releases of Ecto before 3.5 have no such question.
  defp asked(module) do
    module.__schema__(:redact_fields)
  rescue
    _unknown in [FunctionClauseError] -> []
  end

  @doc """
  A map of the fields of a struct without those that it redacts.

      iex> PtcRunner.Firewall.Redacted.without(%{first: 1, last: 2, step: 1}, 1..2)
      %{first: 1, last: 2, step: 1}

  """
  @spec without(map(), struct()) :: map()
  def without(fields, struct) do
    case names(struct) do
      [] -> fields
      names -> Map.drop(fields, names)
    end
  end
end
