//! The files of a crate that use each other in a circle, found from their `use` lines and from paths in their code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Maximum number of files in a circle.
const MOST: usize = 4;

type Module = Vec<String>;

fn modules(folder: &Path, at: &Module, found: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_string();
        let mut module = at.clone();
        if path.is_dir() {
            module.push(name);
            modules(&path, &module, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            if name != "mod" && name != "lib" {
                module.push(name);
            }
            found.insert(module, fs::read_to_string(&path).unwrap());
        }
    }
}

/// The paths of a `use` that may have braces.
fn expanded(before: &str, path: &str, all: &mut Vec<String>) {
    let path = path.trim();
    let Some((start, rest)) = path.split_once('{') else {
        all.push(format!("{before}{path}"));
        return;
    };
    let before = format!("{before}{start}");
    let inside = rest.strip_suffix('}').unwrap_or(rest);
    let (mut depth, mut part) = (0, String::new());
    for letter in inside.chars().chain([',']) {
        match letter {
            ',' if depth == 0 => {
                let part = std::mem::take(&mut part);
                if !part.trim().is_empty() {
                    expanded(&before, &part, all);
                }
                continue;
            }
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        part.push(letter);
    }
}

/// The paths in code that begin with `crate::` or `super::`.
fn written_out(code: &str) -> impl Iterator<Item = String> + '_ {
    let is_path = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | ':');
    let words = code.split(move |letter| !is_path(letter));
    let paths = words.filter(|word| word.starts_with("crate::") || word.starts_with("super::"));
    paths.map(|path| path.trim_end_matches(':').to_string())
}

/// The modules that a file uses.
fn used(module: &Module, text: &str, all: &BTreeMap<Module, String>) -> BTreeSet<Module> {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines: Vec<_> = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default().trim())
        .collect();
    let mut paths = Vec::new();
    for statement in lines.join(" ").split(';') {
        paths.extend(written_out(statement));
        let Some((_, path)) = statement.rsplit_once("use ") else {
            continue;
        };
        if path.starts_with("crate::") || path.starts_with("super::") {
            expanded("", path, &mut paths);
        }
    }
    let mut found = BTreeSet::new();
    for path in paths {
        let mut parts = path.split("::").map(str::trim).peekable();
        let mut at = match parts.next_if_eq(&"crate") {
            Some(_) => Vec::new(),
            None => module.clone(),
        };
        while parts.next_if_eq(&"super").is_some() {
            at.pop();
        }
        for part in parts {
            at.push(part.split(' ').next().unwrap_or_default().to_string());
            if !all.contains_key(&at) {
                at.pop();
                break;
            }
        }
        if &at != module && !at.is_empty() {
            found.insert(at);
        }
    }
    found
}

/// The modules that can be reached from one.
fn reached<'m>(
    from: &'m Module,
    uses: &'m BTreeMap<Module, BTreeSet<Module>>,
) -> BTreeSet<&'m Module> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(module) = open.pop() {
        for next in uses.get(module).into_iter().flatten() {
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    seen
}

#[test]
fn no_circle_has_many_files() {
    let native = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut crates = 0;
    for folder in fs::read_dir(native).unwrap() {
        let folder = folder.unwrap().path();
        if !folder.join("src").is_dir() {
            continue;
        }
        crates += 1;
        let mut all = BTreeMap::new();
        modules(&folder.join("src"), &Vec::new(), &mut all);
        let uses: BTreeMap<_, _> = all
            .iter()
            .map(|(module, text)| (module.clone(), used(module, text, &all)))
            .collect();
        let reach: BTreeMap<_, _> = uses
            .keys()
            .map(|module| (module, reached(module, &uses)))
            .collect();
        let name = folder.file_name().unwrap().to_str().unwrap();
        for (module, from_it) in &reach {
            let circle: Vec<_> = from_it
                .iter()
                .filter(|other| reach[**other].contains(module))
                .collect();
            assert!(circle.len() <= MOST, "{name}: {circle:?}");
        }
    }
    assert!(crates >= 12);
}
