//! `name_twin/3` and `name_twin_value/3`: find a key of a map that spells a name in another way. Also reads
//! and makes the keywords of PTC-Lisp.

use crate::atoms;
use crate::clock::nif;
use crate::heap::Beam;
use crate::raw::{Raw, TermKind, Terms};
use crate::signature::with_atom_name;
use ptc_term::names::{KeyKind, ATOM_BYTES};
use ptc_type::twin::twin;
use rustler::{Atom, Encoder, Env, NifResult, Term};

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
/// `:keyword`). The name is an atom, or a binary of at most `ATOM_BYTES` bytes. Creates no atom.
fn other<'a>(env: Env<'a>, map: Raw<'a>, name: Raw<'a>, of: Atom) -> NifResult<Option<Raw<'a>>> {
    let of = match of {
        of if of == atoms::string() => KeyKind::String,
        of if of == atoms::atom() => KeyKind::Atom,
        _ => KeyKind::Keyword,
    };
    let (terms, mut heap) = (Terms { env }, Beam::new(env, 0));
    match terms.bytes(name) {
        Some(text) if text.len() <= ATOM_BYTES => Ok(twin(&mut heap, map, text, of)),
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
