defmodule ALLM.EngineTest do
  use ExUnit.Case, async: true
  doctest ALLM.Engine
  doctest ALLM.Tool
  doctest ALLM.Error.ValidationError
  doctest ALLM.Serializer
  doctest ALLM.Serializer.Restore
  doctest ALLM.Engine.ToolMerge
end
