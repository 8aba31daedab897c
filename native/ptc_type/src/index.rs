//! Finds the fields of large map types by name.

use super::{Fields, Type, Types};
use std::collections::hash_map::RandomState;
use std::collections::HashMap;
use std::hash::BuildHasher;

/// The end of a chain.
const NONE: u32 = u32::MAX;

/// The fields of all large map types by the hashes of a form of their names, equal for all names that mean the
/// same. Hashes are keyed, so no signature can choose names with equal ones.
#[derive(Debug, Clone)]
pub(super) struct NameIndex {
    form: fn(&[u8]) -> Vec<u8>,
    state: RandomState,
    /// By hash: the last field with it.
    last: HashMap<u64, u32>,
    /// By field: an earlier field with the same hash, or `NONE`.
    earlier: Vec<u32>,
    /// Some map type has two fields with the same hash.
    doubled: bool,
}

impl NameIndex {
    /// Indexes all fields of the map types that `is_large` selects.
    pub fn new(
        types: &Types,
        is_large: impl Fn(Fields) -> bool,
        form: fn(&[u8]) -> Vec<u8>,
    ) -> Self {
        let mut index = NameIndex {
            form,
            state: RandomState::new(),
            last: HashMap::new(),
            earlier: vec![NONE; types.field_count()],
            doubled: false,
        };
        for of in types.all() {
            match *of {
                Type::Map { fields, .. } if is_large(fields) => index.add(types, fields),
                _ => {}
            }
        }
        index
    }

    fn add(&mut self, types: &Types, fields: Fields) {
        self.last.reserve(fields.count as usize);
        for field in fields.range() {
            let hash = self.hash(fields, types.field(field).name);
            if let Some(earlier) = self.last.insert(hash, field as u32) {
                self.earlier[field] = earlier;
                self.doubled = true;
            }
        }
    }

    /// Returns whether some map type has two fields that one key may name; rarely by mistake.
    pub fn has_doubles(&self) -> bool {
        self.doubled
    }

    /// Returns the fields of a map type whose names have the same hash as the key, the last one first.
    pub fn fields(&self, fields: Fields, key: &[u8]) -> impl Iterator<Item = usize> + '_ {
        let last = self.last.get(&self.hash(fields, key)).copied();
        let earlier = |field: &u32| {
            let earlier = self.earlier[*field as usize];
            (earlier != NONE).then_some(earlier)
        };
        std::iter::successors(last, earlier).map(|field| field as usize)
    }

    fn hash(&self, fields: Fields, name: &[u8]) -> u64 {
        self.state.hash_one((fields.start, (self.form)(name)))
    }
}
