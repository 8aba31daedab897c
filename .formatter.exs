[
  inputs: ["{mix,.formatter}.exs", "{lib,overlay,test,bench,examples}/**/*.{ex,exs}"]
]
