//! Finds the key of a map that spells a name in another way: as an atom, a string or a keyword of
//! PTC-Lisp, with hyphens or with underscores.

use super::values::{Class, Values};
use ptc_term::heap::Lookup;
use ptc_term::names::{underscored, KeyKind};
use KeyKind::{Atom, Keyword, String};

/// A kind of key, and whether it has underscores instead of hyphens.
type Spelling = (KeyKind, bool);

/// Returns the other spellings of a key of this kind, in the order of preference.
fn order(of: KeyKind) -> [Spelling; 4] {
    match of {
        String => [
            (Atom, false),
            (Keyword, false),
            (String, true),
            (Atom, true),
        ],
        Atom => [
            (String, false),
            (Keyword, false),
            (Atom, true),
            (String, true),
        ],
        Keyword => [(Atom, false), (String, false), (Atom, true), (String, true)],
    }
}

/// Returns the value of the key of `map` that spells the name of a key of the kind `of` in another way.
/// Creates no atom.
pub fn twin<H: Values>(heap: &mut H, map: H::Term, name: &[u8], of: KeyKind) -> Option<H::Term> {
    let plain = name.contains(&b'-').then(|| underscored(name));
    let order = order(of);
    let spelled = |underscores| match underscores {
        false => Some(name),
        // A name without hyphens has no other spelling with underscores.
        true => plain.as_deref(),
    };
    let Some((keys, values)) = heap.flat(map) else {
        return order.into_iter().find_map(|(kind, underscores)| {
            let key = heap.make_key(kind, spelled(underscores)?)?;
            match heap.lookup(map, key, &mut H::KeyCache::default()) {
                Lookup::Found(value) => Some(value),
                Lookup::Missing | Lookup::NotAMap => None,
            }
        });
    };
    let (mut best, mut found) = (order.len(), None);
    for (key, value) in keys.iter().zip(values) {
        let kind = match heap.class(*key) {
            Class::Atom => Atom,
            Class::Bitstring => String,
            Class::Map => Keyword,
            _ => continue,
        };
        let is = |text: &[u8]| match kind {
            Atom => heap.atom_is(*key, text),
            String => heap.bytes(*key) == Some(text),
            Keyword => {
                let name = heap.keyword_name(*key);
                name.is_some_and(|name| heap.bytes(name) == Some(text))
            }
        };
        let mut better = order[..best].iter();
        let place = better.position(|(other, underscores)| {
            *other == kind && spelled(*underscores).is_some_and(is)
        });
        if let Some(place) = place {
            (best, found) = (place, Some(*value));
        }
    }
    found
}
