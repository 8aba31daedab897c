defmodule Bench.Machine do
  @moduledoc false
  # Facts about the machine that a reader needs to compare the numbers with others.

  @doc "Pairs of a name and a text."
  @spec facts() :: [{String.t(), String.t()}]
  def facts do
    [
      {"Date", Date.to_iso8601(Date.utc_today())},
      {"Project", "ptc_runner_native #{Mix.Project.config()[:version]}"},
      {"Processor", "#{processor()}, #{System.schedulers_online()} cores"},
      {"Load before the run", load()},
      {"Erlang/OTP", "#{System.otp_release()}, #{:erlang.system_info(:emu_flavor)}"},
      {"Elixir", System.version()},
      {"Rust", "#{rustc()}; release profile: #{release_profile()}"},
      {"jiffy", Bench.Jiffy.version() || Bench.Jiffy.missing()},
      {"jaq", Bench.Jaq.version() || Bench.Jaq.missing()}
    ]
  end

  defp processor do
    with {:ok, text} <- File.read("/proc/cpuinfo"),
         [_, name] <- Regex.run(~r/model name\s*:\s*(.+)/, text) do
      name
    else
      _ -> to_string(:erlang.system_info(:system_architecture))
    end
  end

  defp load do
    case File.read("/proc/loadavg") do
      {:ok, text} -> text |> String.split(" ") |> Enum.take(3) |> Enum.join(" ")
      _ -> "unknown"
    end
  end

  defp rustc do
    with path when is_binary(path) <- System.find_executable("rustc"),
         {text, 0} <- System.cmd(path, ["--version"]) do
      String.trim(text)
    else
      _ -> "rustc not found"
    end
  end

  # The lines of [profile.release], unchanged.
  defp release_profile do
    with {:ok, text} <- File.read("Cargo.toml"),
         [_, lines] <- Regex.run(~r/^\[profile\.release\]\n((?:[^\[\n].*\n?)*)/m, text) do
      lines |> String.split("\n", trim: true) |> Enum.join(", ")
    else
      _ -> "cargo's default"
    end
  end
end
