defmodule PtcRunner.Test.Strange do
  @moduledoc """
  Terms of kinds that only some VMs have. Native records exist since OTP 29; this code compiles on all.
  """

  @doc """
  Whether this VM has native records.

      iex> is_boolean(PtcRunner.Test.Strange.native_records?())
      true
  """
  @spec native_records?() :: boolean()
  def native_records?, do: String.to_integer(System.otp_release()) >= 29

  @doc """
  A native record of the module `m` with the name `p`, as `-record #p{x, y}.` defines it: it is read from the external
  term format.
  """
  @spec record(keyword()) :: term()
  def record(fields) do
    names = for {name, _value} <- fields, do: name |> :erlang.term_to_binary() |> inner()
    values = for {_name, value} <- fields, do: value |> :erlang.term_to_binary() |> inner()
    names_of = Enum.map([:m, :p], &(&1 |> :erlang.term_to_binary() |> inner()))

    [<<131, 67, length(fields)::32, 0>>, names_of, names, values]
    |> IO.iodata_to_binary()
    |> :erlang.binary_to_term()
  end

  # Without the version, which stands only once in a text.
  defp inner(<<131, rest::binary>>), do: rest

  @doc """
  Some native records that are shown as `inspect/1` shows them; none on a VM without such records.

      iex> is_list(PtcRunner.Test.Strange.plain())
      true
  """
  @spec plain() :: [term()]
  def plain do
    if native_records?() do
      flat = record(x: 1, y: 2)
      [flat, record([]), record(x: flat, y: [flat, %{"k" => flat}])]
    else
      []
    end
  end

  @doc """
  The same, and some that are shown by their names only.

      iex> is_list(PtcRunner.Test.Strange.records())
      true
  """
  @spec records() :: [term()]
  def records do
    if native_records?() do
      plain() ++
        [
          record(x: "text", y: %{"_pin" => "s3cret"}),
          record(_pin: "s3cret", y: 1),
          record(x: Enum.to_list(1..5_000), y: <<255>>),
          record(for n <- 1..60, do: {:"f#{n}", n})
        ]
    else
      []
    end
  end
end
