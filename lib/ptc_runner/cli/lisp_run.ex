defmodule PtcRunner.CLI.LispRun do
  @moduledoc false
  # Runs a program of PTC-Lisp for `mix ptc.run`: its prints, then its value or its error.

  alias PtcRunner.CLI.{Digits, Files, LispFailure, Plain, Pretty, Progress, Table}
  alias PtcRunner.Lisp
  alias PtcRunner.Lisp.Text

  @extensions [".clj", ".lisp", ".ptcl"]

  @doc """
  Whether the name of a file says that it is a program of PTC-Lisp.

      iex> Enum.map(["a.clj", "a.lisp", "a.ptcl", "a.json", "-"], &PtcRunner.CLI.LispRun.program?/1)
      [true, true, true, false, false]

  """
  @spec program?(Path.t()) :: boolean()
  def program?(path), do: Path.extname(path) in @extensions

  @doc """
  Runs the program with the options of `mix ptc.run`. `text` is the file of the context. Returns what is shown: what the program has printed, and its
  value or its error, with its reason; with `--explain` also the explanation.
  """
  @spec run(String.t(), binary() | nil, keyword(), map()) ::
          {{:ok, [String.t()], String.t()} | {:error, [String.t()], String.t(), atom()},
           Lisp.Explain.t() | nil}
  def run(program, text, options, opts) do
    context = if text, do: Files.map!(text, opts.context, "context", :infinity), else: %{}
    bytes = byte_size(text || "")
    options = [context: context] ++ options

    case Progress.around(fn -> journaled(program, options, opts) end, options[:timeout], bytes) do
      %Lisp.Explain{result: result} = explanation ->
        {told(result, program, text, opts), explanation}

      result ->
        {told(result, program, text, opts), nil}
    end
  end

  defp told(result, program, text, opts) do
    case result do
      {:ok, %{return: {:__ptc_fail__, value}} = step} ->
        {:error, prints(step), "The program has failed: #{Text.brief(value)}", :failed}

      {:ok, %{return: {:__ptc_return__, value}} = step} ->
        {:ok, prints(step), shown(value, [program, text || ""], opts)}

      {:ok, %{return: value} = step} ->
        {:ok, prints(step), shown(value, [program, text || ""], opts)}

      {:error, %{fail: fail} = step} ->
        {:error, prints(step), LispFailure.text(program, step), fail.reason}
    end
  end

  defp journaled(program, options, %{replay: path}),
    do: Lisp.replay(program, Files.map!(path, "journal"), options)

  defp journaled(program, options, %{record: path}) do
    {result, journal} = Lisp.record(program, options)
    Files.write_json!(path, journal)
    result
  end

  defp journaled(program, options, %{explain: true}), do: Lisp.explain(program, options)
  defp journaled(program, options, _opts), do: Lisp.run(program, options)

  defp prints(%{prints: prints}), do: Enum.map(prints || [], &plain/1)

  # The line breaks of a print are its own.
  defp plain(text), do: text |> String.split("\n") |> Enum.map_join("\n", &Plain.text/1)

  defp shown(value, written, opts) do
    cond do
      not json?(value) and opts[:json] ->
        Mix.raise("the value is no JSON: #{Text.brief(value)}")

      not json?(value) ->
        Plain.text(Text.pr(value))

      opts[:json] ->
        IO.iodata_to_binary(Pretty.json(value))

      Table.rows?(value) ->
        Table.text(value, written)

      true ->
        IO.iodata_to_binary(Pretty.json(value, &Digits.text/1))
    end
  end

  # Sets, functions, vars and numbers like infinity are values that JSON does not have.
  defp json?(value) when value in [:infinity, :negative_infinity, :nan], do: false
  defp json?(atom) when is_atom(atom), do: true
  defp json?(number) when is_number(number), do: true
  defp json?(text) when is_binary(text), do: String.valid?(text)
  defp json?([item | rest]), do: json?(item) and json?(rest)
  defp json?([]), do: true
  defp json?(%module{}), do: module in [Date, DateTime]

  defp json?(map) when is_map(map),
    do: Enum.all?(map, fn {key, value} -> (is_atom(key) or text?(key)) and json?(value) end)

  defp json?(_other), do: false

  defp text?(key), do: is_binary(key) and String.valid?(key)
end
