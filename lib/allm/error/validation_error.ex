# An application that has the ALLM package keeps its modules: see guides/engine.md.
unless Code.ensure_loaded?(ALLM) do
  defmodule ALLM.Error.ValidationError do
    @moduledoc """
    An invalid argument of the library: `reason` is the kind of argument, and
    `errors` has each field (or path) with its error.
    """

    @type field_error :: {atom() | String.t() | [term()], atom()}
    @type t :: %__MODULE__{reason: atom(), errors: [field_error()], message: String.t()}

    defexception reason: nil, errors: [], message: ""

    @doc """
    A new error. The option `:message` is its text, by default made of the reason and the errors.

        iex> error = ALLM.Error.ValidationError.new(:invalid_request, [json: :malformed], message: "no JSON")
        iex> {error.reason, error.errors, Exception.message(error)}
        {:invalid_request, [json: :malformed], "no JSON"}

        iex> Exception.message(ALLM.Error.ValidationError.new(:invalid_request, [json: :malformed]))
        "invalid_request: [json: :malformed]"

    """
    @spec new(atom(), [field_error()], keyword()) :: t()
    def new(reason, errors, opts \\ []) do
      PtcRunner.Options.check!(opts, %{message: :any}, "ALLM.Error.ValidationError.new/3")

      message =
        Keyword.get_lazy(opts, :message, fn -> "#{reason}: #{PtcRunner.Shown.text(errors)}" end)

      %__MODULE__{reason: reason, errors: errors, message: message}
    end
  end
end
