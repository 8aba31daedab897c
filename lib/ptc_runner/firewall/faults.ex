defmodule PtcRunner.Firewall.Faults do
  @moduledoc false
  # Faults of runs that read firewalled fields show the kinds of values instead of the values. Where a run has a firewall, those of others
  # show of a value with firewalled fields only its keys.

  alias PtcRunner.Firewall.{Flow, Hidden, Outline}
  alias PtcRunner.Json.Message
  alias PtcRunner.Shown

  # Their terms are parts of the program, or names.
  @about_programs [
                    :node_not_a_map,
                    :unknown_op,
                    :unknown_name,
                    :context_key,
                    :memory_key,
                    :let_name
                  ] ++
                    [:not_a_count, :unchecked_not_list, :unchecked_not_map]

  @doc """
  The fault of a run, concealed if the program reads firewalled fields. Behind a firewall it has no values of rows that have such fields.

      iex> fault = {:execution, :needs_numbers, "sum", nil, ["s3cret"]}
      iex> program = %{"program" => %{"op" => "sum", "field" => "_pin"}}
      iex> PtcRunner.Json.Message.error(PtcRunner.Firewall.Faults.of_run(fault, program, %{}, %{}, false))
      {:execution_error, "sum requires numeric values, got a text"}

      iex> fault = {:execution, :needs_list, "first", nil, [%{"id" => 1, "_pin" => 2}]}
      iex> program = %{"program" => %{"op" => "first"}}
      iex> for firewall? <- [false, true], do: PtcRunner.Json.Message.error(PtcRunner.Firewall.Faults.of_run(fault, program, %{}, %{}, firewall?))
      [execution_error: ~S(first requires a list, got %{"_pin" => …, "id" => 1}), execution_error: ~S(first requires a list, got %{"_pin" => …, "id" => …})]

  """
  @spec of_run(Message.fault(), Flow.program(), term(), term(), boolean()) :: Message.fault()
  def of_run({:worded, shown, behind, concealed, kinds}, program, context, memory, firewall?) do
    error =
      cond do
        reads?(program, context, memory) -> concealed
        firewall? -> behind
        true -> shown
      end

    {:made, kinds, error}
  end

  def of_run(fault, program, context, memory, firewall?) do
    case kinds(fault) do
      ^fault ->
        fault

      kinds ->
        cond do
          reads?(program, context, memory) -> kinds
          firewall? -> outlines(fault)
          true -> fault
        end
    end
  end

  @doc """
  Whether a program reads firewalled fields of this data.

      iex> program = %{"program" => %{"op" => "load", "name" => "_pin"}}
      iex> PtcRunner.Firewall.Faults.reads?(program, %{"_pin" => 1}, %{})
      true

  """
  @spec reads?(Flow.program(), term(), term()) :: boolean()
  def reads?(program, context, memory),
    do: Flow.reads?(program, memory, fn -> Hidden.in?([values(context), values(memory)]) end)

  # Firewalled names of data are no fields: programs read them by name only.
  defp values(map) when is_map(map), do: :maps.values(map)
  defp values(other), do: other

  @doc """
  The errors of a fault for a process that does not know the program: with the values, with those that a firewall shows, and with their
  kinds.
  """
  @spec worded(Message.fault()) :: Message.fault()
  def worded(fault) do
    case kinds(fault) do
      ^fault -> Message.error(fault)
      kinds -> worded(fault, outlines(fault), kinds)
    end
  end

  defp worded(fault, fault, kinds) do
    shown = Message.error(fault)
    {:worded, shown, shown, Message.error(kinds), kinds}
  end

  defp worded(fault, outlines, kinds),
    do: {:worded, Message.error(fault), Message.error(outlines), Message.error(kinds), kinds}

  defp kinds(fault), do: with_terms(fault, &Shown.kind/1)

  defp outlines({:expensive_to_inspect, fault}), do: {:expensive_to_inspect, outlines(fault)}
  defp outlines(fault), do: with_terms(fault, &Outline.of/1)

  defp with_terms({:expensive_to_inspect, fault}, show), do: with_terms(fault, show)

  defp with_terms({:execution, code, op, field, [_ | _] = terms}, show)
       when code not in @about_programs,
       do: {:execution, code, op, field, Enum.map(terms, show)}

  defp with_terms(fault, _show), do: fault
end
