defmodule PtcRunner.Native.Facade do
  @moduledoc false
  # `PtcRunner.Lisp` where both packages run programs: all functions of the original and of this library's module under one name.
  #
  #   run/1, run/2                           PtcRunner.Lisp.Beside, which decides
  #   what the original has                  the original, under another name
  #   what only this library has             this library's module, under another name

  alias PtcRunner.Lisp.Beside
  alias PtcRunner.Native.Renamed

  @name PtcRunner.Lisp
  @original PtcRunner.Native.Facade.Original
  @ours PtcRunner.Native.Facade.Ours

  @doc "The name of the original's module, which makes source of its functions."
  @spec sources() :: module()
  def sources, do: PtcRunner.Lisp.CoreToSource

  @doc "Makes the module of the two, loads them under their other names, and begins to count. `:error` if a file is of an unknown form."
  @spec make(binary(), binary()) :: {:ok, binary()} | :error
  def make(original, ours) do
    with {:ok, original} <- loaded(original, @original),
         {:ok, ours} <- loaded(ours, @ours),
         {:ok, @name, beam} <- :compile.forms(forms(original, ours), []) do
      :code.ensure_loaded(sources())
      Beside.attach(%{original: @original, sources: sources()})
      {:ok, beam}
    else
      _unknown -> :error
    end
  end

  @doc "Ends the counting. The modules stay loaded: a program may still run in them."
  @spec drop() :: :ok
  def drop, do: Beside.detach()

  defp loaded(beam, name) do
    with {:ok, beam} <- Renamed.beam(beam, name),
         true <- :code.soft_purge(name),
         {:module, ^name} <- :code.load_binary(name, ~c"#{name}.beam", beam) do
      # Purges the code before it, so that it does not prevent the next load.
      :code.soft_purge(name)
      {:ok, functions(name)}
    end
  end

  defp functions(module),
    do:
      for(
        {name, _arity} = function <- module.module_info(:exports),
        name not in [:module_info, :__info__],
        do: function
      )

  defp forms(original, ours) do
    decided = [run: 1, run: 2]

    places =
      Enum.map(original -- decided, &{&1, @original}) ++
        Enum.map((ours -- original) -- decided, &{&1, @ours})

    exported = decided ++ Enum.map(places, &elem(&1, 0))

    [
      {:attribute, 1, :module, @name},
      {:attribute, 1, :export, [{:__info__, 1} | exported]},
      function(:run, [:program], call(Beside, :run, [var(:program), {nil, 1}])),
      function(:run, [:program, :opts], call(Beside, :run, [var(:program), var(:opts)])),
      info(exported)
      | Enum.map(places, &elsewhere/1)
    ]
  end

  defp elsewhere({{name, arity}, module}) do
    params = Enum.map(1..arity//1, &:"a#{&1}")
    function(name, params, call(module, name, Enum.map(params, &var/1)))
  end

  # As Elixir's modules say it of themselves; the rest is the original's.
  defp info(exported) do
    functions =
      Enum.sort(for {name, _arity} = function <- exported, not macro?(name), do: function)

    clauses =
      for {item, value} <- [module: @name, functions: functions],
          do: {:clause, 1, [{:atom, 1, item}], [], [:erl_parse.abstract(value, 1)]}

    rest = {:clause, 1, [var(:item)], [], [call(@original, :__info__, [var(:item)])]}
    {:function, 1, :__info__, 1, clauses ++ [rest]}
  end

  defp macro?(name), do: String.starts_with?(Atom.to_string(name), "MACRO-")

  defp function(name, params, body),
    do: {:function, 1, name, length(params), [{:clause, 1, Enum.map(params, &var/1), [], [body]}]}

  defp call(module, name, args),
    do: {:call, 1, {:remote, 1, {:atom, 1, module}, {:atom, 1, name}}, args}

  defp var(name), do: {:var, 1, name}
end
