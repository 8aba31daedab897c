//! The table of types of a signature. Parts of a type precede it, so tables are built, read and walked
//! without recursion, however deep a type nests.

use super::constraint::Constraints;
use super::doubles;
pub use super::entry::{Field, Fields, Type, TypeId, Union};
use super::index::NameIndex;
pub use super::scalar::Scalar;
use ptc_term::names::{is_alike, is_firewalled, squeezed, underscored};
use std::sync::{Arc, OnceLock};

/// A map type is large if it has more fields than this, or more bytes of names.
const FEW_FIELDS: u32 = 16;
const FEW_BYTES: usize = 1_024;

/// A field in a table: the place of its name among all names.
#[derive(Debug, Clone, Copy)]
struct Stored {
    start: usize,
    length: usize,
    holds: TypeId,
}

/// A table of types. It owns the names of its fields, so that a suspended walk can keep it.
#[derive(Debug, Clone, Default)]
pub struct Types {
    types: Vec<Type>,
    fields: Vec<Stored>,
    names: Vec<u8>,
    index: OnceLock<Box<NameIndex>>,
    spellings: OnceLock<Box<NameIndex>>,
    /// Some small map type has two fields that one key may name.
    doubled: bool,
    /// Some field is firewalled.
    firewalled: bool,
    /// What only some types have.
    extras: Option<Box<Extras>>,
}

/// What only some types have: rules, structs, unions and names. It is apart, so that other types are moved quickly.
#[derive(Debug, Clone, Default)]
struct Extras {
    /// The rules of types, which are shared when the table is copied.
    constraints: Vec<Arc<Constraints>>,
    /// Some field that is missing has a default.
    defaults: bool,
    /// Coercion puts in defaults, or makes structs.
    makes: bool,
    /// The map types that are structs, each with the number of its module among the rules.
    structs: Vec<(TypeId, u32)>,
    /// Some map has any keys.
    maps_of: bool,
    /// The types of unions.
    unions: Vec<Union>,
    /// The types of names, and the numbers of the names among the rules.
    defined: Vec<(TypeId, u32)>,
    /// The names that are defined together.
    groups: Vec<std::ops::Range<u32>>,
}

impl Types {
    /// Creates an empty table with capacity for a small signature.
    pub fn new() -> Self {
        Types {
            types: Vec::with_capacity(16),
            fields: Vec::with_capacity(16),
            names: Vec::with_capacity(128),
            ..Types::default()
        }
    }

    /// Adds a type whose parts were already added.
    pub fn add(&mut self, of: Type) -> TypeId {
        self.types.push(of);
        TypeId(self.types.len() as u32 - 1)
    }

    fn extras(&self) -> &Extras {
        static NONE: OnceLock<Extras> = OnceLock::new();
        match &self.extras {
            Some(extras) => extras,
            None => NONE.get_or_init(Extras::default),
        }
    }

    fn extras_mut(&mut self) -> &mut Extras {
        self.extras.get_or_insert_default()
    }

    /// Adds the rules of a type that was already added.
    pub fn add_where(&mut self, of: TypeId, rules: Constraints) -> TypeId {
        let extras = self.extras_mut();
        extras.defaults |= rules.default;
        extras.makes |= rules.default;
        self.extras_mut().constraints.push(Arc::new(rules));
        self.add(Type::Where(of, self.extras().constraints.len() as u32 - 1))
    }

    /// Notes that a map type is a struct. Its module has the next number of rules.
    pub fn add_struct(&mut self, id: TypeId) {
        self.extras_mut().makes = true;
        self.extras_mut().constraints.push(Arc::default());
        let number = self.extras().constraints.len() as u32 - 1;
        self.extras_mut().structs.push((id, number));
    }

    /// Adds a union. The list of its types has the next number of rules.
    pub fn add_union(&mut self, types: Vec<TypeId>, discriminator: Option<Box<[u8]>>) -> TypeId {
        self.extras_mut().constraints.push(Arc::default());
        let rules = self.extras().constraints.len() as u32 - 1;
        self.extras_mut().unions.push(Union {
            types,
            discriminator,
            rules,
        });
        self.add(Type::OneOf(self.extras().unions.len() as u32 - 1))
    }

    /// Returns a union by its number.
    pub fn union(&self, number: u32) -> &Union {
        &self.extras().unions[number as usize]
    }

    /// Adds names whose types are not known yet, and returns the first one. They have the next numbers of rules.
    pub fn add_names(&mut self, count: u32) -> u32 {
        let first = self.extras().defined.len() as u32;
        for _ in 0..count {
            let rules = self.extras().constraints.len() as u32;
            self.extras_mut().constraints.push(Arc::default());
            self.extras_mut().defined.push((Types::ANY, rules));
        }
        first
    }

    /// Sets the type of a name.
    pub fn define(&mut self, name: u32, of: TypeId) {
        self.extras_mut().defined[name as usize].0 = of;
    }

    /// Returns the type of a name.
    pub fn defined(&self, name: u32) -> TypeId {
        self.extras().defined[name as usize].0
    }

    /// Returns the number of a name among the rules.
    pub fn name_of(&self, name: u32) -> u32 {
        self.extras().defined[name as usize].1
    }

    /// Adds a type around which these names are defined.
    pub fn add_defs(&mut self, of: TypeId, names: std::ops::Range<u32>) -> TypeId {
        self.extras_mut().groups.push(names);
        self.add(Type::Defs(of, self.extras().groups.len() as u32 - 1))
    }

    /// Returns the names that are defined together.
    pub fn group(&self, number: u32) -> std::ops::Range<u32> {
        self.extras().groups[number as usize].clone()
    }

    /// Returns the number of a type's rules; an optional type may be around them.
    pub fn rules_of(&self, id: TypeId) -> Option<u32> {
        match self.get(id) {
            Type::Where(_, rules) => Some(rules),
            Type::Optional(inner) => match self.get(inner) {
                Type::Where(_, rules) => Some(rules),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns a type's rules; an optional type may be around them.
    pub fn rules_at(&self, id: TypeId) -> Option<&Constraints> {
        let rules = self.types.get(id.index()).and_then(|_| self.rules_of(id));
        rules.map(|rules| self.constraints(rules))
    }

    /// Returns whether some type has a name.
    pub fn has_names(&self) -> bool {
        self.extras.is_some() && !self.extras().defined.is_empty()
    }

    /// Returns whether each name stands for a type with which a value goes on: no name stands for itself, alone or as one of
    /// several types.
    pub fn are_names_good(&self) -> bool {
        // 0: not visited, 1: on the path, 2: good.
        let mut seen = vec![0_u8; self.types.len()];
        for (start, _) in &self.extras().defined {
            if seen.get(start.index()) == Some(&2) {
                continue;
            }
            let mut path = vec![(*start, 0)];
            while let Some((id, next)) = path.last_mut() {
                let Some(of) = self.types.get(id.index()) else {
                    return false;
                };
                let part = match *of {
                    Type::Optional(inner) | Type::Where(inner, _) | Type::Defs(inner, _) => {
                        (*next == 0).then_some(inner)
                    }
                    Type::Ref(name) => (*next == 0).then_some(self.defined(name)),
                    Type::OneOf(number) => self.union(number).types.get(*next).copied(),
                    _ => None,
                };
                *next += 1;
                seen[id.index()] = 1;
                match part {
                    None => {
                        seen[id.index()] = 2;
                        path.pop();
                    }
                    Some(part) => match seen.get(part.index()) {
                        Some(0) => path.push((part, 0)),
                        Some(2) => {}
                        _ => return false,
                    },
                }
            }
        }
        true
    }

    /// Returns whether some type is one of those that only some signatures have: with rules, a struct, a union, a name or a
    /// map from any keys.
    #[inline]
    pub fn has_rare(&self) -> bool {
        self.extras.is_some()
    }

    /// Returns whether coercion puts in defaults, or makes structs.
    #[inline]
    pub fn makes(&self) -> bool {
        self.extras.is_some() && self.extras().makes
    }

    /// Returns whether some map type is a struct.
    #[inline]
    pub fn has_structs(&self) -> bool {
        self.extras.is_some() && !self.extras().structs.is_empty()
    }

    /// Returns the number of the module of a map type that is a struct.
    pub fn module(&self, id: TypeId) -> Option<u32> {
        let place = self
            .extras()
            .structs
            .binary_search_by_key(&id.0, |(id, _)| id.0);
        place.ok().map(|place| self.extras().structs[place].1)
    }

    /// Adds a map from texts to values.
    pub fn add_map_of(&mut self, holds: TypeId) -> TypeId {
        self.extras_mut().maps_of = true;
        self.add(Type::MapOf(holds))
    }

    /// Returns whether some map has any keys.
    #[inline]
    pub fn has_maps_of(&self) -> bool {
        self.extras.is_some() && self.extras().maps_of
    }

    /// Returns rules by their number.
    #[inline]
    pub fn constraints(&self, number: u32) -> &Constraints {
        &self.extras().constraints[number as usize]
    }

    /// Returns whether a type has no parts.
    #[inline]
    pub fn is_scalar(&self, id: TypeId) -> bool {
        matches!(self.get(id), Type::Scalar(_))
    }

    /// Returns whether some type has rules.
    pub fn has_rules(&self) -> bool {
        self.extras.is_some() && !self.extras().constraints.is_empty()
    }

    /// Returns whether coercion changes values by rules, or to structs.
    pub fn has_conversions(&self) -> bool {
        let converts = |rules: &Arc<Constraints>| rules.converts() || rules.default;
        let is_made = |of: &Type| {
            matches!(
                of,
                Type::Scalar(Scalar::DateTime | Scalar::Date | Scalar::Decimal)
            )
        };
        self.has_structs()
            || self.extras().constraints.iter().any(converts)
            || self.types.iter().any(is_made)
    }

    /// Returns whether some field that is missing may have a default.
    #[inline]
    pub fn has_defaults(&self) -> bool {
        self.extras.is_some() && self.extras().defaults
    }

    /// Returns the number of the rules that have the default of a field.
    pub fn default_of(&self, field: usize) -> Option<u32> {
        let mut id = self.holds(field);
        loop {
            match self.get(id) {
                Type::Optional(inner) => id = inner,
                Type::Where(_, number) if self.constraints(number).default => return Some(number),
                _ => return None,
            }
        }
    }

    /// Adds consecutive fields.
    pub fn add_fields<'t>(&mut self, fields: impl Iterator<Item = Field<'t>>) -> Fields {
        let start = self.fields.len();
        let (mut seen, mut may_be_doubled, mut firewalled) = (0, false, false);
        self.fields.extend(fields.map(|Field { name, holds }| {
            firewalled |= is_firewalled(name);
            let bit = doubles::bit(name);
            may_be_doubled |= seen & bit != 0;
            seen |= bit;
            let (start, length) = (self.names.len(), name.len());
            self.names.extend_from_slice(name);
            Stored {
                start,
                length,
                holds,
            }
        }));
        let fields = Fields {
            start: start as u32,
            count: (self.fields.len() - start) as u32,
        };
        self.firewalled |= firewalled;
        if may_be_doubled && !self.is_large(fields) {
            self.doubled |= doubles::any(self, fields);
        }
        fields
    }

    /// Returns whether some map type has two fields that one key may name. A large map type counts only
    /// after a key was looked up in it, and may count by mistake.
    pub fn has_doubles(&self) -> bool {
        self.doubled || self.index.get().is_some_and(|index| index.has_doubles())
    }

    /// Returns whether a key without hyphens names a field only if it is its name: no name has a hyphen. And of no value it depends on
    /// its keys which fields it has: no type is a union.
    pub fn has_plain_names(&self) -> bool {
        let has_unions = self.extras.is_some() && !self.extras().unions.is_empty();
        !has_unions && !self.names.contains(&b'-')
    }

    /// Returns whether some field is firewalled.
    #[inline]
    pub fn has_firewalled(&self) -> bool {
        self.firewalled
    }

    /// Returns a type.
    #[inline]
    pub fn get(&self, id: TypeId) -> Type {
        self.types[id.index()]
    }

    /// Returns the type of a field's value.
    #[inline]
    pub fn holds(&self, index: usize) -> TypeId {
        self.fields[index].holds
    }

    /// Returns a field.
    #[inline]
    pub fn field(&self, index: usize) -> Field<'_> {
        self.of_stored(&self.fields[index])
    }

    #[inline]
    fn of_stored(&self, field: &Stored) -> Field<'_> {
        Field {
            name: &self.names[field.start..][..field.length],
            holds: field.holds,
        }
    }

    /// Returns the fields of a map, or the parameters.
    #[inline]
    pub fn fields(&self, fields: Fields) -> impl ExactSizeIterator<Item = Field<'_>> {
        fields.range().map(|index| self.field(index))
    }

    /// Calls `visit` with each field that a key may name: in a small map type with those whose names have
    /// its length, in a large one with those whose names differ at most in hyphens and underscores.
    #[inline]
    pub fn each_candidate(
        &self,
        fields: Fields,
        key: &[u8],
        mut visit: impl FnMut(usize, Field<'_>),
    ) {
        if self.is_large(fields) {
            let visit = |index| visit(index, self.field(index));
            return self.indexed(fields, key).into_iter().for_each(visit);
        }
        for (index, field) in fields.range().zip(&self.fields[fields.range()]) {
            if field.length == key.len() {
                visit(index, self.of_stored(field));
            }
        }
    }

    #[cold]
    fn indexed(&self, fields: Fields, key: &[u8]) -> Vec<usize> {
        let index = || NameIndex::new(self, |fields| self.is_large(fields), underscored);
        let names = self.index.get_or_init(|| Box::new(index()));
        names.fields(fields, key).collect()
    }

    /// Returns at most two fields whose names are spelled alike, apart from case, blanks, hyphens and underscores.
    pub(super) fn spelled_alike(&self, fields: Fields, key: &[u8]) -> Vec<usize> {
        let form = |name: &[u8]| squeezed(name).collect();
        let index = || NameIndex::new(self, |fields| self.is_large(fields), form);
        let is = |index: &usize| squeezed(self.field(*index).name).eq(squeezed(key));
        match self.is_large(fields) {
            true => {
                let names = self.spellings.get_or_init(|| Box::new(index()));
                names.fields(fields, key).filter(is).take(2).collect()
            }
            false => fields.range().filter(is).take(2).collect(),
        }
    }

    /// Returns whether one key may name two fields of a map type; it may by mistake.
    pub fn may_double(&self, fields: Fields) -> bool {
        match self.is_large(fields) {
            true => self.index.get().is_none_or(|index| index.has_doubles()),
            false => self.doubled,
        }
    }

    /// Returns whether an earlier field has the same name, apart from hyphens and underscores.
    pub fn has_earlier_double(&self, fields: Fields, index: usize) -> bool {
        let (name, mut has) = (self.field(index).name, false);
        if self.may_double(fields) {
            self.each_candidate(fields, name, |other, field| {
                has |= other < index && is_alike(field.name, name);
            });
        }
        has
    }

    #[inline]
    fn is_large(&self, fields: Fields) -> bool {
        let bytes = match &self.fields[fields.range()] {
            [first, .., last] => last.start + last.length - first.start,
            [only] => only.length,
            [] => 0,
        };
        fields.count > FEW_FIELDS || bytes > FEW_BYTES
    }

    /// Returns all types, parts first.
    pub fn all(&self) -> &[Type] {
        &self.types
    }

    /// Returns the number of fields of all maps and parameters.
    pub fn field_count(&self) -> usize {
        self.fields.len()
    }
}

/// A signature: parameters and the return type.
#[derive(Debug, Clone)]
pub struct Signature {
    /// All types in it.
    pub types: Types,
    /// The parameters.
    pub params: Fields,
    /// The return type.
    pub returns: TypeId,
}
