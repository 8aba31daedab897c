defmodule PtcRunner.SubAgent.Loop.JsonHandler.ErrorLine do
  @moduledoc false
  # Validation errors in one line. There may be ten thousand of them: those that validation makes
  # are written natively.

  alias PtcRunner.Native
  alias PtcRunner.Native.Panic

  @doc false
  def text(errors) do
    case native(errors) do
      :other -> Enum.map_join(errors, "; ", &one/1)
      text -> text
    end
  end

  defp native(errors) do
    with :busy <- Native.error_line(errors), do: Native.error_line_dirty(errors)
  catch
    :error, :nif_panicked ->
      _text = Panic.caught()
      :other
  end

  defp one(%{path: [], message: message}), do: "root: #{message}"

  defp one(%{path: path, message: message}),
    do: "#{Enum.map_join(path, ".", &to_string/1)}: #{message}"
end
