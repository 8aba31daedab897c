//! Values as compact JSON text, with the keys of maps in ascending order.

use super::value::put_value_text;
use super::*;
use ptc_json::{put_float, put_integer, put_string};
use ptc_kernels::KEY_OF_NEW;
use ptc_term::number::Number;
use ptc_term::value::Form;

/// Bytes of a string that are written per unit of fuel.
const BYTES_WRITTEN_A_UNIT: usize = 8;

/// A list or a map that has begun.
enum OpenJson<T> {
    List {
        rest: T,
        first: bool,
    },
    Map {
        entries: std::vec::IntoIter<(T, T)>,
        first: bool,
    },
}

/// Writes a list or a map; returns false if something in it has no JSON text.
pub(super) fn put_json<H: Heap>(
    machine: &mut Machine<'_, H>,
    root: H::Term,
    out: &mut Vec<u8>,
) -> Result<bool, Halt<H::Term>> {
    let mut open = Vec::new();
    if !put_value(machine, root, &mut open, out)? {
        return Ok(false);
    }
    while let Some(innermost) = open.last_mut() {
        machine.consume_fuel(2)?;
        let value = match innermost {
            OpenJson::List { rest, first } => match machine.heap.uncons(*rest) {
                Some((item, tail)) => {
                    if !std::mem::take(first) {
                        out.push(b',');
                    }
                    *rest = tail;
                    item
                }
                None if machine.heap.is_empty_list(*rest) => {
                    out.push(b']');
                    open.pop();
                    continue;
                }
                None => return Ok(false),
            },
            OpenJson::Map { entries, first } => match entries.next() {
                Some((key, value)) => {
                    if !std::mem::take(first) {
                        out.push(b',');
                    }
                    if !put_quoted(machine, key, out)? {
                        return Ok(false);
                    }
                    out.push(b':');
                    value
                }
                None => {
                    out.push(b'}');
                    open.pop();
                    continue;
                }
            },
        };
        if !put_value(machine, value, &mut open, out)? {
            return Ok(false);
        }
        machine.check_heap_limit(words_of_string(out.len()))?;
    }
    Ok(true)
}

/// Writes a value, or the start of one; returns false if it has no JSON text.
fn put_value<H: Heap>(
    machine: &mut Machine<'_, H>,
    value: H::Term,
    open: &mut Vec<OpenJson<H::Term>>,
    out: &mut Vec<u8>,
) -> Result<bool, Halt<H::Term>> {
    match machine.kind(value) {
        Kind::List => {
            out.push(b'[');
            open.push(OpenJson::List {
                rest: value,
                first: true,
            });
            Ok(true)
        }
        Kind::Map if machine.hides(value) && machine.heap.form(value) == Form::Unloaded => {
            out.extend_from_slice(b"null");
            Ok(true)
        }
        Kind::Map => {
            let Some(entries) = entries(machine, value)? else {
                return Ok(false);
            };
            out.push(b'{');
            open.push(OpenJson::Map {
                entries: entries.into_iter(),
                first: true,
            });
            Ok(true)
        }
        // A decimal is in quotes, too, as it is encoded: a number of JSON would be read as a float.
        Kind::Other if machine.is_value(value) => {
            out.push(b'"');
            let is_put = put_value_text(machine, value, out)?;
            out.push(b'"');
            Ok(is_put == Ok(true))
        }
        _ => match put_scalar(machine, value, out)? {
            Some(is_put) => Ok(is_put),
            None => put_quoted(machine, value, out),
        },
    }
}

/// Writes `nil`, a boolean or a number. Returns `None` for any other kind.
pub(super) fn put_scalar<H: Heap>(
    machine: &mut Machine<'_, H>,
    value: H::Term,
    out: &mut Vec<u8>,
) -> Result<Option<bool>, Halt<H::Term>> {
    match machine.kind(value) {
        Kind::Nil => out.extend_from_slice(b"null"),
        Kind::Bool if machine.heap.truthy(value) => out.extend_from_slice(b"true"),
        Kind::Bool => out.extend_from_slice(b"false"),
        Kind::Number => {
            // The digits of a long integer take a time that grows with the square of its length.
            let limbs = machine.heap.limbs(value);
            machine.consume_fuel_at_once(limbs.saturating_mul(limbs))?;
            match machine.number(value)? {
                Some(Number::Int(value)) => put_integer(out, value),
                Some(Number::Float(value)) => put_float(out, value),
                Some(Number::Big(value)) => out.extend_from_slice(value.to_string().as_bytes()),
                None => return Ok(Some(false)),
            }
        }
        _ => return Ok(None),
    }
    Ok(Some(true))
}

/// Writes a string in quotes; returns false for what is no string, or not UTF-8.
fn put_quoted<H: Heap>(
    machine: &mut Machine<'_, H>,
    term: H::Term,
    out: &mut Vec<u8>,
) -> Result<bool, Halt<H::Term>> {
    let Some(text) = string(machine, term)? else {
        return Ok(false);
    };
    let length = machine.heap.byte_length(text).unwrap_or(0);
    machine.consume_fuel_at_once(length / BYTES_WRITTEN_A_UNIT)?;
    machine.check_heap_limit(words_of_string(out.len() + length))?;
    let bytes = machine.heap.bytes(text).unwrap_or_default();
    Ok(put_string(out, bytes).is_ok())
}

type Entries<T> = Vec<(T, T)>;

/// Returns the entries of a map in ascending order of the keys; `None` if a key is no string.
fn entries<H: Heap>(
    machine: &mut Machine<'_, H>,
    map: H::Term,
) -> Result<Option<Entries<H::Term>>, Halt<H::Term>> {
    let size = machine.heap.map_size(map).unwrap_or(0);
    machine.consume_fuel_at_once(KEY_OF_NEW * size)?;
    let mut entries = machine.heap.entries(map);
    if machine.hides(map) {
        let heap = &*machine.heap;
        entries.retain(|(key, _)| !heap.is_hidden(*key));
    }
    // Of an atom and a string of one name the string counts, as where a key is read: it stands first.
    let takes_atoms = machine.takes_atoms();
    if takes_atoms {
        let heap = &*machine.heap;
        entries.sort_by_key(|(key, _)| heap.is_name(*key));
    }
    for (key, _) in &mut entries {
        let bytes = machine.heap.byte_length(*key).unwrap_or(0);
        machine.consume_fuel_at_once(bytes / BYTES_A_UNIT * (1 + size.ilog2() as usize))?;
        match key_text(machine, *key)? {
            Some(text) => *key = text,
            None => return Ok(None),
        }
    }
    let heap = &*machine.heap;
    entries.sort_by(|(a, _), (b, _)| heap.bytes(*a).cmp(&heap.bytes(*b)));
    if takes_atoms {
        entries.dedup_by(|(a, _), (b, _)| heap.bytes(*a) == heap.bytes(*b));
    }
    Ok(Some(entries))
}

/// Returns the text of a key: a string; or an atom, where atoms are keys.
fn key_text<H: Heap>(
    machine: &mut Machine<'_, H>,
    key: H::Term,
) -> Result<Option<H::Term>, Halt<H::Term>> {
    match machine.heap.is_name(key) && machine.takes_atoms() {
        true => Ok(Some(machine.string_of_name(key))),
        false => string(machine, key),
    }
}
