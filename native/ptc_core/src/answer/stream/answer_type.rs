//! The types of an answer, without a lifetime.

use crate::signature::names::{rank, KeyKind, Matching};
use crate::signature::{Fields, Scalar, Type, TypeId, Types};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// What is asked of an answer.
#[derive(Debug, Clone)]
pub struct AnswerType {
    table: Arc<Table>,
    root: TypeId,
    list: bool,
}

#[derive(Debug)]
struct Table {
    types: Vec<Type>,
    fields: Vec<Field>,
    /// Of maps with many fields, by their first one: the groups by what their names have in common.
    groups: HashMap<u32, HashMap<Vec<u8>, usize>>,
}

/// With more fields than this, looking at each for a key takes too long.
const FEW: usize = 16;

#[derive(Debug)]
struct Field {
    name: Box<[u8]>,
    /// No other key fits better than the name itself.
    plain: bool,
    holds: TypeId,
    /// The first field of the same map that may be meant by the same key.
    group: usize,
}

/// How a key fits a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// No other key fits better.
    Best,
    /// Another key may come that counts instead.
    Other,
}

impl AnswerType {
    /// The answer is of the type at `root`; `list`: which is one of a list, that may be wrapped.
    pub fn new(types: &Types, root: TypeId, list: bool) -> Self {
        let field = |index: usize| {
            let field = types.field(index);
            Field {
                name: field.name.into(),
                plain: !field.name.contains(&b'-'),
                holds: field.holds,
                group: index,
            }
        };
        let mut fields: Vec<_> = (0..types.field_count()).map(field).collect();
        let mut groups = HashMap::new();
        for of in types.all() {
            if let Type::Map { fields: range, .. } = of {
                let of_map = group(&mut fields, range.range());
                if range.range().len() > FEW {
                    groups.insert(range.start, of_map);
                }
            }
        }
        AnswerType {
            table: Arc::new(Table {
                types: types.all().to_vec(),
                fields,
                groups,
            }),
            root,
            list,
        }
    }

    pub(super) fn root(&self) -> TypeId {
        self.root
    }

    /// The answer is a list, or an object with one under `items`; else it is an object.
    pub(super) fn is_list(&self) -> bool {
        self.list
    }

    /// The type without the optional types around it, and whether `null` is as good.
    pub(super) fn required(&self, id: TypeId) -> (Type, bool) {
        let (mut of, mut nullable) = (self.table.types[id.index()], false);
        while let Type::Optional(inner) = of {
            (of, nullable) = (self.table.types[inner.index()], true);
        }
        (of, nullable)
    }

    pub(super) fn is_optional(&self, field: usize) -> bool {
        matches!(
            self.table.types[self.holds(field).index()],
            Type::Optional(_)
        )
    }

    pub(super) fn name(&self, field: usize) -> &[u8] {
        &self.table.fields[field].name
    }

    pub(super) fn holds(&self, field: usize) -> TypeId {
        self.table.fields[field].holds
    }

    pub(super) fn group(&self, field: usize) -> usize {
        self.table.fields[field].group
    }

    /// The first field that `key` may stand for; `hint`, the one it probably is, is tried first.
    pub(super) fn field(&self, fields: Fields, key: &[u8], hint: usize) -> Option<(usize, Fit)> {
        let fit =
            |field: usize| match rank(self.name(field), key, KeyKind::String, Matching::Lenient)? {
                0 | 1 => Some((field, Fit::Best)),
                _ => Some((field, Fit::Other)),
            };
        if fields.range().contains(&hint) {
            let field = &self.table.fields[hint];
            if field.plain && *field.name == *key {
                return Some((hint, Fit::Best));
            }
        }
        if fields.range().len() <= FEW {
            return fields.range().find_map(fit);
        }
        let group = self.table.groups.get(&fields.start)?;
        let field = *group.get(underscored(key).as_ref())?;
        // Another field of the group may be meant, if it is not the first one.
        fit(field).or(Some((field, Fit::Other)))
    }

    /// Types that no value is compared with here.
    pub(super) fn is_free(of: Type) -> bool {
        matches!(of, Type::Unknown(_) | Type::Scalar(Scalar::Any))
    }
}

/// Finds out which fields of a map may be meant by the same key.
fn group(fields: &mut [Field], range: std::ops::Range<usize>) -> HashMap<Vec<u8>, usize> {
    let mut first: HashMap<Vec<u8>, usize> = HashMap::new();
    for index in range {
        let name = underscored(&fields[index].name).into_owned();
        fields[index].group = *first.entry(name).or_insert(index);
    }
    first
}

/// What all keys have in common that may mean the same field.
fn underscored(name: &[u8]) -> Cow<'_, [u8]> {
    let swap = |byte: &u8| if *byte == b'-' { b'_' } else { *byte };
    match name.contains(&b'-') {
        true => Cow::Owned(name.iter().map(swap).collect()),
        false => Cow::Borrowed(name),
    }
}
