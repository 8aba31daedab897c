defmodule PtcRunner.SubAgent.TypeExtractor.Docs do
  @moduledoc false
  # Reads the docs of one function from its module.

  @doc "The names of the parameters and the first line of the text, as far as the docs have them."
  @spec fetch(module(), atom(), arity()) :: {[String.t()], String.t() | nil}
  def fetch(module, name, arity) do
    with {:docs_v1, _, _, _, _, _, docs} <- Code.fetch_docs(module),
         {_, _, _, _, _} = entry <- List.keyfind(docs, {:function, name, arity}, 0) do
      entry(entry)
    else
      _ -> {[], nil}
    end
  end

  @doc "The names of the parameters and the first line, of one entry of the docs."
  @spec entry(tuple()) :: {[String.t()], String.t() | nil}
  def entry({_, _, signature, doc, _}), do: {names(signature), first_line(doc)}

  defp first_line(%{"en" => text}) when is_binary(text) do
    case text |> String.trim() |> String.split("\n", parts: 2) do
      ["" | _] -> nil
      [line | _] -> String.trim(line)
    end
  end

  defp first_line(_doc), do: nil

  # The names are strings, because names in docs may not exist as atoms.
  defp names([head | _]) do
    encoder = fn name, _meta -> {:ok, name} end

    case Code.string_to_quoted(head, static_atoms_encoder: encoder) do
      {:ok, {_name, _, params}} when is_list(params) -> Enum.map(params, &name/1)
      _ -> []
    end
  end

  defp names(_signature), do: []

  defp name({:\\, _, [param, _default]}), do: name(param)
  defp name({name, _, context}) when is_binary(name) and not is_list(context), do: name
  defp name(_pattern), do: ""
end
