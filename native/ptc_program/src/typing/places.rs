//! The places of a sample, and what was seen at each of them: the value itself, the items of a list, the values of a key.

use super::ty::{FieldTy, TyId, Types};
use crate::analysis::names::{ByNumber, NameId};
use ptc_term::heap::{Heap, Kind};
use ptc_term::value::{Form, Value};
use std::collections::HashMap;

/// Maximum number of keys at one place: maps with more are no records.
const MOST_KEYS: usize = 256;
/// Maximum length of a key in bytes: a map with a longer one is no record.
const LONGEST_KEY: usize = 1_024;
/// Of what is nested deeper nothing is known.
const DEEPEST: u16 = 1_000;
/// The next key is first looked for among so many of those that follow the last one.
const AHEAD: usize = 4;

/// What was seen at a place.
#[derive(Debug, Clone, Copy, PartialEq)]
struct KindBits(u16);

impl KindBits {
    const NULL: KindBits = KindBits(1);
    const BOOL: KindBits = KindBits(2);
    const INT: KindBits = KindBits(4);
    const NUMBER: KindBits = KindBits(8);
    const TEXT: KindBits = KindBits(16);
    const LIST: KindBits = KindBits(32);
    const OBJECT: KindBits = KindBits(64);
    /// Values of which nothing is known.
    const OTHER: KindBits = KindBits(128);
    /// Dates and times of Elixir.
    const MOMENT: KindBits = KindBits(256);

    const SCALARS: [(KindBits, TyId); 6] = [
        (KindBits::NULL, TyId::NULL),
        (KindBits::BOOL, TyId::BOOL),
        (KindBits::INT, TyId::INT),
        (KindBits::NUMBER, TyId::PLAIN),
        (KindBits::TEXT, TyId::TEXT),
        (KindBits::MOMENT, TyId::MOMENT),
    ];

    fn has(self, kind: KindBits) -> bool {
        self.0 & kind.0 != 0
    }
}

/// A place.
#[derive(Debug)]
struct SamplePlace {
    seen: KindBits,
    /// The value, if there was only one and it is noted; `UNKNOWN` if there were others.
    only: TyId,
    /// Whether the values stand for others that were not read: then objects may have other keys.
    cut: bool,
    /// Whether the maps are no records.
    loose: bool,
    depth: u16,
    /// The place that this one is inside of.
    around: u32,
    /// The place of the items of its lists; 0 if there is none.
    items: u32,
    objects: u32,
    keys: Vec<Key>,
}

/// A key of the objects at a place.
#[derive(Debug)]
struct Key {
    name: NameId,
    place: u32,
    /// How many objects have it, and which one was the last of them.
    count: u32,
    last: u32,
}

/// All places of a sample; the first one is that of the value itself, and each one precedes those inside it.
#[derive(Debug)]
pub(super) struct Places {
    all: Vec<SamplePlace>,
    /// The keys by place and name.
    index: HashMap<(u32, NameId), u32, ByNumber>,
    /// The types of the last places, the last one first.
    types: Vec<TyId>,
}

/// What there is to read of a value.
pub(super) enum Seen {
    /// Nothing.
    Whole,
    /// An object.
    Object,
    /// The items of a list, which have this place.
    Items(u32),
}

fn is_moment<H: Heap>(map: H::Term, heap: &H) -> bool {
    heap.form(map) == Form::Value && matches!(heap.value(map), Value::Iso(_))
}

impl Default for Places {
    fn default() -> Self {
        let mut places = Places {
            all: Vec::new(),
            index: HashMap::default(),
            types: Vec::new(),
        };
        places.add(0, 0);
        places
    }
}

impl Places {
    fn add(&mut self, around: u32, depth: u16) -> u32 {
        self.all.push(SamplePlace {
            seen: KindBits(0),
            only: TyId::NEVER,
            cut: false,
            loose: false,
            depth,
            around,
            items: 0,
            objects: 0,
            keys: Vec::new(),
        });
        self.all.len() as u32 - 1
    }

    fn at(&mut self, at: u32) -> &mut SamplePlace {
        &mut self.all[at as usize]
    }

    /// Returns the words that they take.
    pub fn words(&self) -> usize {
        self.all.len() * size_of::<SamplePlace>() / 8 + self.index.len() * 6 + self.types.len() / 2
    }

    /// Notes a value at a place.
    #[inline]
    pub fn note<H: Heap>(&mut self, value: H::Term, at: u32, heap: &H) -> Seen {
        let place = &mut self.all[at as usize];
        let (kind, seen) = match heap.kind(value) {
            Kind::Nil => (KindBits::NULL, Seen::Whole),
            Kind::Bool => (KindBits::BOOL, Seen::Whole),
            Kind::String => (KindBits::TEXT, Seen::Whole),
            Kind::Number if heap.float(value).is_some() => (KindBits::NUMBER, Seen::Whole),
            Kind::Number => (KindBits::INT, Seen::Whole),
            Kind::List if heap.is_empty_list(value) => (KindBits::LIST, Seen::Whole),
            Kind::List if place.depth < DEEPEST => (KindBits::LIST, Seen::Items(place.items)),
            Kind::Map if place.depth < DEEPEST && heap.form(value) == Form::Plain => {
                (KindBits::OBJECT, Seen::Object)
            }
            Kind::Map if is_moment(value, heap) => (KindBits::MOMENT, Seen::Whole),
            _ => (KindBits::OTHER, Seen::Whole),
        };
        place.seen = KindBits(place.seen.0 | kind.0);
        match seen {
            Seen::Items(0) => {
                let depth = place.depth + 1;
                let items = self.add(at, depth);
                self.at(at).items = items;
                Seen::Items(items)
            }
            seen => seen,
        }
    }

    /// Notes which value was seen at a place.
    pub fn is(&mut self, at: u32, value: TyId) {
        let place = self.at(at);
        match place.only {
            TyId::NEVER => place.only = value,
            only if only != value => place.only = TyId::UNKNOWN,
            _ => {}
        }
    }

    /// Notes that the values at a place stand for others.
    pub fn cut(&mut self, at: u32) {
        self.at(at).cut = true;
    }

    /// Notes that a list or an object was not read. `items`: the place is that of the items of the list.
    pub fn skip(&mut self, at: u32, items: bool) {
        let place = self.at(at);
        place.cut = true;
        match items {
            true if place.seen == KindBits(0) => place.seen = KindBits::OTHER,
            false if place.objects == 0 => place.loose = true,
            _ => {}
        }
    }

    /// Begins with an object of so many keys; returns whether they are read.
    pub fn begin_object(&mut self, at: u32, size: usize) -> bool {
        let place = self.at(at);
        place.objects += 1;
        place.loose |= size > MOST_KEYS;
        !place.loose
    }

    /// Notes that the maps at a place are no records.
    pub fn is_no_record(&mut self, at: u32) {
        self.at(at).loose = true;
    }

    /// Returns the place of the values of a key, and the key's length. `next` is where keys in the same order have it.
    #[inline]
    pub fn key<H: Heap>(
        &mut self,
        at: u32,
        next: &mut usize,
        key: H::Term,
        types: &mut Types,
        heap: &H,
    ) -> Option<(u32, usize)> {
        match heap.is_name(key) {
            true => heap.with_name(key, |name| self.named(at, next, name, types)),
            false if heap.byte_length(key)? > LONGEST_KEY => None,
            false => self.named(at, next, heap.bytes(key)?, types),
        }
    }

    fn named(
        &mut self,
        at: u32,
        next: &mut usize,
        name: &[u8],
        types: &mut Types,
    ) -> Option<(u32, usize)> {
        let place = &mut self.all[at as usize];
        let objects = place.objects;
        let mut ahead = place.keys.iter().skip(*next).take(AHEAD);
        let found = match ahead.position(|key| types.names.get(key.name) == name) {
            Some(further) => *next + further,
            None => self.search(at, types.names.id(name))?,
        };
        *next = found + 1;
        let key = &mut self.all[at as usize].keys[found];
        if key.last != objects {
            (key.last, key.count) = (objects, key.count + 1);
        }
        Some((key.place, name.len()))
    }

    /// Returns the number of a key, which is added if it is new.
    fn search(&mut self, at: u32, name: NameId) -> Option<usize> {
        if let Some(found) = self.index.get(&(at, name)) {
            return Some(*found as usize);
        }
        let count = self.at(at).keys.len();
        if count >= MOST_KEYS {
            return None;
        }
        let depth = self.at(at).depth + 1;
        let place = self.add(at, depth);
        self.at(at).keys.push(Key {
            name,
            place,
            count: 0,
            last: 0,
        });
        self.index.insert((at, name), count as u32);
        Some(count)
    }

    /// What is inside values that stand for others stands for others, too.
    pub fn spread_cuts(&mut self) {
        for at in 1..self.all.len() {
            self.all[at].cut |= self.all[self.all[at].around as usize].cut;
        }
    }

    fn ty(&self, at: u32) -> TyId {
        self.types[self.all.len() - 1 - at as usize]
    }

    /// Makes the type of the last place that has none; returns the type of the first place when it is made, and the fuel.
    pub fn make(&mut self, types: &mut Types) -> (Option<TyId>, usize) {
        let Some(at) = self.all.len().checked_sub(self.types.len() + 1) else {
            return (Some(self.ty(0)), 0);
        };
        let place = &self.all[at];
        let cost = 4 + 4 * place.keys.len();
        if place.seen.has(KindBits::OTHER) {
            self.types.push(TyId::UNKNOWN);
            return (None, cost);
        }
        let mut ty = match place.only {
            TyId::UNKNOWN => TyId::NEVER,
            only => only,
        };
        if ty == TyId::NEVER {
            for (_, scalar) in KindBits::SCALARS.iter().filter(|it| place.seen.has(it.0)) {
                ty = types.union(ty, *scalar);
            }
        }
        if place.seen.has(KindBits::LIST) {
            let item = match place.items {
                0 => TyId::NEVER,
                items => self.ty(items),
            };
            let list = types.list(item);
            ty = types.union(ty, list);
        }
        if place.seen.has(KindBits::OBJECT) {
            let object = match place.loose {
                true => TyId::OBJECT,
                false => {
                    let field = |key: &Key| FieldTy {
                        name: key.name,
                        ty: self.ty(key.place),
                        optional: key.count < place.objects,
                        from: 0,
                    };
                    let mut fields = place.keys.iter().map(field).collect();
                    types.object(&mut fields, place.cut)
                }
            };
            ty = types.union(ty, object);
        }
        self.types.push(ty);
        (None, cost)
    }
}
