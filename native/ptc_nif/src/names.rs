//! `name_twin/3`: a name in its other spellings among the keys of a map.

use crate::atoms;
use crate::raw::{Raw, Terms};
use crate::signature::{atom_is_named, existing_atom};
use rustler::sys::ErlNifTermType::*;
use rustler::{Atom, Binary, Encoder, Env, Term};

/// A longer name is looked for in Elixir: it is no atom's (255 characters of four bytes).
const LONGEST_NAME: usize = 1020;
/// A map of more entries is a tree: asked for each spelling, not read entry by entry.
const FEW: usize = 32;

/// A spelling of a name, as the key of a map.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Text,
    Atom,
    /// `%PtcRunner.Lisp.Keyword{name: text}`
    Keyword,
    /// With underscores for hyphens.
    PlainText,
    PlainAtom,
}

use Spelling::{Keyword, PlainAtom, PlainText, Text};

/// What is looked for when a key of this kind was not found itself, in order.
fn order(of: Atom) -> [Spelling; 4] {
    if of == atoms::string() {
        [Spelling::Atom, Keyword, PlainText, PlainAtom]
    } else if of == atoms::atom() {
        [Text, Keyword, PlainAtom, PlainText]
    } else {
        [Spelling::Atom, Text, PlainAtom, PlainText]
    }
}

/// A name that is looked for.
struct Name<'n> {
    text: &'n [u8],
    /// The text with underscores for hyphens, if it has any.
    plain: Option<Vec<u8>>,
}

impl<'n> Name<'n> {
    fn new(text: &'n [u8]) -> Self {
        let underscore = |byte: &u8| if *byte == b'-' { b'_' } else { *byte };
        let plain = text.contains(&b'-');
        Name {
            text,
            plain: plain.then(|| text.iter().map(underscore).collect()),
        }
    }

    /// The text of a spelling, if there is such a spelling.
    fn of(&self, spelling: Spelling) -> Option<&[u8]> {
        match spelling {
            Text | Spelling::Atom | Keyword => Some(self.text),
            PlainText | PlainAtom => self.plain.as_deref(),
        }
    }
}

/// The atoms of a keyword of PTC-Lisp.
struct KeywordAtoms<'a> {
    struct_key: Raw<'a>,
    name_key: Raw<'a>,
    module: Raw<'a>,
}

impl<'a> KeywordAtoms<'a> {
    fn new(env: Env<'a>) -> Self {
        let raw = |atom: Atom| Raw::from(atom.encode(env));
        KeywordAtoms {
            struct_key: raw(atoms::struct_()),
            name_key: raw(atoms::name()),
            module: raw(atoms::lisp_keyword()),
        }
    }

    fn make(&self, terms: Terms<'a>, text: &[u8]) -> Option<Raw<'a>> {
        let name = terms.make_binary(text);
        terms.make_map(&[self.struct_key, self.name_key], &[self.module, name])
    }
}

/// How a key spells the name, if it does.
fn spelling<'a>(terms: Terms<'a>, key: Raw<'a>, name: &Name) -> Option<Spelling> {
    let plain_or = |found: &[u8], exact, plain| match found {
        found if found == name.text => Some(exact),
        found if name.plain.as_deref() == Some(found) => Some(plain),
        _ => None,
    };
    match terms.kind(key) {
        ERL_NIF_TERM_TYPE_BITSTRING => plain_or(terms.bytes(key)?, Text, PlainText),
        ERL_NIF_TERM_TYPE_ATOM => [Spelling::Atom, PlainAtom].into_iter().find(|spelling| {
            name.of(*spelling)
                .is_some_and(|text| atom_is_named(terms, key, text))
        }),
        ERL_NIF_TERM_TYPE_MAP if terms.map_size(key) == Some(2) => {
            let atoms = KeywordAtoms::new(terms.env);
            let module = terms.map_get(key, atoms.struct_key)?;
            let text = terms.bytes(terms.map_get(key, atoms.name_key)?)?;
            (terms.identical(module, atoms.module) && text == name.text).then_some(Keyword)
        }
        _ => None,
    }
}

/// The value of a small map's key that spells the name, the first in order.
fn among_few<'a>(
    terms: Terms<'a>,
    map: Raw<'a>,
    name: &Name,
    order: [Spelling; 4],
) -> Option<Raw<'a>> {
    let mut found = [None; 4];
    terms.each_entry(map, |key, value| {
        let spelling = spelling(terms, key, name);
        let place = order.iter().position(|wanted| Some(*wanted) == spelling);
        if let Some(place) = place {
            found[place] = Some(value);
        }
    });
    found.into_iter().flatten().next()
}

/// The same for a large map.
fn among_many<'a>(
    terms: Terms<'a>,
    map: Raw<'a>,
    name: &Name,
    order: [Spelling; 4],
) -> Option<Raw<'a>> {
    order.into_iter().find_map(|spelling| {
        let text = name.of(spelling)?;
        let key = match spelling {
            Text | PlainText => terms.make_binary(text),
            Spelling::Atom | PlainAtom => existing_atom(terms, text)?,
            Keyword => KeywordAtoms::new(terms.env).make(terms, text)?,
        };
        terms.map_get(map, key)
    })
}

/// `{:ok, value}` of the key of `map` that spells the name otherwise than `of` (`:string`, `:atom`,
/// `:keyword`) does, `:error` if there is none, `:too_long` for a name that is looked for in Elixir.
/// Makes no atom and raises nothing.
#[rustler::nif]
fn name_twin<'a>(env: Env<'a>, map: Term<'a>, name: Binary<'a>, of: Atom) -> Term<'a> {
    let _clock = crate::clock::start("name_twin");
    if name.len() > LONGEST_NAME {
        return atoms::too_long().encode(env);
    }
    let (terms, map, name) = (Terms { env }, Raw::from(map), Name::new(name.as_slice()));
    let found = match terms.map_size(map) {
        Some(0..=FEW) => among_few(terms, map, &name, order(of)),
        Some(_) => among_many(terms, map, &name, order(of)),
        None => None,
    };
    match found {
        Some(value) => (atoms::ok(), value.term(env)).encode(env),
        None => atoms::error().encode(env),
    }
}
