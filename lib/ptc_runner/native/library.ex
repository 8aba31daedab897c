defmodule PtcRunner.Native.Library do
  @moduledoc false
  # Checks the file of the native library before the VM maps it. A truncated file would
  # end the VM with a bus error, during loading or at any later time.
  #
  # Files are opened raw: in a release, modules are loaded before the file server starts.

  @version Mix.Project.config()[:version]
  @state {PtcRunner.Native, :library}

  # The size of a library's header, and the processors that headers can name.
  @header_bytes 20
  @elf %{3 => "x86", 40 => "arm", 62 => "x86_64", 183 => "aarch64", 243 => "riscv64"}
  @mach %{0x0100_0007 => "x86_64", 0x0100_000C => "aarch64"}

  @doc "The path of the library without its extension, as `:erlang.load_nif/2` expects it."
  @spec path() :: charlist()
  def path, do: :filename.join(:code.priv_dir(:ptc_runner_native), ~c"native/ptc_nif")

  # A pid, a port, a reference and a fun of another node, and a native record, as external terms.
  @node_name <<119, 8, "a@nohost">>
  @foreign [
    <<131, 88, @node_name::binary, 40::32, 1::32, 7::32>>,
    <<131, 89, @node_name::binary, 40::32, 7::32>>,
    <<131, 90, 3::16, @node_name::binary, 7::32, 1::32, 2::32, 3::32>>,
    <<131, 67, 2::32, 0, 119, 1, ?m, 119, 1, ?p, 119, 1, ?x, 119, 1, ?y, 97, 1, 97, 2>>
  ]

  @doc """
  The data about this VM for the native side: its release; whether big integers become the nearest float; unaligned binaries, from which the native side
  learns their layout (the VM copies shorter binaries when they are matched); and terms of each other kind that this VM
  has, which must not look like a kind that the native side reads in place.
  """
  @spec load_info() :: {pos_integer(), boolean(), [{binary(), 1..7}, ...], [term(), ...]}
  def load_info do
    unaligned =
      for bits <- 1..7, size <- [70, 700, 5_000] do
        {unaligned(bits, :binary.copy(<<0xA5>>, size)), bits}
      end

    release = List.to_integer(:erlang.system_info(:otp_release))
    nearest? = nearest?("29676962771761955365875859166457480150438852639049780671")
    {release, nearest?, unaligned, others(self(), make_ref())}
  end

  # Erlang/OTP 27 sums the digits of an integer as floats; OTP 29 rounds once. As text, so that this VM does it and not the compiler.
  defp nearest?(digits), do: String.to_integer(digits) * 1.0 == 2.967696277176196e55

  defp others(pid, reference) do
    funs = [fn -> {pid, reference} end, fn -> :ok end, &:erlang.node/0]
    ports = :lists.sublist(:erlang.ports(), 1)
    tuples = [{}, {pid}, {1, 2.0, [pid]}]
    [pid, reference] ++ funs ++ ports ++ tuples ++ :lists.flatmap(&foreign/1, @foreign)
  end

  # Before OTP 29 there are no native records.
  defp foreign(external) do
    [:erlang.binary_to_term(external)]
  rescue
    ArgumentError -> []
  end

  # A binary that begins so many bits after the beginning of a byte.
  for bits <- 1..7 do
    defp unaligned(unquote(bits), bytes) do
      <<_::unquote(bits), binary::binary>> = <<0::unquote(bits), bytes::binary>>
      binary
    end
  end

  @doc "Checks whether the library may be loaded; if not, a sentence says what is wrong and what to do."
  @spec check(charlist()) :: :ok | {:error, String.t()}
  def check(path) do
    # A build may be replacing the library and its manifest at this moment.
    with {:error, _sentence} <- check_once(path) do
      Process.sleep(200)
      check_once(path)
    end
  end

  defp check_once(path) do
    file = "#{path}.#{extension()}"

    with {:ok, library} <- read(file, "The native library of ptc_runner_native"),
         :ok <- check_processor(file, library),
         {:ok, manifest} <- read("#{path}.manifest", "What is known about the native library"),
         {:ok, known} <- parse(manifest, "#{path}.manifest"),
         :ok <- check_version(file, known),
         do: check_content(file, library, known)
  end

  @doc """
  Parses a manifest, which the compiler in mix.exs writes.

      iex> PtcRunner.Native.Library.parse("version 0.1.0\\nbytes 7\\nmd5 00ff\\n", "ptc_nif.manifest")
      {:ok, %{"version" => "0.1.0", "bytes" => "7", "md5" => "00ff"}}

  """
  @spec parse(binary(), String.t()) :: {:ok, map()} | {:error, String.t()}
  def parse(text, file) do
    lines = for line <- :binary.split(text, "\n", [:global]), do: :binary.split(line, " ")
    known = for [name, value] <- lines, into: %{}, do: {name, value}

    case known do
      %{"version" => _, "bytes" => _, "md5" => _} -> {:ok, known}
      _other -> refuse("#{file} is damaged, so the native library cannot be checked.")
    end
  end

  defp check_processor(file, library) do
    found = processor(library)

    case processor_of_vm() do
      ours when ours == nil or found in [nil, ours] -> :ok
      ours -> refuse("#{file} is a library for #{found}, and this VM runs on #{ours}.")
    end
  end

  defp processor(
         <<0x7F, "ELF", _class, 1, _::binary-10, _type::16, machine::little-16, _::binary>>
       ),
       do: Map.get(@elf, machine, "a processor of ELF number #{machine}")

  defp processor(<<0x7F, "ELF", _class, 2, _::binary-10, _type::16, machine::16, _::binary>>),
    do: Map.get(@elf, machine, "a processor of ELF number #{machine}")

  defp processor(<<0xFEEDFACF::little-32, type::little-32, _::binary>>),
    do: Map.get(@mach, type, "a processor of Mach-O number #{type}")

  defp processor(_other), do: nil

  # The first part of, for example, x86_64-pc-linux-gnu; nil for other processors than those above.
  defp processor_of_vm do
    name = :system_architecture |> :erlang.system_info() |> List.to_string()

    case name |> :binary.split("-") |> hd() do
      "amd64" -> "x86_64"
      "arm64" -> "aarch64"
      "arm" <> _version -> "arm"
      <<"i", _, "86">> -> "x86"
      known when known in ["x86_64", "aarch64", "riscv64"] -> known
      _other -> nil
    end
  end

  defp check_version(_file, %{"version" => @version}), do: :ok

  defp check_version(file, %{"version" => version}),
    do: refuse("#{file} is of version #{version} of ptc_runner_native, and this is #{@version}.")

  defp check_content(file, library, %{"bytes" => bytes, "md5" => md5}) do
    size = byte_size(library)

    cond do
      Integer.to_string(size) != bytes ->
        refuse("#{file} is not as it was built: it has #{size} bytes, and had #{bytes}.")

      size < @header_bytes or Base.encode16(:erlang.md5(library), case: :lower) != md5 ->
        refuse("#{file} is not as it was built: its checksum is another one.")

      true ->
        :ok
    end
  end

  defp read(file, what) do
    with {:ok, device} <- :file.open(file, [:read, :raw, :binary]),
         {:ok, info} <- :file.read_file_info(file, [:raw]),
         content = :file.read(device, elem(info, 1)),
         :ok <- :file.close(device) do
      case content do
        {:ok, bytes} when bytes != "" -> {:ok, bytes}
        {:ok, _nothing} -> refuse("#{file} is empty.")
        :eof -> refuse("#{file} is empty.")
        {:error, reason} -> unreadable(file, what, reason)
      end
    else
      {:error, reason} -> unreadable(file, what, reason)
    end
  end

  defp unreadable(file, what, :enoent),
    do: refuse("#{what} is missing: there is no file #{file}.")

  defp unreadable(file, what, reason),
    do: refuse("#{what} cannot be read: #{file}: #{:file.format_error(reason)}.")

  @doc "Converts an error of `:erlang.load_nif/2` to a sentence."
  @spec load_error(atom(), charlist()) :: {:error, String.t()}
  def load_error(reason, _text) when reason in [:reload, :upgrade] do
    {:error,
     "PtcRunner.Native cannot be replaced while the VM runs: the code that is loaded stays in use. " <>
       "Restart the VM to use the new one."}
  end

  def load_error(_reason, text), do: refuse("The VM refused the native library: #{text}.")

  defp refuse(sentence) do
    {:error,
     sentence <>
       " Build it again: `mix deps.compile ptc_runner_native --force` in your application, " <>
       "or `mix compile --force` in a checkout of ptc_runner_native."}
  end

  @doc """
  Stores that the library is loaded, or why not; returns the value for `@on_load`.

  If `@on_load` fails, Elixir only reports the module as undefined. So if no version is loaded yet, the module
  is loaded without the library, and each call raises the sentence.
  """
  @spec loaded(:ok | {:error, String.t()}) :: :ok | {:error, String.t()}
  def loaded(:ok), do: :persistent_term.put(@state, :loaded)

  def loaded({:error, sentence} = error) do
    case :persistent_term.get(@state, nil) do
      :loaded -> if :erlang.module_loaded(PtcRunner.Native), do: error, else: refused(unloaded())
      _other -> refused(sentence)
    end
  end

  defp refused(sentence) do
    :logger.error(sentence)
    :persistent_term.put(@state, {:refused, sentence})
  end

  @doc """
  The error of calls after the module has been deleted. It is loaded again without the library, which belongs to
  the deleted code.
  """
  @spec unloaded() :: String.t()
  def unloaded do
    "The native library was unloaded while it was in use (PtcRunner.Native was deleted or purged): restart the VM"
  end

  @doc "The error of a call whose native function is not loaded."
  @spec not_loaded() :: Exception.t() | :nif_not_loaded
  def not_loaded do
    case :persistent_term.get(@state, nil) do
      {:refused, sentence} -> %RuntimeError{message: sentence}
      _other -> :nif_not_loaded
    end
  end

  defp extension, do: if(match?({:win32, _}, :os.type()), do: "dll", else: "so")
end
