//! No two types of a crate have the same name, so that a name says which type is meant.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The Rust files below a folder.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, files),
            false if path.extension().is_some_and(|end| end == "rs") => files.push(path),
            false => {}
        }
    }
}

/// The name of the type that a line declares. Types with `=` are aliases; within a trait or an implementation they belong
/// to it.
fn declared(line: &str) -> Option<&str> {
    let trimmed = line.trim_start();
    let visible = trimmed.strip_prefix("pub").unwrap_or(trimmed).trim_start();
    let visible = match visible.strip_prefix('(') {
        Some(rest) => rest.split_once(')')?.1.trim_start(),
        None => visible,
    };
    let (keyword, rest) = visible.split_once(' ')?;
    let is_type = match keyword {
        "struct" | "enum" | "union" | "trait" => true,
        "type" => trimmed.len() == line.len(),
        _ => false,
    };
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let name = &rest[..end.unwrap_or(rest.len())];
    (is_type && !name.is_empty()).then_some(name)
}

#[test]
fn declarations_are_read() {
    for (line, name) in [
        ("pub struct Frame<T> {", Some("Frame")),
        ("pub(crate) enum Exit {", Some("Exit")),
        ("    struct Local;", Some("Local")),
        ("pub trait Heap {", Some("Heap")),
        ("pub type Groups = Vec<u8>;", Some("Groups")),
        ("    type Out = u8;", None),
        ("struct $name;", None),
        ("// struct Frame", None),
        ("publish struct", None),
    ] {
        assert_eq!(declared(line), name, "{line}");
    }
}

#[test]
fn no_type_name_stands_twice_in_a_crate() {
    let native = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (mut crates, mut twice) = (0, Vec::new());
    for folder in fs::read_dir(native).unwrap() {
        let mut files = Vec::new();
        let source = folder.unwrap().path().join("src");
        if !source.is_dir() {
            continue;
        }
        sources(&source, &mut files);
        crates += 1;
        let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            let tests = text.find("\n#[cfg(test)]\nmod tests {");
            for (number, line) in text[..tests.unwrap_or(text.len())].lines().enumerate() {
                if let Some(name) = declared(line) {
                    let place = format!("{}:{}", file.display(), number + 1);
                    places.entry(name.to_string()).or_default().push(place);
                }
            }
        }
        assert!(!places.is_empty(), "{}", source.display());
        twice.extend(places.into_iter().filter(|(_, places)| places.len() > 1));
    }
    assert!(crates >= 9);
    assert!(twice.is_empty(), "{twice:#?}");
}
