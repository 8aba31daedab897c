//! JSON values along a type: which kinds of them a type takes, and which field a key names.

use super::{Field, Fields, Scalar, Type, TypeId, Types};
use ptc_term::names::{is_keyword_name, rank, KeyKind, Matching};
use std::sync::Arc;

/// The kind of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Json {
    /// A string.
    String,
    /// A number without fraction and exponent.
    Integer,
    /// Any other number.
    Float,
    /// `true` or `false`.
    Bool,
    /// `null`
    Null,
    /// An object.
    Object,
    /// A list.
    Array,
}

impl Json {
    /// The kind of a number.
    pub fn number(integer: bool) -> Self {
        match integer {
            true => Json::Integer,
            false => Json::Float,
        }
    }
}

impl Type {
    /// Returns whether the type, which is not optional, takes JSON values of this kind. Of strings, keywords take
    /// only names.
    pub fn takes(self, json: Json) -> bool {
        match self {
            Type::Scalar(Scalar::Any) | Type::Unknown(_) | Type::Where(..) => true,
            Type::OneOf(_) | Type::Ref(_) | Type::Defs(..) => true,
            Type::Scalar(Scalar::String | Scalar::DateTime | Scalar::Date) => json == Json::String,
            Type::Scalar(Scalar::Int) => json == Json::Integer,
            Type::Scalar(Scalar::Float | Scalar::Number) => {
                matches!(json, Json::Integer | Json::Float)
            }
            Type::Scalar(Scalar::Decimal) => {
                matches!(json, Json::String | Json::Integer | Json::Float)
            }
            Type::Scalar(Scalar::Bool) => json == Json::Bool,
            Type::Scalar(Scalar::Keyword) => {
                matches!(json, Json::String | Json::Bool | Json::Null)
            }
            Type::Scalar(Scalar::Map) | Type::Map { .. } | Type::MapOf(_) => json == Json::Object,
            Type::List(_) => json == Json::Array,
            Type::Optional(_) => json == Json::Null,
        }
    }
}

impl Types {
    /// Any value: a type that is in no table.
    pub const ANY: TypeId = TypeId(u32::MAX);

    /// Returns a type without its rules and the optional types around it, and whether there is one of these.
    #[inline]
    pub fn required(&self, id: TypeId) -> (Type, bool) {
        let (mut id, mut optional) = (id, false);
        loop {
            match self.all().get(id.index()) {
                Some(Type::Optional(inner)) => (id, optional) = (*inner, true),
                Some(Type::Where(of, _) | Type::Defs(of, _)) => id = *of,
                Some(Type::Ref(name)) => id = self.defined(*name),
                Some(of) => return (*of, optional),
                None => return (Type::Scalar(Scalar::Any), optional),
            }
        }
    }

    /// Calls `visit` with the number of each list of rules around a type, outermost first.
    pub fn each_rules(&self, id: TypeId, mut visit: impl FnMut(u32)) {
        let mut id = id;
        loop {
            match self.all().get(id.index()) {
                Some(Type::Where(of, rules)) => {
                    visit(*rules);
                    id = *of;
                }
                Some(Type::Optional(inner) | Type::Defs(inner, _)) => id = *inner,
                Some(Type::Ref(name)) => id = self.defined(*name),
                _ => return,
            }
        }
    }

    /// Returns whether JSON values of this kind are of a type.
    #[inline]
    pub fn takes(&self, id: TypeId, json: Json) -> bool {
        let (of, optional) = self.required(id);
        of.takes(json)
            || optional && json == Json::Null
            || json == Json::Float && of.takes(Json::Integer) && self.is_whole(id)
    }

    /// Returns whether a float without fraction is of this type of integers.
    pub fn is_whole(&self, mut id: TypeId) -> bool {
        loop {
            id = match self.all().get(id.index()) {
                Some(Type::Where(_, rules)) if self.constraints(*rules).whole => return true,
                Some(Type::Where(of, _) | Type::Optional(of) | Type::Defs(of, _)) => *of,
                Some(Type::Ref(name)) => self.defined(*name),
                _ => return false,
            }
        }
    }

    /// Returns whether a string with this content is of a type.
    pub fn takes_string(&self, id: TypeId, content: &[u8]) -> bool {
        match self.required(id).0 {
            Type::Scalar(Scalar::Keyword) => is_keyword_name(content),
            of => of.takes(Json::String),
        }
    }

    /// Returns whether any value is of a type.
    pub fn is_any(&self, id: TypeId) -> bool {
        let of = self.required(id).0;
        matches!(
            of,
            Type::Scalar(Scalar::Any) | Type::Unknown(_) | Type::OneOf(_)
        )
    }

    /// Returns the fields of a map type, and whether other keys are refused.
    #[inline]
    pub fn map(&self, id: TypeId) -> Option<(Fields, bool)> {
        match self.required(id).0 {
            Type::Map { fields, closed } => Some((fields, closed)),
            _ => None,
        }
    }

    /// Returns the type that decides about the parts of an object or a list: the map type itself, or the type of
    /// the elements. `None` if the type takes no such value.
    #[inline]
    pub fn inside(&self, id: TypeId, object: bool) -> Option<TypeId> {
        match (self.required(id).0, object) {
            (Type::Map { .. } | Type::MapOf(_), true) => Some(id),
            (Type::List(holds), false) => Some(holds),
            (of, true) => of.takes(Json::Object).then_some(Types::ANY),
            (of, false) => of.takes(Json::Array).then_some(Types::ANY),
        }
    }

    /// Returns the type of the values of an object that has no declared fields.
    pub fn of_any_key(&self, id: TypeId) -> TypeId {
        match self.required(id).0 {
            Type::MapOf(holds) => holds,
            _ => Types::ANY,
        }
    }

    /// Returns whether the field may be missing.
    pub fn is_optional(&self, field: usize) -> bool {
        matches!(self.get(self.holds(field)), Type::Optional(_))
            || self.has_defaults() && self.default_of(field).is_some()
    }

    /// Returns the field that a key names: `hint`, the probable one, if it has exactly this name, or else the first.
    pub fn named(&self, fields: Fields, key: &[u8], hint: usize) -> Option<usize> {
        if fields.range().contains(&hint) && self.field(hint).name == key {
            return Some(hint);
        }
        let mut first = None;
        self.each_named(fields, key, |index| {
            first = Some(first.map_or(index, |first: usize| first.min(index)));
        });
        first
    }

    /// Calls `visit` with each field that a key names.
    pub fn each_named(&self, fields: Fields, key: &[u8], mut visit: impl FnMut(usize)) {
        self.each_candidate(fields, key, |index, field| {
            if rank(field.name, key, KeyKind::String, Matching::Lenient).is_some() {
                visit(index);
            }
        });
    }

    /// Returns the only field of which a key is another spelling: `userId` of `user_id`.
    pub fn spelled(&self, fields: Fields, key: &[u8]) -> Option<usize> {
        match self.spelled_alike(fields, key)[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Returns whether a map type has a field of exactly this name.
    pub fn has_name(&self, fields: Fields, name: &[u8]) -> bool {
        let mut has = false;
        self.each_candidate(fields, name, |_, field| has |= field.name == name);
        has
    }

    /// Returns whether an object has the fields of its type that it must have (`all`: all of them), or fields that
    /// the same keys name. `seen` has a bit for each of the first 64 fields; others count as found.
    pub fn is_complete(&self, fields: Fields, seen: u64, all: bool) -> bool {
        fields.range().take(64).all(|index| {
            seen & fields.bit(index) != 0
                || !all && self.is_optional(index)
                || self.has_earlier_double(fields, index)
        })
    }
}

/// The type of an answer.
#[derive(Debug, Clone)]
pub struct AnswerType {
    types: Arc<Types>,
    root: TypeId,
    wrapper: Option<TypeId>,
}

impl AnswerType {
    /// Any value.
    pub fn anything() -> Self {
        AnswerType {
            types: Arc::default(),
            root: Types::ANY,
            wrapper: None,
        }
    }

    /// The type at `root`; `list`: it is a list, which may be under the key `items` in an object.
    pub fn new(mut types: Types, root: TypeId, list: bool) -> Self {
        let items = Field {
            name: b"items",
            holds: root,
        };
        let wrapper = list.then(|| {
            let (fields, closed) = (types.add_fields(std::iter::once(items)), false);
            types.add(Type::Map { fields, closed })
        });
        AnswerType {
            types: Arc::new(types),
            root,
            wrapper,
        }
    }

    /// Returns the table of types.
    pub fn types(&self) -> &Types {
        &self.types
    }

    /// Returns the type of the value itself.
    pub fn root(&self) -> TypeId {
        self.root
    }

    /// Returns the type of an object that wraps the value, if that is allowed.
    pub fn wrapper(&self) -> Option<TypeId> {
        self.wrapper
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A map type with these fields and `more` others, which make it large.
    fn map(names: &[&str], more: usize) -> (Types, Fields) {
        let mut types = Types::new();
        let string = types.add(Type::Scalar(Scalar::String));
        let optional = types.add(Type::Optional(string));
        let others = (0..more).map(|n| format!("other{n}?"));
        let names: Vec<String> = names.iter().map(|n| n.to_string()).chain(others).collect();
        let fields = types.add_fields(names.iter().map(|name| Field {
            name: name.trim_end_matches('?').as_bytes(),
            holds: if name.ends_with('?') {
                optional
            } else {
                string
            },
        }));
        let closed = false;
        types.add(Type::Map { fields, closed });
        (types, fields)
    }

    #[test]
    fn keys_find_fields_in_small_and_in_large_types() {
        for more in [0, 100] {
            let (types, fields) = map(&["user_id", "user-id", "rowCount", "a_b", "aB"], more);
            let named = |key: &str, hint| types.named(fields, key.as_bytes(), hint);
            assert_eq!(named("user-id", 0), Some(0), "{more}");
            assert_eq!(named("user-id", 1), Some(1), "{more}");
            assert_eq!(named("a-b", 0), Some(3), "{more}");
            assert_eq!(named("userId", 0), None, "{more}");
            let spelled = |key: &str| types.spelled(fields, key.as_bytes());
            assert_eq!(spelled("Row count"), Some(2), "{more}");
            assert_eq!(spelled("A_B"), None, "two fields, {more}");
            assert_eq!(spelled("nothing"), None, "{more}");
            assert!(types.has_name(fields, b"user-id") && !types.has_name(fields, b"a-b"));
            let mut both = Vec::new();
            types.each_named(fields, b"user_id", |field| both.push(field));
            both.sort_unstable();
            assert_eq!(both, [0, 1], "{more}");
        }
    }

    #[test]
    fn an_object_is_complete_without_optional_fields_and_doubles() {
        for more in [0, 40] {
            let (types, fields) = map(&["a_b", "a-b", "c?"], more);
            assert!(!types.is_complete(fields, 0, false), "{more}");
            assert!(types.is_complete(fields, 0b1, false), "{more}");
            assert!(!types.is_complete(fields, 0b1, true), "{more}");
            assert_eq!(types.is_complete(fields, 0b101, true), more == 0);
        }
    }

    #[test]
    fn any_is_in_no_table() {
        let (types, _) = map(&[], 0);
        let optional = TypeId(1);
        assert!(types.is_any(Types::ANY) && types.takes(Types::ANY, Json::Array));
        assert_eq!(types.inside(Types::ANY, false), Some(Types::ANY));
        assert_eq!(types.inside(optional, true), None);
        assert!(types.takes(optional, Json::Null) && types.takes(optional, Json::String));
        assert!(!types.takes(optional, Json::Integer));
    }
}
