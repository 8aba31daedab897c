//! `name_twin/3` and `name_twin_value/3`: find a key of a map that spells a name in another way. Also reads
//! and makes the keywords of PTC-Lisp.

use crate::atoms;
use crate::clock::nif;
use crate::map_view::{view, MapView};
use crate::raw::{Raw, TermKind, Terms};
use crate::signature::{atom_is_named, existing_atom, with_atom_name};
use rustler::{Atom, Encoder, NifResult, Term};

/// Elixir handles longer names: no atom has one (255 characters of four bytes).
const LONGEST_NAME: usize = 1020;

/// The text of a keyword of PTC-Lisp, `%PtcRunner.Lisp.Keyword{name: text}`; `None` for every other
/// term.
pub fn keyword_text<'a>(terms: Terms<'a>, term: Raw<'a>) -> Option<&'a [u8]> {
    terms.bytes(keyword_name(terms, term)?)
}

/// The text of a keyword of PTC-Lisp, as a term.
#[inline]
pub fn keyword_name<'a>(terms: Terms<'a>, term: Raw<'a>) -> Option<Raw<'a>> {
    let atom = |atom: Atom| Raw::from(atom.encode(terms.env));
    let module = terms.map_get(term, atom(atoms::struct_()))?;
    if module.word() != atom(atoms::lisp_keyword()).word() {
        return None;
    }
    let name = terms.map_get(term, atom(atoms::name()))?;
    terms.is_binary(name).then_some(name)
}

/// Makes a keyword of PTC-Lisp.
pub fn make_keyword<'a>(terms: Terms<'a>, text: &[u8]) -> Option<Raw<'a>> {
    let atom = |atom: Atom| Raw::from(atom.encode(terms.env));
    let keys = [atom(atoms::struct_()), atom(atoms::name())];
    terms.make_map(
        &keys,
        &[atom(atoms::lisp_keyword()), terms.make_binary(text)],
    )
}

/// A spelling of a name, as the key of a map.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Text,
    Atom,
    /// `%PtcRunner.Lisp.Keyword{name: text}`
    Keyword,
    /// With underscores instead of hyphens.
    PlainText,
    PlainAtom,
}

use Spelling::{Keyword, PlainAtom, PlainText, Text};

/// The other spellings of a key of this kind, in the order of preference.
fn order(of: Atom) -> [Spelling; 4] {
    if of == atoms::string() {
        [Spelling::Atom, Keyword, PlainText, PlainAtom]
    } else if of == atoms::atom() {
        [Text, Keyword, PlainAtom, PlainText]
    } else {
        [Spelling::Atom, Text, PlainAtom, PlainText]
    }
}

/// A name to be found.
struct Name<'n> {
    text: &'n [u8],
    /// The text with underscores instead of hyphens, if it has any.
    plain: Option<Vec<u8>>,
    /// No spelling in `order` is a string.
    is_no_text: bool,
    order: [Spelling; 4],
}

impl<'n> Name<'n> {
    fn new(text: &'n [u8], of: Atom) -> Self {
        let underscore = |byte: &u8| if *byte == b'-' { b'_' } else { *byte };
        let plain = text.contains(&b'-');
        let order = order(of);
        Name {
            text,
            plain: plain.then(|| text.iter().map(underscore).collect()),
            is_no_text: !plain && !order.contains(&Text),
            order,
        }
    }

    /// The text of a spelling; `None` if the name has no such spelling.
    fn of(&self, spelling: Spelling) -> Option<&[u8]> {
        match spelling {
            Text | Spelling::Atom | Keyword => Some(self.text),
            PlainText | PlainAtom => self.plain.as_deref(),
        }
    }

    /// Which of two spellings a text is, if any.
    fn is(&self, text: &[u8], exact: Spelling, plain: Spelling) -> Option<Spelling> {
        match text {
            text if text == self.text => Some(exact),
            text if self.plain.as_deref() == Some(text) => Some(plain),
            _ => None,
        }
    }

    /// The spelling of a key, if it spells the name.
    #[inline]
    fn spelling<'a>(&self, terms: Terms<'a>, key: Raw<'a>) -> Option<Spelling> {
        match terms.kind(key) {
            TermKind::Binary if !self.is_no_text => self.is(terms.bytes(key)?, Text, PlainText),
            TermKind::Atom => self.spelling_of_atom(terms, key),
            TermKind::Map if terms.map_size(key) == Some(2) => {
                let text = keyword_text(terms, key)?;
                (text == self.text).then_some(Keyword)
            }
            _ => None,
        }
    }

    #[inline]
    fn spelling_of_atom<'a>(&self, terms: Terms<'a>, key: Raw<'a>) -> Option<Spelling> {
        // In ASCII there are as many characters as bytes, otherwise fewer. Both spellings have equal lengths.
        match terms.latin1_length(key) {
            Some(length) if length > self.text.len() => return None,
            Some(length) if length < self.text.len() && self.text.is_ascii() => return None,
            _ => {}
        }
        [Spelling::Atom, PlainAtom].into_iter().find(|spelling| {
            let text = self.of(*spelling);
            text.is_some_and(|text| atom_is_named(terms, key, text))
        })
    }

    /// The value of the small map's key whose spelling comes first in `order`.
    fn among_few<'a>(
        &self,
        terms: Terms<'a>,
        entries: impl Iterator<Item = (Raw<'a>, Raw<'a>)>,
    ) -> Option<Raw<'a>> {
        let mut best = self.order.len();
        let mut found = None;
        for (key, value) in entries {
            if let Some(spelling) = self.spelling(terms, key) {
                let mut better = self.order[..best].iter();
                if let Some(place) = better.position(|wanted| *wanted == spelling) {
                    (best, found) = (place, Some(value));
                    if best == 0 {
                        break;
                    }
                }
            }
        }
        found
    }

    /// The same for a large map, by a lookup of each spelling.
    fn among_many<'a>(&self, terms: Terms<'a>, map: Raw<'a>) -> Option<Raw<'a>> {
        self.order.into_iter().find_map(|spelling| {
            let text = self.of(spelling)?;
            let key = match spelling {
                Text | PlainText => terms.make_binary(text),
                Spelling::Atom | PlainAtom => existing_atom(terms, text)?,
                Keyword => make_keyword(terms, text)?,
            };
            terms.map_get(map, key)
        })
    }
}

/// The value of the key of `map` that spells the name differently from `of` (`:string`, `:atom`,
/// `:keyword`). The name is an atom, or a binary of at most `LONGEST_NAME` bytes. Creates no atom.
fn twin<'a>(terms: Terms<'a>, map: Raw<'a>, name: Raw<'a>, of: Atom) -> NifResult<Option<Raw<'a>>> {
    let find = |text: &[u8]| {
        let name = Name::new(text, of);
        match view(terms, map) {
            MapView::Flat(flat) => {
                let (keys, values) = (flat.keys.iter(), flat.values.iter());
                name.among_few(terms, keys.copied().zip(values.copied()))
            }
            MapView::Large => name.among_many(terms, map),
            MapView::NotAMap => None,
        }
    };
    match terms.bytes(name) {
        Some(text) if text.len() <= LONGEST_NAME => Ok(find(text)),
        None if terms.kind(name) == TermKind::Atom => Ok(with_atom_name(terms, name, find)),
        _ => Err(rustler::Error::BadArg),
    }
}

nif! {
    /// `{:ok, value}` or `:error`.
    fn name_twin<'a>(env, map: Term<'a>, name: Term<'a>, of: Atom) -> NifResult<Term<'a>> {
        let terms = Terms { env };
        Ok(match twin(terms, map.into(), name.into(), of)? {
            Some(value) => {
                let ok = Raw::from(atoms::ok().encode(env));
                terms.make_tuple(&[ok, value]).term(env)
            }
            None => atoms::error().encode(env),
        })
    }
}

nif! {
    /// The value, or `nil`.
    fn name_twin_value<'a>(env, map: Term<'a>, name: Term<'a>, of: Atom) -> NifResult<Term<'a>> {
        let found = twin(Terms { env }, map.into(), name.into(), of)?;
        Ok(found.map_or_else(|| atoms::nil().encode(env), |value| value.term(env)))
    }
}
