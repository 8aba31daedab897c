defmodule PtcRunnerMcp.MixProject do
  use Mix.Project

  def project do
    [
      app: :ptc_runner_mcp,
      version: "0.1.0",
      elixir: "~> 1.14",
      # The library is built once for itself and for this project, with its native part.
      build_path: "../_build",
      deps: [{:ptc_runner_native, path: "..", env: Mix.env()}],
      elixirc_paths: if(Mix.env() == :test, do: ["lib", "test/support"], else: ["lib"]),
      test_ignore_filters: [&(not String.ends_with?(&1, "_test.exs"))],
      start_permanent: Mix.env() == :prod,
      name: "ptc_runner_mcp",
      description: "A server of the Model Context Protocol that runs one program over many tools."
    ]
  end

  def application do
    [mod: {PtcRunnerMcp.Application, []}, extra_applications: [:logger, :crypto, :inets]]
  end
end
