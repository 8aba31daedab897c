//! Types of values: of samples, and of constants that the program's table does not contain.
//!
//! The values at one place are read together: the rows of a list, and what they have at a key. So keys that some rows do not
//! have are optional, and values of several kinds become a union. Nothing recurses over the values.

use super::names::NameId;
use super::read::name_of;
use super::ty::{FieldTy, TyId, Types};
use ptc_term::heap::{Heap, Kind};
use ptc_term::value::Form;
use std::collections::HashMap;

/// How much of a value is read.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Maximum number of items of a list.
    pub rows: usize,
    /// Maximum number of values; of others nothing is known.
    pub values: usize,
}

/// The values at one place, and what is known of them so far.
struct Place<T> {
    maps: Vec<T>,
    /// The keys of the maps, each with its values.
    keys: Vec<(NameId, Vec<T>)>,
    fields: Vec<FieldTy>,
    lists: Vec<T>,
    state: Awaited,
    ty: TyId,
    /// Whether the values stand for others that were not read: then maps may have other keys.
    cut: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Awaited {
    Lists,
    Keys,
    Done,
}

/// Returns the type of a value.
pub fn infer<H: Heap>(value: H::Term, types: &mut Types, heap: &H, budget: &mut Budget) -> TyId {
    let rows = budget.rows;
    let mut open = vec![place(&[value], false, types, heap, budget)];
    let mut done = TyId::UNKNOWN;
    let mut has_value = false;
    while let Some(place_now) = open.last_mut() {
        if std::mem::take(&mut has_value) {
            match place_now.state {
                Awaited::Lists => {
                    place_now.state = Awaited::Keys;
                    let list = types.list(done);
                    place_now.ty = types.union(place_now.ty, list);
                }
                _ => {
                    if let Some((name, values)) = place_now.keys.pop() {
                        let optional = values.len() < place_now.maps.len();
                        place_now.fields.push(FieldTy {
                            name,
                            ty: done,
                            optional,
                            from: 0,
                        });
                    }
                }
            }
        }
        if place_now.state == Awaited::Lists {
            if place_now.lists.is_empty() {
                place_now.state = Awaited::Keys;
            } else {
                let (items, cut) = items(&place_now.lists, rows, heap);
                let mut next = match items.len() < MOST_ITEMS {
                    true => place(&items, cut || place_now.cut, types, heap, budget),
                    false => place(&[], true, types, heap, budget),
                };
                if items.len() >= MOST_ITEMS {
                    next.ty = TyId::UNKNOWN;
                }
                open.push(next);
                continue;
            }
        }
        if let Some((_, values)) = place_now.keys.last() {
            let next = place(values, place_now.cut, types, heap, budget);
            open.push(next);
            continue;
        }
        if !place_now.maps.is_empty() && place_now.state != Awaited::Done {
            let mut fields = std::mem::take(&mut place_now.fields);
            let object = types.object(&mut fields, place_now.cut);
            place_now.ty = types.union(place_now.ty, object);
        }
        done = place_now.ty;
        has_value = true;
        open.pop();
    }
    done
}

/// Returns the items of lists, at most so many of each, and whether a list has more. Of [`MOST_ITEMS`] items not all lists
/// were read.
fn items<H: Heap>(lists: &[H::Term], rows: usize, heap: &H) -> (Vec<H::Term>, bool) {
    let (mut items, mut cut) = (Vec::new(), false);
    for list in lists {
        let (mut rest, mut count) = (*list, 0);
        while let Some((item, next)) = heap.uncons(rest).filter(|_| count < rows) {
            items.push(item);
            rest = next;
            count += 1;
            if items.len() >= MOST_ITEMS {
                return (items, true);
            }
        }
        cut |= heap.uncons(rest).is_some();
    }
    (items, cut)
}

/// Maximum number of items at one place; of more nothing is known.
const MOST_ITEMS: usize = 200_000;
/// Maximum number of keys at one place: maps with more are not records.
const MOST_KEYS: usize = 256;

fn place<H: Heap>(
    values: &[H::Term],
    cut: bool,
    types: &mut Types,
    heap: &H,
    budget: &mut Budget,
) -> Place<H::Term> {
    let mut place = Place {
        maps: Vec::new(),
        keys: Vec::new(),
        fields: Vec::new(),
        lists: Vec::new(),
        state: Awaited::Lists,
        ty: TyId::NEVER,
        cut,
    };
    let mut keys: HashMap<NameId, usize> = HashMap::new();
    let mut is_record = true;
    for value in values {
        if budget.values == 0 {
            place.ty = TyId::UNKNOWN;
            break;
        }
        budget.values -= 1;
        let ty = match heap.kind(*value) {
            Kind::Nil => TyId::NULL,
            Kind::Bool => TyId::BOOL,
            Kind::String => TyId::TEXT,
            Kind::Number if heap.float(*value).is_some() => TyId::NUMBER,
            Kind::Number => TyId::INT,
            Kind::List => {
                place.lists.push(*value);
                continue;
            }
            Kind::Map if heap.form(*value) == Form::Plain => {
                place.maps.push(*value);
                let size = heap.map_size(*value).unwrap_or(0);
                is_record &= size <= MOST_KEYS;
                if !is_record {
                    continue;
                }
                for (key, value) in heap.entries(*value) {
                    let Some(name) = name_of(key, types, heap) else {
                        is_record = false;
                        break;
                    };
                    let at = *keys.entry(name).or_insert_with(|| {
                        place.keys.push((name, Vec::new()));
                        place.keys.len() - 1
                    });
                    place.keys[at].1.push(value);
                }
                is_record &= place.keys.len() <= MOST_KEYS;
                continue;
            }
            _ => TyId::UNKNOWN,
        };
        place.ty = types.union(place.ty, ty);
    }
    if !is_record {
        place.keys.clear();
        place.maps.clear();
        place.ty = types.union(place.ty, TyId::OBJECT);
    }
    if place.ty == TyId::UNKNOWN {
        place.keys.clear();
        place.maps.clear();
        place.lists.clear();
    }
    place
}
