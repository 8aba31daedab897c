defmodule PtcRunner.Lisp.Beside.Choice do
  @moduledoc false
  # Where a program runs, as far as its options and its tools say it.

  alias PtcRunner.Agent
  alias PtcRunner.Json.Tools
  alias PtcRunner.Lisp.{Given, Program}

  # What both interpreters do with these is the same.
  @both ~w(budget context float_precision max_heap max_print_length max_program_bytes max_symbols max_tool_calls memory signature
    strict_data timeout tools turn_history)a

  # Options of the original which change nothing in a program that is one here: how the context is copied, and what belongs to names that
  # are left out.
  @without_effect ~w(discovery_exec filter_context loop_limit max_catalog_ops)a

  # What the original's step has of these, if the program uses nothing of them.
  @given_back ~w(journal summaries tool_cache)a

  @parallel ["pcalls", "pmap"]

  @typedoc """
  `:here` with the options, where only this library has what is asked for; `:original`; or `:either`, with the options of a run, what its step
  gives back, and names that a program must not mention to run here.
  """
  @type t ::
          {:here, keyword()}
          | :original
          | {:either, keyword(), %{atom() => term()}, [String.t()]}

  @doc """
  Reads options.

      iex> alias PtcRunner.Lisp.Beside.Choice
      iex> Choice.of("1", context: %{}, filter_context: true, journal: %{"a" => 1})
      {:either, [context: %{}], %{journal: %{"a" => 1}}, []}
      iex> Choice.of("1", pmap_timeout: 50, prelude: nil)
      {:either, [], %{}, ["pcalls", "pmap"]}
      iex> Choice.of("1", prelude: %{name: "crm"})
      :original
      iex> Choice.of("1", on_call: &Function.identity/1) |> elem(0)
      :here

  """
  @spec of(term(), term()) :: t()
  def of(program, opts) do
    cond do
      not Keyword.keyword?(opts) ->
        :original

      is_struct(program, Program) or here?(opts) ->
        {:here, Keyword.take(opts, @both ++ Given.control_options())}

      is_binary(program) and Enum.all?(opts, &known?/1) and tools?(opts) ->
        either(opts)

      true ->
        :original
    end
  end

  defp either(opts) do
    most = opts[:pmap_max_concurrency]
    most = if is_integer(most) and most > 0, do: [tool_concurrency: min(most, 1_024)], else: []

    kept =
      for {name, value} <- opts, name in @given_back, value != nil, into: %{}, do: {name, value}

    {:either, Keyword.take(opts, @both) ++ most, kept,
     if(opts[:pmap_timeout], do: @parallel, else: [])}
  end

  defp known?({name, _value})
       when name in @both or name in @without_effect or name in @given_back or
              name in [:pmap_timeout, :pmap_max_concurrency],
       do: true

  defp known?({_name, value}), do: value in [nil, false, [], %{}]

  defp here?(opts) do
    Enum.any?(opts, fn {name, value} -> name in Given.control_options() and value != nil end) or
      Enum.any?(forms(opts), &tool_of_here?/1)
  end

  defp forms(opts), do: if(is_map(opts[:tools]), do: Map.values(opts[:tools]), else: [])

  @said Map.keys(Tools.options()) -- [:cache]

  defp tool_of_here?(%Agent.Tool{}), do: true
  defp tool_of_here?(fun) when is_function(fun, 2), do: true
  defp tool_of_here?({fun, _more}) when is_function(fun, 2), do: true

  defp tool_of_here?({_fun, said}) when is_list(said),
    do: Keyword.keyword?(said) and Enum.any?(@said, &Keyword.has_key?(said, &1))

  defp tool_of_here?(_form), do: false

  # The original keeps the answers of tools with a cache from run to run, and some of its releases have tools that say more.
  defp tools?(opts) do
    forms = forms(opts)

    Enum.all?(forms, &usual?/1) and
      (opts[:tool_cache] == nil or not Enum.any?(forms, &cached?/1))
  end

  @more [:expose, :native_result, :visibility]

  defp usual?(%module{} = tool) do
    module == PtcRunner.Tool and Map.take(tool, @more) == Map.take(struct(module), @more)
  end

  defp usual?({fun, said}) when is_list(said) and is_function(fun),
    do: Enum.all?(@more, &(said[&1] == nil))

  defp usual?({fun, _signature}), do: is_function(fun)
  defp usual?(form), do: is_function(form)

  defp cached?(%{cache: cache}), do: cache == true
  defp cached?({_fun, said}) when is_list(said), do: said[:cache] == true
  defp cached?(_form), do: false
end
