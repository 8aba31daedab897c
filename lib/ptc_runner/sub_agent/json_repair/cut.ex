defmodule PtcRunner.SubAgent.JsonRepair.Cut do
  @moduledoc false
  # Describes where an answer was cut off, for logs and for the model.

  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Signature.Firewall

  @doc false
  # `items`: the number of complete items of the list at `path`, nil if it is no list. `after?`: the
  # value at `path` is complete.
  @spec place([String.t() | non_neg_integer()], non_neg_integer() | nil, boolean()) :: %{
          path: [String.t() | non_neg_integer()],
          items: non_neg_integer() | nil,
          message: String.t()
        }
  def place(path, items, after?) do
    public = public(path)
    message = "The answer ends #{where(public, items, after?)}: it was cut off"
    %{path: public, items: items, message: message}
  end

  @doc """
  The feedback to the model.

      iex> PtcRunner.SubAgent.JsonRepair.Cut.place(["rows"], 2, false).message
      ...> |> PtcRunner.SubAgent.JsonRepair.Cut.feedback()
      ~s(The answer ends inside "rows", after 2 items: it was cut off. Write it again, shorter.)

  """
  @spec feedback(String.t()) :: String.t()
  def feedback(message), do: message <> ". Write it again, shorter."

  defp where([], nil, _after?), do: "at its beginning"
  defp where([], items, _after?), do: "inside the list, after #{count(items)}"
  defp where(path, nil, true), do: "after #{name(path)}"
  defp where(path, nil, false), do: "inside #{name(path)}"
  defp where(path, items, _after?), do: "inside #{name(path)}, after #{count(items)}"

  defp count(1), do: "1 item"
  defp count(items), do: "#{items} items"

  defp name(path), do: path |> List.last() |> Shown.name() |> inspect(printable_limit: 256)

  # Keys inside a firewalled field are not shown.
  defp public(path) do
    case Enum.split_while(path, &(not Firewall.hidden?(&1))) do
      {whole, []} -> whole
      {above, [field | _below]} -> above ++ [field]
    end
  end
end
