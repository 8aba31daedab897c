# An application that has the ALLM package keeps its modules: see guides/engine.md.
unless Code.ensure_loaded?(ALLM) do
  defmodule ALLM.Tool do
    @moduledoc """
    A tool that a model may call: its name, its description, the JSON Schema of its arguments, and an optional
    handler.
    """

    @typedoc "The function of a tool; its arguments are those of the call and, if it takes two, the engine's context."
    @type handler ::
            (map() -> term()) | (map(), map() -> term()) | {module(), atom()}

    @type t :: %__MODULE__{
            name: String.t(),
            description: String.t(),
            schema: map(),
            handler: handler() | nil,
            manual: boolean(),
            metadata: map()
          }

    @enforce_keys [:name, :description, :schema]
    defstruct [:name, :description, :schema, handler: nil, manual: false, metadata: %{}]

    @doc """
    A new tool. `:name`, `:description` and `:schema` are required.

    Only a tool whose handler is nil or `{Module, :function}` can be written as JSON. With
    `manual: true` the handler is not run automatically when the model calls the tool.

        iex> tool = ALLM.Tool.new(name: "now", description: "the time", schema: %{}, handler: {MyApp, :now})
        iex> {tool.name, tool.handler, tool.manual}
        {"now", {MyApp, :now}, false}

        iex> ALLM.Tool.new(name: "now", description: "the time", schema: %{}, manual: nil)
        ** (ArgumentError) ALLM.Tool :manual must be a boolean, got: nil

    """
    @spec new(keyword()) :: t()
    def new(opts) do
      tool = struct!(__MODULE__, opts)

      unless is_boolean(tool.manual) do
        raise ArgumentError,
              "ALLM.Tool :manual must be a boolean, got: #{PtcRunner.Shown.text(tool.manual)}"
      end

      tool
    end
  end
end
