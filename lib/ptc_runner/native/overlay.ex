defmodule PtcRunner.Native.Overlay do
  @moduledoc false
  # Replaces modules of `ptc_runner` with modules of the same name, and leaves the modules of `allm` in use.
  #
  # If one of these packages is a dependency of an application, the build removes the common modules from `ebin`
  # and packs them into one file there (see `mix.exs`), so that no two applications of a
  # release have a module of the same name. They are loaded over the originals
  # when this application starts. `PtcRunner.Native.Releases` decides for which releases.
  #
  # `PtcRunner.Lisp` is replaced if the configuration has `lisp: :native`: by a module of both, see `PtcRunner.Native.Facade`.

  alias PtcRunner.Native.{Facade, Releases, Rules}

  require Logger

  @typedoc "The reason why a module of `ptc_runner` was not replaced."
  @type reason ::
          :off
          | :not_selected
          | :defines_a_struct
          | :old_code_in_use
          | {:missing_functions, [{atom(), arity()}]}
          | {:other_release, String.t()}
          | {:modules_of_both, [module()]}
          | :unknown_file

  @typedoc """
  The state of a module: `:replaced` by this library's, `:added` if the release has no such
  module, or left.
  """
  @type state :: :replaced | :added | {:left, reason()}

  @type selection :: :auto | :off | [module()]

  @doc """
  Attaches the modules according to the configuration and logs the result in one line. Returns a sentence
  for an invalid configuration.
  """
  @spec start() :: :ok | {:error, String.t()}
  def start do
    selection = Application.get_env(:ptc_runner_native, :overlay, :auto)

    with :ok <- check(selection), {:ok, _lisp} <- lisp() do
      warn_of_duplicates()
      with [_ | _] = states <- attach(selection), do: Logger.info(fn -> describe(states) end)
      :ok
    end
  end

  @doc "Loads the modules that may replace others. Returns all modules of the overlay, in order."
  @spec attach(selection()) :: [{module(), state()}]
  def attach(selection) do
    with {:error, sentence} <- check(selection), do: raise(ArgumentError, sentence)
    lisp = with {:error, sentence} <- lisp(), do: raise(ArgumentError, sentence)
    release = release()
    packed = packed()

    states =
      for {module, beam} <- packed do
        if module == PtcRunner.Lisp,
          do: {module, both(beam, selection, lisp, release, Enum.map(packed, &elem(&1, 0)))},
          else: {module, load(decide(module, beam, selection, release), module, beam)}
      end

    Rules.use(if selection == :off, do: Rules.of(nil), else: Rules.of(release))
    :persistent_term.put(__MODULE__, states)
    states
  end

  @doc "Loads the originals again."
  @spec detach() :: :ok
  def detach do
    for {module, state} <- states(), state in [:replaced, :added], do: restore(module, state)
    Facade.drop()
    Rules.use(Rules.of(nil))

    :persistent_term.put(
      __MODULE__,
      Enum.map(states(), fn {module, _} -> {module, {:left, :off}} end)
    )
  end

  defp restore(module, state) do
    :code.purge(module)
    :code.delete(module)
    :code.purge(module)
    if state == :replaced, do: {:module, ^module} = :code.load_file(module)
  end

  @doc "The result of the last `attach/1` or `detach/0`."
  @spec states() :: [{module(), state()}]
  def states, do: :persistent_term.get(__MODULE__, [])

  @doc "The release of `ptc_runner`, if it is a dependency."
  @spec release() :: String.t() | nil
  def release, do: version(:ptc_runner)

  defp version(package) do
    Application.load(package)
    with version when is_list(version) <- Application.spec(package, :vsn), do: "#{version}"
  end

  defp check(selection) do
    valid? =
      selection in [:auto, :off] or (is_list(selection) and Enum.all?(selection, &is_atom/1))

    if valid? do
      :ok
    else
      {:error,
       "config :ptc_runner_native, overlay: must be :auto, :off or a list of modules, " <>
         "got: #{inspect(selection, limit: 20)}"}
    end
  end

  # Which side runs programs of PTC-Lisp.
  defp lisp do
    case Application.get_env(:ptc_runner_native, :lisp, :original) do
      side when side in [:native, :original] ->
        {:ok, side}

      other ->
        {:error,
         "config :ptc_runner_native, lisp: must be :native or :original, got: #{inspect(other, limit: 20)}"}
    end
  end

  # `PtcRunner.Lisp` of both packages.
  defp both(ours, selection, {:ok, side}, release, packed) do
    before = List.keyfind(states(), PtcRunner.Lisp, 0)

    with nil <- left(selection, side, release, packed),
         original when original != nil <- original(PtcRunner.Lisp),
         {:ok, beam} <- Facade.make(File.read!(original), ours) do
      load(:replaced, PtcRunner.Lisp, beam)
    else
      state ->
        if before == {PtcRunner.Lisp, :replaced}, do: restore(PtcRunner.Lisp, :replaced)
        Facade.drop()
        {:left, if(state in [nil, :error], do: :unknown_file, else: state)}
    end
  end

  defp left(:off, _side, _release, _packed), do: :off

  defp left(_selection, :original, release, _packed),
    do: {:other_release, Releases.left_alone(PtcRunner.Lisp, release)}

  defp left(_selection, :native, release, packed) do
    case {Releases.lisp_left(release), Enum.filter(packed, &Releases.module_of_lisp?/1)} do
      {nil, []} -> nil
      {nil, modules} -> {:modules_of_both, modules}
      {why, _modules} -> {:other_release, why}
    end
  end

  defp packed do
    case File.read(file()) do
      {:ok, packed} -> :erlang.binary_to_term(packed)
      {:error, _no_overlay} -> []
    end
  end

  defp file, do: Application.app_dir(:ptc_runner_native, "ebin/overlay.bin")

  defp decide(_module, _beam, :off, _release), do: {:left, :off}

  defp decide(module, beam, selection, release) do
    original = original(module)

    cond do
      is_list(selection) and module not in selection -> {:left, :not_selected}
      original == nil and Releases.only_in_place?(module) -> {:left, {:other_release, "has none"}}
      original == nil -> :added
      why = Releases.left_alone(module, release) -> {:left, {:other_release, why}}
      true -> fits(exports(original), exports(beam))
    end
  end

  defp fits(theirs, ours) do
    cond do
      {:__struct__, 0} in theirs or {:__struct__, 0} in ours -> {:left, :defines_a_struct}
      theirs -- ours != [] -> {:left, {:missing_functions, theirs -- ours}}
      true -> :replaced
    end
  end

  # The file of the original in its own application, whatever is loaded.
  defp original(module) do
    Enum.find_value(Releases.packages(), fn package ->
      with folder when is_list(folder) <- :code.lib_dir(package),
           file = Path.join([folder, "ebin", "#{module}.beam"]),
           true <- File.regular?(file),
           do: String.to_charlist(file),
           else: (_ -> nil)
    end)
  end

  defp exports(beam) do
    {:ok, {_module, [exports: exports]}} = :beam_lib.chunks(beam, [:exports])
    exports
  end

  # A process may still run the code from before the last load; it is not killed.
  defp load(state, module, beam) when state in [:replaced, :added] do
    if :code.soft_purge(module) do
      {:module, ^module} = :code.load_binary(module, file(module), beam)
      # Purges the old code, so that it does not prevent the next load.
      :code.soft_purge(module)
      state
    else
      {:left, :old_code_in_use}
    end
  end

  defp load(state, _module, _beam), do: state

  defp file(module), do: String.to_charlist("ptc_runner_native/overlay/#{module}.beam")

  # If this library was compiled before `ptc_runner` was present, all its modules are still in `ebin`.
  defp warn_of_duplicates do
    for package <- Releases.packages(), version(package) do
      with ours when is_list(ours) <- Application.spec(:ptc_runner_native, :modules),
           theirs when is_list(theirs) <- Application.spec(package, :modules),
           [_ | _] = both <- ours -- ours -- theirs do
        Logger.warning(
          "#{package} and ptc_runner_native both define #{Enum.map_join(both, ", ", &inspect/1)}, " <>
            "because ptc_runner_native was compiled without #{package}: run " <>
            "`mix deps.compile ptc_runner_native --force`"
        )
      end
    end
  end

  defp describe(states) do
    {ours, left} =
      Enum.split_with(states, fn {_module, state} -> state in [:replaced, :added] end)

    names = fn states -> Enum.map_join(states, ", ", fn {module, _} -> inspect(module) end) end

    reasons =
      Enum.map_join(left, ", ", fn {module, {:left, why}} ->
        "#{inspect(module)} (#{text(why)})"
      end)

    packages =
      for package <- Releases.packages(),
          version = version(package),
          do: "#{package} #{version}"

    rules = with words when words != nil <- Rules.words(Rules.current()), do: " (#{words})"

    "ptc_runner_native: in #{Enum.join(packages, " and ")} native: #{if ours == [], do: "none", else: names.(ours)}#{rules}; " <>
      "left as they are: #{if left == [], do: "none", else: reasons}"
  end

  defp text(:unknown_file), do: "its file is of an unknown form"

  defp text({:modules_of_both, modules}),
    do: "both packages have #{Enum.map_join(modules, ", ", &inspect/1)}"

  defp text(:off), do: "switched off"
  defp text(:old_code_in_use), do: "a process runs an older version"
  defp text(:not_selected), do: "not configured"
  defp text(:defines_a_struct), do: "defines a struct"
  defp text({:other_release, why}), do: why

  defp text({:missing_functions, functions}) do
    shown =
      functions |> Enum.take(5) |> Enum.map_join(" ", fn {name, arity} -> "#{name}/#{arity}" end)

    "has #{length(functions)} more functions: #{shown}"
  end
end
