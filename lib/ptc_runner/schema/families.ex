defmodule PtcRunner.Schema.Families do
  @moduledoc false
  # The families of operations of edition 2 that a prompt or a schema may leave out. What every program needs is in none
  # of them.

  alias PtcRunner.Schema.Table
  alias PtcRunner.Shown

  @type family :: :numbers | :objects | :groups | :text | :dates | :tools | :types

  @categories %{
    "Arithmetic" => :numbers,
    "Combine" => :objects,
    "Objects" => :objects,
    "Group and join" => :groups,
    "Text" => :text,
    "Dates" => :dates,
    "Tools" => :tools,
    "Introspect" => :types
  }

  @families @categories |> Map.values() |> Enum.uniq() |> Enum.sort()

  @doc """
  All families.

      iex> PtcRunner.Schema.Families.all()
      [:dates, :groups, :numbers, :objects, :text, :tools, :types]

  """
  @spec all() :: [family()]
  def all, do: @families

  @doc "The family of a category of the table; nil for what every program needs."
  @spec of(String.t()) :: family() | nil
  def of(category), do: @categories[category]

  @doc "The operations of edition 2 in these families, and those that every program needs."
  @spec operations!([family()] | :all, String.t()) :: [Table.operation()]
  def operations!(chosen, function) do
    chosen = checked!(chosen, function)
    Enum.filter(Table.operations(2), &(of(&1.category) in [nil | chosen]))
  end

  defp checked!(:all, _function), do: @families

  defp checked!(chosen, function) do
    if is_list(chosen) and not List.improper?(chosen) and chosen -- @families == [] do
      chosen
    else
      raise ArgumentError,
            "option :operations of #{function} must be :all or a list of families " <>
              "(#{Enum.map_join(@families, ", ", &inspect/1)}), got: #{Shown.text(chosen, 200)}"
    end
  end
end
