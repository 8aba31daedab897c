//! Equal types have one number.

use super::ty::{Kinds, Span, Ty, TyId, Types, COMMON, MOST_TYPES};
use crate::analysis::names::{Hash, Index, Names};
use std::sync::OnceLock;

/// The types of [`TyId`]'s constants, and their index.
type CommonTypes = (Vec<(Ty, Kinds)>, Index);

/// Returns them; they are made once.
fn common() -> &'static CommonTypes {
    static COMMON_TYPES: OnceLock<CommonTypes> = OnceLock::new();
    COMMON_TYPES.get_or_init(|| {
        let mut types = Types {
            types: Vec::new(),
            fields: Vec::new(),
            members: Vec::new(),
            index: Index::default(),
            nullable: [TyId::NEVER; COMMON],
            names: Names::default(),
        };
        let common = [
            Ty::Unknown,
            Ty::Never,
            Ty::Null,
            Ty::Bool,
            Ty::Int,
            Ty::Number,
            Ty::Text,
            Ty::Moment,
            Ty::Keyword,
            Ty::BoolOf(true),
            Ty::BoolOf(false),
            Ty::List(TyId::UNKNOWN),
            Ty::Object(Span::default(), true),
            Ty::NoInput,
            Ty::List(TyId::NEVER),
            Ty::List(TyId::TEXT),
            Ty::Float,
            Ty::Whole,
            Ty::Plain,
        ];
        for ty in common {
            types.intern(ty);
        }
        (types.types, types.index)
    })
}

impl Types {
    /// Forgets all types but the common ones, and all names; keeps the memory.
    pub(super) fn clear(&mut self) {
        let (types, index) = common();
        self.types.clone_from(types);
        self.index.copy(index);
        self.fields.clear();
        self.members.clear();
        self.nullable = [TyId::NEVER; COMMON];
        self.names.clear();
    }

    pub(super) fn intern(&mut self, ty: Ty) -> TyId {
        let hash = self.hash(ty);
        let found = self
            .index
            .find(hash, |at| self.is(self.types[at as usize].0, ty));
        if let Some(at) = found {
            return TyId(at);
        }
        if self.types.len() >= MOST_TYPES {
            return TyId::UNKNOWN;
        }
        let id = self.types.len() as u32;
        let kinds = self.kinds_of(ty);
        self.types.push((ty, kinds));
        self.index.add(hash, id);
        TyId(id)
    }

    fn is(&self, known: Ty, ty: Ty) -> bool {
        match (known, ty) {
            (Ty::Object(a, open), Ty::Object(b, other)) => {
                open == other && self.fields(a) == self.fields(b)
            }
            (Ty::Union(a), Ty::Union(b)) => self.members[a.range()] == self.members[b.range()],
            _ => known == ty,
        }
    }

    fn hash(&self, ty: Ty) -> u64 {
        let mut hash = Hash::begin();
        let (tag, number) = match ty {
            Ty::Unknown => (0, 0),
            Ty::Never => (1, 0),
            Ty::NoInput => (2, 0),
            Ty::Null => (3, 0),
            Ty::Bool => (4, 0),
            Ty::Int => (5, 0),
            Ty::Number => (6, 0),
            Ty::Float => (17, 0),
            Ty::Whole => (18, 0),
            Ty::Plain => (19, 0),
            Ty::Text => (7, 0),
            Ty::Moment => (8, 0),
            Ty::Keyword => (9, 0),
            Ty::BoolOf(value) => (10, u64::from(value)),
            Ty::IntOf(value) => (11, value as u64),
            Ty::FloatOf(bits) => (12, bits),
            Ty::TextOf(name) => (13, u64::from(name.0)),
            Ty::List(item) => (14, u64::from(item.0)),
            Ty::Object(span, open) => {
                // They are in the order of their names.
                hash.add_all(self.fields(span).iter().map(|field| {
                    let from = u64::from(field.from) << 1 | u64::from(field.optional);
                    (u64::from(field.name.0) << 32 | u64::from(field.ty.0), from)
                }));
                (15, u64::from(open))
            }
            Ty::Union(span) => {
                for member in &self.members[span.range()] {
                    hash.add(u64::from(member.0));
                }
                (16, 0)
            }
        };
        hash.finish_with((number, tag))
    }

    fn kinds_of(&self, ty: Ty) -> Kinds {
        match ty {
            Ty::Unknown => Kinds::ALL,
            Ty::Never | Ty::NoInput => Kinds::NONE,
            Ty::Null => Kinds::NULL,
            Ty::Bool | Ty::BoolOf(_) => Kinds::BOOL,
            Ty::Int | Ty::Number | Ty::Plain | Ty::Float | Ty::Whole => Kinds::NUMBER,
            Ty::IntOf(_) | Ty::FloatOf(_) => Kinds::NUMBER,
            Ty::Text | Ty::TextOf(_) => Kinds::TEXT,
            Ty::Moment => Kinds::TEXT.or(Kinds::OBJECT).or(Kinds::OTHER),
            // An atom, or the text of one.
            Ty::Keyword => Kinds::TEXT.or(Kinds::OTHER),
            Ty::List(_) => Kinds::LIST,
            Ty::Object(..) => Kinds::OBJECT,
            Ty::Union(span) => self.members[span.range()]
                .iter()
                .fold(Kinds::NONE, |kinds, member| kinds.or(self.kinds(*member))),
        }
    }
}
