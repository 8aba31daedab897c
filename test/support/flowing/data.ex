defmodule PtcRunner.Test.Flowing.Data do
  @moduledoc """
  Rows with firewalled fields, in several forms, and the types of what stands in them.

  Secrets have a marker in their text, see `secret?/1`. The data of another variant have other secrets and are equal otherwise:
  those of variant 1 keep their kind, order, length and equality, and what is left when they are divided by 7, so that they decide the same;
  those of variant 2 keep nothing.
  """

  defmodule Owner do
    @moduledoc false
    defstruct [:id, :name, :_pin, __meta__: nil]
  end

  defmodule Order do
    @moduledoc false
    defstruct [
      :id,
      :name,
      :n,
      :at,
      :kind,
      :tags,
      :owner,
      :lines,
      :_pin,
      :_card,
      :_rate,
      :_when,
      :_more,
      :_kind,
      :_note,
      :_list,
      :_who,
      :_keys,
      :"-dash",
      __meta__: nil,
      posts: nil
    ]
  end

  @typedoc """
  What the generator knows of a value: its kind or its parts, and whether it, the number of its items or its keys come from a firewalled
  field.
  """
  @type type ::
          {:leaf, kind :: atom(), secret? :: boolean()}
          | {:list, type(), counted? :: boolean()}
          | {:obj, %{String.t() => type()}}
          | {:dict, type(), keys? :: boolean()}

  @type form :: :strings | :atoms | :structs | :texts

  @doc "The type of a row. Where structs are maps, dates and decimals are values that no operation takes."
  @spec row(form()) :: type()
  def row(form) do
    {date, dec, atom} = if form == :structs, do: {:date, :dec, :text}, else: {:text, :text, :text}
    owner = {:obj, %{"id" => leaf(:int), "name" => leaf(:text), "_pin" => secret(:int)}}

    {:obj,
     %{
       "id" => leaf(:int),
       "name" => leaf(:text),
       "n" => leaf(:float),
       "at" => leaf(date),
       "kind" => leaf(atom),
       "tags" => {:list, leaf(:text), false},
       "owner" => owner,
       "lines" => {:list, {:obj, %{"sku" => leaf(:text), "_cost" => secret(:int)}}, false},
       "_pin" => secret(:int),
       "_card" => secret(:text),
       "_rate" => secret(:float),
       "_when" => secret(date),
       "_more" => secret(dec),
       "_kind" => secret(atom),
       "_note" => {:obj, %{"text" => secret(:text), "n" => secret(:float)}},
       "_list" => {:list, secret(:int), true},
       "_who" => {:obj, %{"id" => secret(:int), "name" => secret(:text)}},
       "_keys" => {:dict, secret(:int), true},
       "-dash" => secret(:text)
     }}
  end

  defp leaf(kind), do: {:leaf, kind, false}
  defp secret(kind), do: {:leaf, kind, true}

  @doc "The context: rows, one row, lists of rows, objects of rows, rows with other values among them, a public list."
  @spec context(form(), 0..2) :: map()
  def context(form, variant) do
    rows = for n <- 1..4, do: row(form, variant, n)

    data = %{
      "rows" => rows,
      "one" => row(form, variant, 7),
      "lists" => Enum.chunk_every(rows, 2),
      "named" => Map.new(Enum.with_index(rows, 1), fn {row, n} -> {"k#{n}", row} end),
      "mixed" => [hd(rows), [row(form, variant, 8)], 5, "text", nil],
      "plain" => for(n <- 1..3, do: %{"id" => n, "city" => Enum.at(~w(x y z), n - 1)}),
      "_top" => number(variant, 900)
    }

    if form == :texts, do: Map.update!(data, "rows", &text/1), else: data
  end

  defp text(rows), do: rows |> PtcRunner.Json.Codec.encode!() |> PtcRunner.Json.text()

  @doc "The memory: rows, a public number, and a value that its marks say to come from firewalled fields."
  @spec memory(form(), 0..2) :: map()
  def memory(form, variant) do
    %{
      "kept" => for(n <- 1..3, do: row(form, variant, n)),
      "count" => 3,
      "pins" => [number(variant, 1), number(variant, 2)],
      "_concealed" => ["pins"]
    }
  end

  @doc "The names of the data and their types."
  @spec types(form()) :: {context :: %{String.t() => type()}, memory :: %{String.t() => type()}}
  def types(form) do
    row = row(form)
    rows = {:list, row, false}
    plain = {:obj, %{"id" => leaf(:int), "city" => leaf(:text)}}

    {%{
       "rows" => rows,
       "one" => row,
       "lists" => {:list, rows, false},
       "named" => {:dict, row, false},
       "plain" => {:list, plain, false},
       "_top" => secret(:int)
     }, %{"kept" => rows, "count" => leaf(:int), "pins" => {:list, secret(:int), true}}}
  end

  @doc "A row in a form. The rows of tools are `:strings`."
  @spec row(form(), 0..2, pos_integer()) :: map()
  def row(form, variant, n) do
    fields = %{
      "id" => n,
      "name" => Enum.at(~w(ada bob cy), rem(n, 3)),
      "n" => n * 1.5,
      "at" => if(form == :structs, do: Date.add(~D[2024-02-27], n), else: "2024-03-0#{n}"),
      "kind" => if(form == :structs, do: Enum.at([:new, :old], rem(n, 2)), else: "new"),
      "tags" => ["a", "b#{n}"],
      "owner" => owner(form, variant, n),
      "lines" =>
        for(
          k <- 1..rem(n, 3)//1,
          do: line(form, %{"sku" => "s#{k}", "_cost" => number(variant, 60 + n)})
        )
    }

    secrets = if variant == 2, do: other_secrets(form, n), else: secrets(form, variant, n)
    in_form(form, Map.merge(fields, secrets), Order)
  end

  defp line(form, map), do: in_form(if(form == :structs, do: :atoms, else: form), map, nil)

  defp owner(form, variant, n),
    do:
      in_form(
        form,
        %{"id" => n * 10, "name" => "o#{n}", "_pin" => number(variant, n)},
        Owner
      )

  defp in_form(:structs, map, module) do
    meta = %{__struct__: Ecto.Schema.Metadata, state: :loaded, source: "orders", prefix: nil}
    struct = struct!(module, for({key, value} <- map, do: {String.to_atom(key), value}))
    struct = %{struct | __meta__: meta}

    if is_map_key(struct, :posts),
      do: %{struct | posts: %{__struct__: Ecto.Association.NotLoaded, __field__: :posts}},
      else: struct
  end

  defp in_form(:atoms, map, _module), do: Map.new(map, fn {k, v} -> {String.to_atom(k), v} end)
  defp in_form(_strings, map, _module), do: map

  # Numbers, texts, dates and decimals of seven or more digits that begin with 734185 or 784185: greater ones are of greater rows.
  # Divided by 7, those of both variants leave the same: programs count with that.
  defp number(1, n), do: 7_841_852_004 + n
  defp number(_variant, n), do: 7_341_852_000 + n

  defp secrets(form, variant, n) do
    head = if variant == 1, do: "zr", else: "zq"
    year = if variant == 1, do: "7841", else: "7341"
    date = "#{year}-08-#{10 + n}"

    %{
      "_pin" => number(variant, 100 + n),
      "_card" => "#{head}-card-#{n}",
      "_rate" => number(variant, 200 + n) + 0.5,
      "_when" => if(form == :structs, do: Date.from_iso8601!(date), else: date),
      "_more" => decimal(form, number(variant, 300 + n)),
      "_kind" => if(form == :structs, do: atom(head, n), else: "#{head}-kind-#{n}"),
      "_note" =>
        in_form(
          atoms(form),
          %{"text" => "#{head}-note", "n" => number(variant, 500 + n) + 0.25},
          nil
        ),
      "_list" => [number(variant, 400 + n), number(variant, 410 + n)],
      "_who" =>
        in_form(atoms(form), %{"id" => number(variant, 600 + n), "name" => "#{head}-who"}, nil),
      "_keys" => %{"#{head}-key-#{n}" => number(variant, 700 + n)},
      "-dash" => "#{head}-dash-#{n}"
    }
  end

  defp atoms(:structs), do: :atoms
  defp atoms(form), do: form

  # Other kinds, other lengths, and absent fields.
  defp other_secrets(form, n) do
    %{
      "_pin" => -n,
      "_card" => String.duplicate("zq", 5 - n + 4),
      "_rate" => -1.0e9 * n,
      "_when" => if(form == :structs, do: Date.add(~D[7341-08-01], -n), else: "7341-08-02"),
      "_more" => decimal(form, -5),
      "_kind" => "zq",
      "_note" => nil,
      "_list" => Enum.map(1..(n + 3), &(7_341_852_000 - &1)),
      "_who" => in_form(atoms(form), %{"id" => -1, "name" => "zq"}, nil),
      "_keys" => %{},
      "-dash" => "zq"
    }
  end

  defp decimal(:structs, coef), do: %{__struct__: Decimal, sign: 1, coef: coef, exp: -2}
  defp decimal(_form, coef), do: "#{coef}.25"

  defp atom("zq", n), do: Enum.at([:zq_a, :zq_b, :zq_c, :zq_d], rem(n, 4))
  defp atom("zr", n), do: Enum.at([:zr_a, :zr_b, :zr_c, :zr_d], rem(n, 4))

  @doc "Whether a text shows a part of a secret."
  @spec secret?(String.t()) :: boolean()
  def secret?(text), do: text =~ ~r/zq|zr|7\.?[38]\.?418|7[38]41-0|7_[38]41/i
end
