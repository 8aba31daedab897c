defmodule PtcRunner.CLI.OverFile do
  @moduledoc false
  # Runs a program over the text of a JSON file, which is not decoded.

  alias PtcRunner.Json
  alias PtcRunner.Json.{Contract, Deadline, Limits, Texts}

  @doc """
  The result of a run whose context is the object of the text. The options are `:memory`, `:timeout`, `:max_heap` and `:edition`.

  An error is `:timeout`, or a reason why the file must be decoded to know the result.

      iex> program = ~s({"program": {"op": "load", "name": "n"}})
      iex> text = ~s({"n": 1, "pad": ") <> String.duplicate("x", 5_000) <> ~s("})
      iex> PtcRunner.CLI.OverFile.run(program, text, memory: %{}, timeout: 60_000)
      {:ok, 1, %{}, %{}}
      iex> PtcRunner.CLI.OverFile.run(program, ~s({"n": 1}), memory: %{}, timeout: 60_000)
      {:error, :decode}

  """
  @spec run(String.t(), binary() | nil, keyword()) ::
          {:ok, term(), map(), map()} | {:error, :decode | :timeout | term()}
  def run(_program, nil, _options), do: {:error, :decode}

  def run(program, text, options) do
    {memory, reading} = Keyword.pop(options, :memory)
    {timeout, max_heap, _depth} = Limits.resolve({options[:timeout], options[:max_heap], 1})
    deadline = Deadline.from_now(timeout)

    with {:ok, program} <- Json.compile(program, reading),
         limits = {memory, Deadline.left(deadline), max_heap},
         {:ok, value, _words} <- Texts.over_object(program, text, limits) do
      Contract.of(value, memory, program, {timeout, max_heap, Limits.default_max_depth()})
    end
  end
end
