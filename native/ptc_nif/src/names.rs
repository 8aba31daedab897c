//! `name_twin/3` and `name_twin_value/3`: find a key of a map that spells a name in another way;
//! `closest_name/2`: finds the name that was probably meant. Also reads and makes the keywords of PTC-Lisp.

use crate::atoms;
use crate::clock::nif;
use crate::heap::Beam;
use crate::raw::{Raw, TermKind, Terms};
use crate::schedule::{charge_for, is_too_long, nif_pair};
use crate::signature::with_atom_name;
use ptc_core::signature::names::KeyKind;
use ptc_core::signature::twin::twin;
use ptc_core::similar::{closest, BYTES_PER_LETTER, LETTERS_PER_LETTER};
use rustler::{Atom, Encoder, Env, NifResult, Term};

/// Elixir handles longer names: no atom has one (255 characters of four bytes).
const LONGEST_NAME: usize = 1020;

/// Pairs of letters that a slice compares, and that are compared in a microsecond.
const PAIRS: usize = 200_000;
const PAIRS_IN_A_MICROSECOND: usize = 500;

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

/// The value of the key of `map` that spells the name differently from `of` (`:string`, `:atom`,
/// `:keyword`). The name is an atom, or a binary of at most `LONGEST_NAME` bytes. Creates no atom.
fn other<'a>(env: Env<'a>, map: Raw<'a>, name: Raw<'a>, of: Atom) -> NifResult<Option<Raw<'a>>> {
    let of = match of {
        of if of == atoms::string() => KeyKind::String,
        of if of == atoms::atom() => KeyKind::Atom,
        _ => KeyKind::Keyword,
    };
    let (terms, mut heap) = (Terms { env }, Beam::new(env, 0));
    match terms.bytes(name) {
        Some(text) if text.len() <= LONGEST_NAME => Ok(twin(&mut heap, map, text, of)),
        None if terms.kind(name) == TermKind::Atom => Ok(with_atom_name(terms, name, |text| {
            twin(&mut heap, map, text, of)
        })),
        _ => Err(rustler::Error::BadArg),
    }
}

nif! {
    /// `{:ok, value}` or `:error`.
    fn name_twin<'a>(env, map: Term<'a>, name: Term<'a>, of: Atom) -> NifResult<Term<'a>> {
        Ok(match other(env, map.into(), name.into(), of)? {
            Some(value) => (atoms::ok(), value.term(env)).encode(env),
            None => atoms::error().encode(env),
        })
    }
}

nif! {
    /// The value, or `nil`.
    fn name_twin_value<'a>(env, map: Term<'a>, name: Term<'a>, of: Atom) -> NifResult<Term<'a>> {
        let found = other(env, map.into(), name.into(), of)?;
        Ok(found.map_or_else(|| atoms::nil().encode(env), |value| value.term(env)))
    }
}

nif_pair! {
    /// The name in a list that is most similar to an unknown one: `{:ok, name}`, `:error` if none is close, or
    /// `:busy`.
    fn closest_name, closest_name_dirty<'a>(env, pace, unknown: Term<'a>, names: Term<'a>) -> NifResult<Term<'a>> {
        let terms = Terms { env };
        let unknown = terms.bytes(unknown.into()).ok_or(rustler::Error::BadArg)?;
        let (mut known, mut rest) = (Vec::new(), Raw::from(names));
        while let Some((name, tail)) = terms.uncons(rest) {
            known.extend(terms.bytes(name).and_then(|name| std::str::from_utf8(name).ok()));
            rest = tail;
        }
        let longest = known.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        // A longer name is not compared.
        let compared = unknown.len().min(BYTES_PER_LETTER * LETTERS_PER_LETTER * longest);
        let pairs = compared * known.iter().map(|name| name.len()).sum::<usize>();
        if is_too_long(pace, pairs, PAIRS) {
            return Ok(atoms::busy().encode(env));
        }
        charge_for(env, pace, pairs, PAIRS_IN_A_MICROSECOND);
        Ok(match closest(unknown, known.into_iter(), longest) {
            Some(name) => (atoms::ok(), name).encode(env),
            None => atoms::error().encode(env),
        })
    }
}
