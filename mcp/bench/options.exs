# The options of the server that bench/http.exs measures.
[
  tools: %{
    "rate" =>
      {fn %{"day" => day} -> day * 0.5 end, signature: "(day :int) -> :float", effect: :read}
  }
]
