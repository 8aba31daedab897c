defmodule PtcRunner.DocsTest do
  # What ex_doc would warn about, or would show otherwise than it stands in the source; ex_doc itself
  # is not needed.
  use ExUnit.Case, async: true

  @root Path.expand("..", __DIR__)
  @texts Enum.flat_map(
           ["README.md", "CHANGELOG.md", "{guides,docs,bench}/*.{md,cheatmd}"],
           &Path.wildcard(Path.join(@root, &1))
         )

  setup_all do
    {:ok, modules} = :application.get_key(:ptc_runner_native, :modules)
    support = ["Elixir.PtcRunner.Test.", "Elixir.Mix."]
    mine = Enum.reject(modules, &String.starts_with?(Atom.to_string(&1), support))
    %{documented: Enum.filter(mine, &documented?/1), mine: mine}
  end

  defp documented?(module) do
    match?({:docs_v1, _, _, _, %{"en" => _}, _, _}, Code.fetch_docs(module)) and
      not function_exported?(module, :__impl__, 1)
  end

  defp docs_of(module) do
    {:docs_v1, _, _, _, %{"en" => about}, _, docs} = Code.fetch_docs(module)

    texts =
      for {{_, name, arity}, _, _, %{"en" => text}, _} <- docs,
          do: {"#{inspect(module)}.#{name}/#{arity}", text}

    [{inspect(module), about} | texts]
  end

  defp all_texts(documented) do
    files = for path <- @texts, do: {Path.relative_to(path, @root), File.read!(path)}
    files ++ Enum.flat_map(documented, &docs_of/1)
  end

  defp without_code(text) do
    text = Regex.replace(~r/^```.*?^```$/ms, text, "")
    Regex.replace(~r/^    .*$/m, text, "")
  end

  test "links lead to files, and to headings in them" do
    for path <- @texts,
        [target] <- links(File.read!(path)),
        not (target =~ ~r/^(https?|mailto):/) do
      {file, anchor} = split(target)
      there = if file == "", do: path, else: Path.expand(file, Path.dirname(path))
      place = "#{Path.relative_to(path, @root)}: #{target}"
      assert File.exists?(there), place
      if anchor, do: assert(anchor in anchors(File.read!(there)), place)
    end
  end

  defp links(text),
    do: Regex.scan(~r/(?<!!)\[[^\]]*\]\(([^)\s]+)\)/, without_code(text), capture: :all_but_first)

  defp split(target) do
    case String.split(target, "#", parts: 2) do
      [file] -> {file, nil}
      [file, anchor] -> {file, anchor}
    end
  end

  # As GitHub and ex_doc make them.
  defp anchors(text) do
    for [heading] <- Regex.scan(~r/^#+ (.*)$/m, without_code(text), capture: :all_but_first) do
      heading
      |> String.downcase()
      |> String.replace(~r/[^\w\s-]/u, "")
      |> String.replace(~r/\s/, "-")
    end
  end

  test "links to files that are pages of the docs, are to those" do
    docs = Mix.Project.config()[:docs]
    extras = for extra <- docs[:extras], do: extra |> extra_path() |> Path.expand(@root)
    for extra <- extras, do: assert(File.exists?(extra), extra)

    for path <- @texts, path in extras, [target] <- links(File.read!(path)) do
      {file, _} = split(target)

      if file =~ ~r/\.(md|cheatmd)$/ and not (file =~ ~r/^https?:/),
        do: assert(Path.expand(file, Path.dirname(path)) in extras, "#{path}: #{target}")
    end
  end

  defp extra_path({path, _opts}), do: to_string(path)
  defp extra_path(path), do: path

  test "functions that are named exist, and are documented", %{documented: documented, mine: mine} do
    mentions =
      for {where, text} <- all_texts(documented),
          [module, name, arity] <-
            Regex.scan(~r/`([A-Z][\w.]*)\.([a-z_]\w*[?!]?)\/(\d+)`/, without_code(text),
              capture: :all_but_first
            ),
          do: {module, {String.to_atom(name), String.to_integer(arity)}, where}

    # Each module is looked up once: it may be named hundreds of times.
    for {module, mentions} <- Enum.group_by(mentions, &elem(&1, 0)) do
      candidates = named_modules(module, mine)
      functions = candidates |> Enum.flat_map(&public/1) |> MapSet.new()
      # a function of a package that is not here
      external? = candidates == [] and not (module =~ ~r/^(PtcRunner|ALLM)\./)

      for {_module, {name, arity} = named, where} <- mentions do
        assert external? or named in functions, "#{where} names #{module}.#{name}/#{arity}"
      end
    end
  end

  # A module may be named by its last parts; other libraries' are taken as they are.
  defp named_modules(name, mine) do
    module = Module.concat([name])
    short = for other <- mine, String.ends_with?(inspect(other), "." <> name), do: other
    if Code.ensure_loaded?(module), do: [module | short], else: short
  end

  defp public(module) do
    hidden =
      case Code.fetch_docs(module) do
        {:docs_v1, _, _, _, _, _, docs} ->
          for {{kind, name, arity}, _, _, :hidden, _} <- docs,
              kind in [:function, :macro],
              do: {name, arity}

        _ ->
          []
      end

    (module.module_info(:exports) ++ macros(module)) -- hidden
  end

  defp macros(module),
    do: if(function_exported?(module, :__info__, 1), do: module.__info__(:macros), else: [])

  test "each threat of the security page has a test, and the files that it names exist" do
    page = File.read!("docs/security.md")
    threats = for "| **" <> _ = line <- String.split(page, "\n"), do: line
    assert length(threats) >= 30

    for threat <- threats do
      test = threat |> String.split(" | ") |> Enum.at(2)
      assert test =~ ~r/`(test|native|bin)[\/ ]|slice clock/, threat
    end

    for [_, file] <- Regex.scan(~r/`((?:test|native|lib|bin)\/[\w\/-]+(?:\.\w+)?)`/, page),
        do: assert(File.exists?(file), "docs/security.md names #{file}")
  end

  test "modules that are named as links are not hidden", %{documented: documented, mine: mine} do
    # flexible key access is the original's name
    hidden = Enum.map((mine -- documented) -- [PtcRunner.Lisp.Runtime.FlexAccess], &inspect/1)

    skipped = Mix.Project.config()[:docs][:skip_undefined_reference_warnings_on]

    for {where, text} <- all_texts(documented),
        where not in skipped,
        [name] <- Regex.scan(~r/`([A-Z][\w.]*)`/, without_code(text), capture: :all_but_first) do
      refute name in hidden, "#{where} names #{name}, which is hidden"
    end
  end

  test "examples after a list have a line of text between, or they are shown as part of it", %{
    documented: documented
  } do
    for module <- documented, {where, text} <- docs_of(module) do
      lines = String.split(text, "\n")

      Enum.reduce(lines, :text, fn line, in_list ->
        cond do
          line =~ ~r/^\s*([*-]|\d+\.) / -> :list
          line =~ ~r/^\s*iex>/ -> in_list == :list and flunk("#{where}: #{line}")
          line == "" or (line =~ ~r/^\s{2,}/ and in_list == :list) -> in_list
          true -> :text
        end
      end)
    end
  end

  test "every documented module stands in one group, and no other", %{documented: documented} do
    grouped =
      Mix.Project.config()[:docs][:groups_for_modules] |> Keyword.values() |> List.flatten()

    assert Enum.sort(grouped) == Enum.sort(documented)
  end
end
