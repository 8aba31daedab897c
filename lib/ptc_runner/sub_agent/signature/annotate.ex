defmodule PtcRunner.SubAgent.Signature.Annotate do
  @moduledoc false
  # Rules beside the types of a signature: finds the type at a path, and puts the rules there as `{:where, type, rules}`.

  alias PtcRunner.Json.Suggestion
  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.{Base, RuleCheck, Type}

  @lists [:unique, :min_items, :max_items]
  @all [:default, :description]

  @result "$result"
  @none %{names: %{}, open: %{}}

  @doc "The signature with the rules at the path, or the text of what is wrong."
  @spec annotate(Signature.t(), String.t(), keyword() | map()) ::
          {:ok, Signature.t()} | {:error, String.t()}
  def annotate({:signature, params, returns}, path, rules) when is_binary(path) do
    with {:ok, rules} <- keyword(rules), {:ok, place, segments} <- place(path, params) do
      case place do
        :param ->
          with {:ok, params, _env} <- fields(params, segments, rules, @none),
               do: signature(params, returns)

        :result ->
          with {:ok, type, _env} <- put(returns, segments, rules, @none),
               do: signature(params, type)
      end
    end
    |> placed(path)
  end

  def annotate(_signature, path, _rules),
    do: {:error, "a path must be a text, got #{Shown.text(path, 200)}"}

  defp signature(params, returns), do: {:ok, {:signature, params, returns}}

  defp placed({:ok, _signature} = done, _path), do: done
  defp placed({:error, {:rules, text}}, _path), do: {:error, text}
  defp placed({:error, {:no_place, text}}, path), do: placed({:error, text}, path)

  defp placed({:error, text}, path) do
    place = if path == "", do: "the result", else: Shown.text(path, 200)
    {:error, "#{place}: #{text}"}
  end

  defp keyword(rules) when is_map(rules) and not is_struct(rules),
    do: rules |> Map.to_list() |> keyword()

  defp keyword([]), do: {:error, {:rules, "no rules are given"}}

  defp keyword(rules) do
    with true <- Keyword.keyword?(rules),
         nil <- Enum.find(rules, fn {key, _value} -> key not in RuleCheck.names() end) do
      {:ok, rules}
    else
      false ->
        {:error, {:rules, "rules must be a keyword list, got #{Shown.text(rules, 200)}"}}

      {key, _value} ->
        names = Enum.map(RuleCheck.names(), &inspect/1)
        close = Suggestion.sentence(inspect(key), names, &" Did you mean #{&1}?")

        {:error,
         {:rules, "#{inspect(key)} is not a rule.#{close} Rules: #{Enum.join(names, ", ")}"}}
    end
  end

  # A path of the result begins with an arrow or `$result`; it needs neither unless a parameter has the same name.
  defp place("->" <> path, _params),
    do: {:ok, :result, path |> String.trim_leading() |> segments()}

  defp place(path, params) do
    case segments(path) do
      [@result | rest] -> {:ok, :result, rest}
      [name | _rest] = all -> {:ok, if(keyed?(params, name), do: :param, else: :result), all}
      [] -> {:ok, :result, []}
    end
  end

  defp keyed?(fields, name), do: List.keymember?(fields, name, 0)

  # `:items` for `[]`.
  defp segments(path) do
    path
    |> String.replace("[]", ".[]")
    |> String.split(".", trim: true)
    |> Enum.map(&if(&1 == "[]", do: :items, else: &1))
  end

  # `env`: the types of the names around, which a path through a name changes, and the names that are open.
  defp put({:optional, type}, path, rules, env) do
    with {:ok, type, env} <- put(type, path, rules, env), do: {:ok, {:optional, type}, env}
  end

  defp put({:where, type, old}, [], rules, env), do: ruled(type, old, rules, env)

  defp put({:where, type, old}, path, rules, env) do
    with {:ok, type, env} <- put(type, path, rules, env), do: {:ok, Type.where(type, old), env}
  end

  defp put({:struct, module, type}, path, rules, env) do
    case put(type, path, rules, env) do
      {:ok, {:map, fields}, env} -> {:ok, {:struct, module, {:map, fields}}, env}
      {:ok, {:where, _map, rules}, env} -> {:ok, {:where, {:struct, module, type}, rules}, env}
      error -> error
    end
  end

  defp put({:defs, names, type}, path, rules, env) do
    inner = %{env | names: Map.merge(env.names, names)}

    with {:ok, type, inner} <- put(type, path, rules, inner) do
      {own, others} = Map.split(inner.names, Map.keys(names))
      {:ok, {:defs, own, type}, %{env | names: Map.merge(env.names, others)}}
    end
  end

  defp put({:ref, _name} = ref, [_ | _] = path, rules, env), do: through(ref, path, rules, env)

  # All types that have the place.
  defp put({:one_of, types, field}, [_ | _] = path, rules, env) do
    {types, {found, env}} =
      Enum.map_reduce(types, {:none, env}, fn type, {found, env} ->
        case put(type, path, rules, env) do
          {:ok, type, env} -> {type, {or_error(found), env}}
          {:error, {:no_place, _text}} -> {type, {found, env}}
          error -> {type, {error, env}}
        end
      end)

    case found do
      :ok -> {:ok, {:one_of, types, field}, env}
      :none -> no_place("no type of the union has #{part(hd(path))}")
      error -> error
    end
  end

  # Any name leads to the values.
  defp put({:map_of, type}, [name | path], rules, env) when name != :items do
    with {:ok, type, env} <- put(type, path, rules, env), do: {:ok, {:map_of, type}, env}
  end

  defp put({:list, type}, [:items | path], rules, env), do: items(type, path, rules, env)
  defp put({:list, type}, [], rules, env), do: list({:list, type}, [], rules, env)
  defp put({:list, type}, path, rules, env), do: items(type, path, rules, env)

  defp put({kind, fields}, [_name | _] = path, rules, env) when kind in [:map, :closed_map] do
    with {:ok, fields, env} <- fields(fields, path, rules, env), do: {:ok, {kind, fields}, env}
  end

  defp put(type, [], rules, env), do: ruled(type, [], rules, env)

  defp put(type, [name | _path], _rules, _env),
    do: no_place("#{shown(type)} has no #{part(name)}")

  defp or_error({:error, _text} = error), do: error
  defp or_error(_none), do: :ok

  defp no_place(text), do: {:error, {:no_place, text}}

  # The type of a name is changed. A name that is open for the same part of the path stands for itself.
  defp through({:ref, name} = ref, path, rules, env) do
    open = {name, length(path)}

    case env.names do
      %{^name => _type} when is_map_key(env.open, open) ->
        {:error, "the name #{Shown.quoted(name)} stands for itself"}

      %{^name => type} ->
        inner = %{env | open: Map.put(env.open, open, true)}

        with {:ok, inner} <- named(name, type, path, rules, inner),
             do: {:ok, ref, %{inner | open: env.open}}

      %{} ->
        {:error, "there is no type of the name #{Shown.quoted(name)}"}
    end
  end

  # Where the path leads through the name once more, in a union, its type has changed already: that change is kept.
  defp named(name, type, path, rules, env) do
    with {:ok, made, env} <- put(type, path, rules, env) do
      case env.names do
        _names when made == type -> {:ok, env}
        %{^name => ^type} = names -> {:ok, %{env | names: Map.put(names, name, made)}}
        %{^name => changed} -> named(name, changed, path, rules, env)
      end
    end
  end

  defp part(:items), do: "items"
  defp part(name), do: "field #{Shown.quoted(name)}"

  defp items(type, path, rules, env) do
    with {:ok, type, env} <- put(type, path, rules, env), do: {:ok, {:list, type}, env}
  end

  # Rules that a list cannot have are those of its items.
  defp list({:list, item} = type, old, rules, env),
    do: apart(type, old, rules, @lists ++ @all, env, &items(item, [], &1, env))

  # The rules of the type itself, and the others where `put_others` puts them.
  defp apart(type, old, rules, own, env, put_others) do
    {own, others} = Keyword.split(rules, own)

    with {:ok, type, env} <- if(others == [], do: {:ok, type, env}, else: put_others.(others)) do
      if own == [],
        do: {:ok, Type.where(type, old), env},
        else: checked(type, merged(old, own), env)
    end
  end

  defp fields(fields, [:items | _path], _rules, _env),
    do: no_place("#{shown({:map, fields})} has no items")

  defp fields(fields, [name | path], rules, env) do
    case List.keyfind(fields, name, 0) do
      {^name, type} ->
        with {:ok, type, env} <- put(type, path, rules, env),
             do: {:ok, List.keyreplace(fields, name, 0, {name, type}), env}

      nil ->
        names = Enum.map(fields, &elem(&1, 0))
        close = Suggestion.sentence(name, names, &" Did you mean #{inspect(&1)}?")

        no_place(
          "there is no field #{Shown.quoted(name)}.#{close} Fields: #{Shown.few(names, &Shown.quoted/1)}"
        )
    end
  end

  defp ruled({:list, _items} = type, old, rules, env), do: list(type, old, rules, env)

  # What a description or a default is about is this use of the name; other rules are those of its type.
  defp ruled({:ref, _name} = ref, old, rules, env),
    do: apart(ref, old, rules, @all, env, &through(ref, [], &1, env))

  defp ruled(type, old, rules, env), do: checked(type, merged(old, rules), env)

  defp merged(old, rules),
    do: old |> Map.new() |> Map.merge(Map.new(rules)) |> RuleCheck.ordered()

  defp checked(type, rules, env) do
    with {:ok, type} <- RuleCheck.checked(type, rules, env.names), do: {:ok, type, env}
  end

  defp shown(type),
    do: type |> Base.unnamed() |> Signature.Renderer.render_type() |> Shown.cut(200)
end
