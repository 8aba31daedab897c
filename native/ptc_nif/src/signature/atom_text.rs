//! Finds atoms by name and reads their names. The NIF interface of OTP 25 knows Latin-1 names only; other
//! names go through the external term format, which creates no atom either.

use crate::raw::{Raw, Terms};
use ptc_term::names::{ATOM_BYTES, ATOM_CHARACTERS};
use rustler::types::atom::Atom;
use rustler::Encoder;

/// `ATOM_UTF8_EXT` and `SMALL_ATOM_UTF8_EXT` of the external term format, after its version.
const VERSION: u8 = 131;
const ATOM: u8 = 118;
const SMALL_ATOM: u8 = 119;

/// The atom with this name, if it exists already.
pub fn existing<'a>(terms: Terms<'a>, name: &[u8]) -> Option<Raw<'a>> {
    // Skip names that are certainly too long.
    if name.len() > ATOM_BYTES {
        return None;
    }
    if name.is_ascii() {
        return existing_latin1(terms, name);
    }
    let text = std::str::from_utf8(name).ok()?;
    if text.chars().count() > ATOM_CHARACTERS {
        return None;
    }
    let latin1: Result<Vec<u8>, _> = text.chars().map(u8::try_from).collect();
    if let Ok(latin1) = latin1 {
        return existing_latin1(terms, &latin1);
    }
    let mut encoded = vec![VERSION, ATOM];
    encoded.extend_from_slice(&(name.len() as u16).to_be_bytes());
    encoded.extend_from_slice(name);
    let (term, _) = terms.env.binary_to_term(&encoded)?;
    Some(term.into())
}

fn existing_latin1<'a>(terms: Terms<'a>, name: &[u8]) -> Option<Raw<'a>> {
    let atom = Atom::existing_from_bytes(terms.env, name).ok()?;
    Some(atom.encode(terms.env).into())
}

/// Calls `show` with the name of an atom, in UTF-8.
pub fn with_name<'a, T>(terms: Terms<'a>, atom: Raw<'a>, show: impl FnOnce(&[u8]) -> T) -> T {
    let mut buffer = [0; 256];
    match terms.latin1_name(atom, &mut buffer) {
        Some(length) if buffer[..length].is_ascii() => show(&buffer[..length]),
        Some(length) => {
            let name: String = buffer[..length]
                .iter()
                .map(|byte| char::from(*byte))
                .collect();
            show(name.as_bytes())
        }
        None => {
            let encoded = atom.term(terms.env).to_binary();
            show(match encoded.as_slice() {
                [VERSION, ATOM, _, _, name @ ..] | [VERSION, SMALL_ATOM, _, name @ ..] => name,
                _ => &[],
            })
        }
    }
}

/// Whether the atom has this name.
pub fn is_named<'a>(terms: Terms<'a>, atom: Raw<'a>, name: &[u8]) -> bool {
    let mut buffer = [0; 256];
    match terms.latin1_name(atom, &mut buffer) {
        Some(length) if name.is_ascii() => buffer[..length] == *name,
        _ => with_name(terms, atom, |text| text == name),
    }
}
