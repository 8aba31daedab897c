//! Namespaces of Clojure and Java: which built-ins each has.

use super::meaning::Constant;
use crate::table::Builtin;

/// A namespace: its names, and what it has.
struct Namespace {
    names: &'static [&'static str],
    has: Has,
}

/// What a namespace has.
enum Has {
    /// Built-ins by their own names.
    Own(&'static [&'static str]),
    /// Built-ins of `clojure.core`: all that have a plain name and belong to no other namespace alone.
    Core,
    /// Built-ins by other names.
    Renamed(&'static [(&'static str, Builtin)]),
    /// Built-ins by other names, and the constants of floats.
    Floats(&'static [(&'static str, Builtin)]),
}

/// What a qualified name means.
pub enum QualifiedName {
    /// A built-in.
    Builtin(Builtin),
    /// A constant.
    Constant(Constant),
    /// The namespace has others: these, or all with a plain name.
    Missing(Option<Vec<&'static str>>),
    /// There is no such namespace.
    NoNamespace,
}

/// Namespaces with a meaning of their own.
const SPECIAL: [&str; 3] = ["data", "tool", "budget"];

const CONSTANTS: [&str; 3] = ["POSITIVE_INFINITY", "NEGATIVE_INFINITY", "NaN"];

const STRING: &[&str] = &[
    "blank?",
    "downcase",
    "ends-with?",
    "format",
    "includes?",
    "index-of",
    "join",
    "last-index-of",
    "lower-case",
    "name",
    "pr-str",
    "replace",
    "split",
    "split-lines",
    "starts-with?",
    "str",
    "subs",
    "trim",
    "trim-newline",
    "triml",
    "trimr",
    "upcase",
    "upper-case",
];
const SET: &[&str] = &[
    "difference",
    "disj",
    "hash-set",
    "intersection",
    "set",
    "union",
];
const WALK: &[&str] = &["postwalk", "prewalk", "walk"];
const REGEX: &[&str] = &[
    "extract",
    "extract-int",
    "re-find",
    "re-matches",
    "re-pattern",
    "re-seq",
    "re-split",
    "regex?",
    "replace",
    "split",
];
const MATH: &[&str] = &[
    "abs", "ceil", "floor", "max", "min", "pow", "round", "sqrt", "trunc",
];

/// Names of strings, sets, walks and mathematics that `clojure.core` has not.
const NOT_CORE: &[&str] = &[
    "blank?",
    "ceil",
    "difference",
    "downcase",
    "ends-with?",
    "extract",
    "extract-int",
    "floor",
    "includes?",
    "index-of",
    "intersection",
    "join",
    "last-index-of",
    "lower-case",
    "parse",
    "postwalk",
    "pow",
    "prewalk",
    "re-split",
    "round",
    "split",
    "split-lines",
    "sqrt",
    "starts-with?",
    "trim",
    "trim-newline",
    "triml",
    "trimr",
    "trunc",
    "union",
    "upcase",
    "upper-case",
    "walk",
];

const NAMESPACES: &[Namespace] = &[
    Namespace {
        names: &["json"],
        has: Has::Renamed(&[
            ("parse-string", Builtin::JsonParseString),
            ("parse-lines", Builtin::JsonParseLines),
            ("generate-string", Builtin::JsonGenerateString),
        ]),
    },
    Namespace {
        names: &["clojure.core", "core"],
        has: Has::Core,
    },
    Namespace {
        names: &["clojure.string", "str", "string"],
        has: Has::Own(STRING),
    },
    Namespace {
        names: &["clojure.set", "set"],
        has: Has::Own(SET),
    },
    Namespace {
        names: &["clojure.walk", "walk"],
        has: Has::Own(WALK),
    },
    Namespace {
        names: &["regex"],
        has: Has::Own(REGEX),
    },
    Namespace {
        names: &["Math"],
        has: Has::Own(MATH),
    },
    Namespace {
        names: &["System"],
        has: Has::Renamed(&[("currentTimeMillis", Builtin::SystemCurrentTimeMillis)]),
    },
    Namespace {
        names: &["Boolean"],
        has: Has::Renamed(&[("parseBoolean", Builtin::BooleanParseBoolean)]),
    },
    Namespace {
        names: &["Double"],
        has: Has::Floats(&[("parseDouble", Builtin::ParseDouble)]),
    },
    Namespace {
        names: &["Float"],
        has: Has::Floats(&[("parseFloat", Builtin::ParseDouble)]),
    },
    Namespace {
        names: &["Integer"],
        has: Has::Renamed(&[("parseInt", Builtin::ParseLong)]),
    },
    Namespace {
        names: &["Long"],
        has: Has::Renamed(&[("parseLong", Builtin::ParseLong)]),
    },
    Namespace {
        names: &["LocalDate", "java.time.LocalDate"],
        has: Has::Renamed(&[("parse", Builtin::LocalDateParse)]),
    },
    Namespace {
        names: &["Instant", "java.time.Instant"],
        has: Has::Renamed(&[("parse", Builtin::InstantParse)]),
    },
    Namespace {
        names: &["Duration", "java.time.Duration"],
        has: Has::Renamed(&[("between", Builtin::DurationBetween)]),
    },
];

/// Returns the names of all namespaces.
pub fn all() -> impl Iterator<Item = &'static str> {
    let others = NAMESPACES.iter().flat_map(|space| space.names);
    SPECIAL.iter().chain(others).copied()
}

/// Returns whether there is a namespace of this name, so that no definition may have it.
pub fn exists(name: &str) -> bool {
    all().any(|space| space == name)
}

/// Returns what a name means in a namespace that has no meaning of its own.
pub fn find(space: &str, name: &str) -> QualifiedName {
    let Some(space) = (NAMESPACES.iter()).find(|known| known.names.contains(&space)) else {
        return QualifiedName::NoNamespace;
    };
    let constant = match space.has {
        Has::Floats(_) => Constant::named(name),
        _ => None,
    };
    if let Some(constant) = constant {
        return QualifiedName::Constant(constant);
    }
    let builtin = match &space.has {
        Has::Own(names) => (names.contains(&name)).then(|| Builtin::named(name)),
        Has::Core => is_core(name).then(|| Builtin::named(name)),
        Has::Renamed(renamed) | Has::Floats(renamed) => {
            let found = renamed.iter().find(|(other, _)| *other == name);
            Some(found.map(|(_, builtin)| *builtin))
        }
    };
    match builtin.flatten() {
        Some(builtin) => QualifiedName::Builtin(builtin),
        None => QualifiedName::Missing(family(&space.has)),
    }
}

/// Returns the names that a namespace has, unless they are many.
fn family(has: &Has) -> Option<Vec<&'static str>> {
    Some(match has {
        Has::Own(names) => names.to_vec(),
        Has::Core => return None,
        Has::Renamed(renamed) => renamed.iter().map(|(name, _)| *name).collect(),
        Has::Floats(renamed) => {
            let names = renamed.iter().map(|(name, _)| *name);
            names.chain(CONSTANTS).collect()
        }
    })
}

fn is_core(name: &str) -> bool {
    let plain = name == "/" || !name.contains(['/', '.']);
    plain && !NOT_CORE.contains(&name)
}
