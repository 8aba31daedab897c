defmodule PtcRunner.Native.Releases do
  @moduledoc false
  # The releases of `ptc_runner` in which a module of this library may replace the original.
  # Modules without a row may do so in all releases that have them, if structs and exports allow it.

  alias PtcRunner.Lisp.Runtime.FlexAccess
  alias PtcRunner.SubAgent.Signature

  @strict_values "before 0.7.0 an integer is no :float and a string no :keyword"
  @lisp_schema "from 0.7.0 on it describes another language"

  # {module, the first release that fits, the first later release that does not fit, the reason}
  @rows [
    {PtcRunner.Schema, "0.0.0", "0.7.0", @lisp_schema},
    {PtcRunner.Sandbox, "0.0.0", "0.5.0", "from 0.5.0 on evaluators give back a context"},
    {Signature, "0.7.0", nil, @strict_values},
    {Signature.Validator, "0.7.0", nil, @strict_values},
    {Signature.Coercion, "0.7.0", nil, @strict_values},
    {FlexAccess, "0.12.0", nil, "before 0.12.0 it finds other keys"}
  ]

  # The packages that have modules with the same names.
  @packages [:ptc_runner, :allm]

  @allm "it works on the structs of the package allm"

  # Modules that exist only to replace an original.
  @only_in_place [FlexAccess]

  @doc "The packages that have modules with our names."
  @spec packages() :: [atom()]
  def packages, do: @packages

  @doc "Whether the module exists only to replace an original."
  @spec only_in_place?(module()) :: boolean()
  def only_in_place?(module), do: module in @only_in_place

  @doc "The reason why the module is not replaced in a release, or `nil`. A release without a version fits."
  @spec left_alone(module(), String.t() | nil) :: String.t() | nil
  def left_alone(module, release) do
    if match?("Elixir.ALLM." <> _, Atom.to_string(module)),
      do: @allm,
      else: left_in_release(module, release)
  end

  defp left_in_release(module, release) do
    with {_module, from, before, why} <- List.keyfind(@rows, module, 0),
         {:ok, version} <- Version.parse(release || ""),
         true <- older?(version, from) or not older?(version, before),
         do: why,
         else: (_ -> nil)
  end

  defp older?(_version, nil), do: true
  defp older?(version, other), do: Version.compare(version, other) == :lt
end
