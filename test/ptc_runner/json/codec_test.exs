defmodule PtcRunner.Json.CodecTest do
  use ExUnit.Case, async: true
  doctest PtcRunner.Json.Codec
  doctest PtcRunner.Json.Encoder
  doctest PtcRunner.Json.Codec.EncodeError
  doctest PtcRunner.Json.Codec.DecodeError
end
