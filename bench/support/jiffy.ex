defmodule Bench.Jiffy do
  @moduledoc false
  # Jiffy is an optional yardstick: it is used if the machine has it.

  @compile {:no_warn_undefined, :jiffy}

  @doc "The text in place of a number if jiffy cannot be loaded."
  @spec missing() :: String.t()
  def missing, do: "jiffy not installed (Debian, Ubuntu: apt-get install -y erlang-jiffy)"

  @doc "Whether jiffy can be called. Mix may have pruned OTP's own folder from the code path."
  @spec available?() :: boolean
  def available? do
    for path <- Path.wildcard("#{:code.lib_dir()}/jiffy-*/ebin"),
        do: :code.add_pathz(String.to_charlist(path))

    Code.ensure_loaded?(:jiffy)
  end

  @spec decode(String.t()) :: term
  def decode(text), do: :jiffy.decode(text, [:return_maps])

  @spec encode(term) :: iodata
  def encode(term), do: :jiffy.encode(term)

  @spec version() :: String.t() | nil
  def version do
    if available?() do
      _ = Application.load(:jiffy)
      to_string(Application.spec(:jiffy, :vsn))
    end
  end
end
