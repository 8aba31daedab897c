//! The types of a streamed answer, without a lifetime.

use crate::signature::names::{rank, KeyKind, Matching};
use crate::signature::{Fields, Scalar, Type, TypeId, Types};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// The expected type of an answer.
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
    /// The groups of fields with equal normalised names, for maps with many fields, by their first
    /// field.
    groups: HashMap<u32, HashMap<Vec<u8>, usize>>,
}

/// Maximum number of fields that are compared with a key one by one.
const FEW: usize = 16;

#[derive(Debug)]
struct Field {
    name: Box<[u8]>,
    /// No other key fits better than the name itself.
    plain: bool,
    holds: TypeId,
    /// The first field of the same map that the same key can name.
    group: usize,
}

/// How a key fits a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// No other key fits better.
    Best,
    /// A later key may take precedence.
    Other,
}

impl AnswerType {
    /// The answer has the type at `root`; `list`: this type is a list, which may be wrapped in an
    /// object.
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

    /// Returns whether the answer is a list, or an object with one under `items`; otherwise it is an
    /// object.
    pub(super) fn is_list(&self) -> bool {
        self.list
    }

    /// Returns the type without the optional types around it, and whether `null` is valid.
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

    /// Returns the first field that `key` can name; tries `hint`, the probable one, first.
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
        // The key may name another field of the group.
        fit(field).or(Some((field, Fit::Other)))
    }

    /// Returns whether values of this type are not checked here.
    pub(super) fn is_free(of: Type) -> bool {
        matches!(of, Type::Unknown(_) | Type::Scalar(Scalar::Any))
    }
}

/// Groups the fields of a map that the same key can name.
fn group(fields: &mut [Field], range: std::ops::Range<usize>) -> HashMap<Vec<u8>, usize> {
    let mut first: HashMap<Vec<u8>, usize> = HashMap::new();
    for index in range {
        let name = underscored(&fields[index].name).into_owned();
        fields[index].group = *first.entry(name).or_insert(index);
    }
    first
}

/// Returns the normalised name: equal for all keys that can name the same field.
fn underscored(name: &[u8]) -> Cow<'_, [u8]> {
    let swap = |byte: &u8| if *byte == b'-' { b'_' } else { *byte };
    match name.contains(&b'-') {
        true => Cow::Owned(name.iter().map(swap).collect()),
        false => Cow::Borrowed(name),
    }
}
