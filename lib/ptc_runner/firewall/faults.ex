defmodule PtcRunner.Firewall.Faults do
  @moduledoc false
  # Faults of runs that read firewalled fields show the kinds of values instead of the values.

  alias PtcRunner.Firewall.{Flow, Hidden}
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
  The fault of a run, concealed if the program reads firewalled fields.

      iex> fault = {:execution, :needs_numbers, "sum", nil, ["s3cret"]}
      iex> program = %{"program" => %{"op" => "sum", "field" => "_pin"}}
      iex> PtcRunner.Json.Message.error(PtcRunner.Firewall.Faults.of_run(fault, program, %{}, %{}))
      {:execution_error, "sum requires numeric values, got a text of 6 bytes"}

  """
  @spec of_run(Message.fault(), Flow.program(), term(), term()) :: Message.fault()
  def of_run({:worded, shown, concealed}, program, context, memory),
    do: if(reads?(program, context, memory), do: concealed, else: shown)

  def of_run(fault, program, context, memory) do
    case kinds(fault) do
      ^fault -> fault
      kinds -> if reads?(program, context, memory), do: kinds, else: fault
    end
  end

  defp reads?(program, context, memory),
    do: Flow.reads?(program, memory, fn -> Hidden.in?([values(context), values(memory)]) end)

  # Firewalled names of data are no fields: programs read them by name only.
  defp values(map) when is_map(map), do: :maps.values(map)
  defp values(other), do: other

  @doc "The errors of a fault for a process that does not know the program: with the values, and with their kinds."
  @spec worded(Message.fault()) :: Message.fault()
  def worded(fault) do
    case kinds(fault) do
      ^fault -> Message.error(fault)
      kinds -> {:worded, Message.error(fault), Message.error(kinds)}
    end
  end

  defp kinds({:expensive_to_inspect, fault}), do: kinds(fault)

  defp kinds({:execution, code, op, field, [_ | _] = terms}) when code not in @about_programs,
    do: {:execution, code, op, field, Enum.map(terms, &Shown.kind/1)}

  defp kinds(fault), do: fault
end
