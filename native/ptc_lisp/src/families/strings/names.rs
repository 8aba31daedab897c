//! Names of keywords, and keywords of names.

use crate::code::{Eval, Machine};
use crate::exec::checks::failed;
use crate::table::Builtin;
use crate::values::{class, make_keyword, with_keyword_name, Class};
use ptc_term::heap::Heap;

/// Bytes of the longest name of a keyword that is made.
const LONGEST_NAME: usize = 65_535;

/// `name`: of a keyword, or a text itself.
pub(super) fn name<H: Heap>(m: &mut Machine<'_, H>, term: H::Term) -> Eval<H> {
    let name = match class(m, term) {
        Class::String => return Ok(term),
        Class::Keyword => with_keyword_name(m, term, <[u8]>::to_vec),
        _ => None,
    };
    match name {
        Some(name) => Ok(m.make_text(&name)?),
        None => Err(failed("no_name", Builtin::Name, &[term])),
    }
}

/// `keyword`: of a text; a keyword and nil stay.
pub(super) fn keyword<H: Heap>(m: &mut Machine<'_, H>, term: H::Term) -> Eval<H> {
    match class(m, term) {
        Class::Nil | Class::Keyword => return Ok(term),
        Class::String => {}
        _ => return Err(failed("no_keyword", Builtin::Keyword, &[term])),
    }
    let invalid = || failed("invalid_keyword", Builtin::Keyword, &[term]);
    if m.heap.byte_length(term) > Some(LONGEST_NAME) {
        return Err(invalid());
    }
    m.consume_fuel_to_copy(term)?;
    let length = m.heap.byte_length(term).unwrap_or(0);
    m.consume_fuel(1 + length / 8)?;
    let text = m.heap.bytes(term).unwrap_or_default();
    let name = match std::str::from_utf8(text) {
        Ok(name) if is_name(name) => name.to_owned(),
        _ => return Err(invalid()),
    };
    m.check_heap_limit(8 + name.len() / 8)?;
    Ok(make_keyword(m, &name))
}

/// Returns whether a text is the name of a keyword that a program may make.
fn is_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_?!".contains(&byte);
    name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.bytes().all(is_part)
}
