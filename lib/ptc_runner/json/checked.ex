defmodule PtcRunner.Json.Checked do
  @moduledoc """
  What `PtcRunner.Json.check/2` knows about a program that has no certain error.

    * `type` - the type of the result: that of a signature, or one of the terms in `t:type/0`
    * `reads` - the parts of the context that the program reads, such as `"orders.total"`, sorted
    * `tools` - the tools that it may call, sorted
    * `warnings` - findings that are likely, but not certain
  """

  @enforce_keys [:type]
  defstruct [:type, reads: [], tools: [], warnings: []]

  @typedoc """
  A type of `PtcRunner.SubAgent.Signature`, or `{:union, types}`, `{:literal, value}` for one known value, `:never` for the items of an
  empty list, or `{:open_map, fields}` for an object that may have more fields. `{:map, fields}` has only these fields. An object
  type that was given is returned as it was given; in any other one the fields are in the order of their names.
  """
  @type type :: term()

  @typedoc """
  A finding: the path of its operation in the program, what is wrong, the name that was probably meant, and line and column
  (from 1, in characters) if the program is a text. `code` is for software.
  """
  @type finding :: %{
          path: PtcRunner.Json.Explain.path(),
          message: String.t(),
          suggestion: String.t() | nil,
          line: pos_integer() | nil,
          column: pos_integer() | nil,
          code: atom()
        }

  @type t :: %__MODULE__{
          type: type(),
          reads: [String.t()],
          tools: [String.t()],
          warnings: [finding()]
        }

  defimpl Inspect do
    alias PtcRunner.Shown.Brief

    def inspect(checked, _opts) do
      parts = [
        Brief.value(checked.type),
        "reads " <> Brief.names(checked.reads),
        "calls " <> Brief.names(checked.tools),
        warnings(checked.warnings)
      ]

      "#PtcRunner.Json.Checked<#{Enum.join(parts, "; ")}>"
    end

    defp warnings([]), do: "no warning"

    defp warnings([%{message: message} | _] = all),
      do: "#{Brief.count(length(all), "warning")}: #{Brief.names([message])}"

    defp warnings(all), do: Brief.count(length(all), "warning")
  end
end
