defmodule PtcRunner.Native.Releases do
  @moduledoc false
  # The releases of `ptc_runner` in which a module of this library does not replace the original. Modules
  # without a row replace it in all releases that have them, if structs and exports allow it. Some of them follow
  # the rules of the release: see `PtcRunner.Native.Rules`.

  alias PtcRunner.Lisp.Runtime.FlexAccess
  alias PtcRunner.SubAgent.Signature

  @strict_values "before 0.7.0 an integer is no :float and a string no :keyword"
  @texts "models get the texts that they got before"
  @lisp_schema "from 0.7.0 on it describes another language"

  # {module, the first release where it is left, the first later release where it is not, the reason}
  @rows [
    {PtcRunner.Schema, "0.0.0", "0.7.0", @texts},
    {PtcRunner.Schema, "0.7.0", nil, @lisp_schema},
    {PtcRunner.Sandbox, "0.5.0", nil, "from 0.5.0 on evaluators give back a context"},
    {Signature, "0.0.0", "0.7.0", @strict_values},
    {Signature.Validator, "0.0.0", "0.7.0", @strict_values},
    {Signature.Coercion, "0.0.0", "0.7.0", @strict_values},
    {FlexAccess, "0.0.0", "0.12.0", "before 0.12.0 it finds other keys"}
  ]

  # The packages that have modules with the same names.
  @packages [:ptc_runner, :allm]

  @allm "it works on the structs of the package allm"

  @lisp "PTC-Lisp stays the original's"

  @lisp_atoms "before 0.11.0 keywords and names of the memory are atoms"

  # Modules of PTC-Lisp that both packages have, and which are the same or not needed here.
  @lisp_of_both [PtcRunner.Lisp, PtcRunner.Lisp.Keyword, FlexAccess]

  # Modules that exist only to replace an original.
  @only_in_place [FlexAccess]

  @doc "The packages that have modules with our names."
  @spec packages() :: [atom()]
  def packages, do: @packages

  @doc "Whether the module exists only to replace an original."
  @spec only_in_place?(module()) :: boolean()
  def only_in_place?(module), do: module in @only_in_place

  @doc """
  The reason why the module is not replaced in a release, or `nil`. A release without a version is one of the
  newest.
  """
  @spec left_alone(module(), String.t() | nil) :: String.t() | nil
  def left_alone(module, release) do
    case Atom.to_string(module) do
      "Elixir.ALLM." <> _ -> @allm
      "Elixir.PtcRunner.Lisp" <> _ when module != FlexAccess -> @lisp
      _other -> left_in_release(module, Version.parse(release || ""))
    end
  end

  @doc """
  The reason why programs of PTC-Lisp do not run natively in a release, or `nil`.

      iex> PtcRunner.Native.Releases.lisp_left("0.10.1")
      "before 0.11.0 keywords and names of the memory are atoms"
      iex> PtcRunner.Native.Releases.lisp_left("0.13.0")
      nil

  """
  @spec lisp_left(String.t() | nil) :: String.t() | nil
  def lisp_left(release),
    do: if(older?(Version.parse(release || ""), "0.11.0"), do: @lisp_atoms)

  @doc "Whether a module of both packages is one that PTC-Lisp needs here."
  @spec module_of_lisp?(module()) :: boolean()
  def module_of_lisp?(module) do
    String.starts_with?(Atom.to_string(module), "Elixir.PtcRunner.Lisp.") and
      module not in @lisp_of_both
  end

  defp left_in_release(module, release) do
    Enum.find_value(@rows, fn {left, from, before, why} ->
      if left == module and older?(release, before) and not older?(release, from), do: why
    end)
  end

  defp older?(_release, nil), do: true
  defp older?(:error, _other), do: false
  defp older?({:ok, version}, other), do: Version.compare(version, other) == :lt
end
