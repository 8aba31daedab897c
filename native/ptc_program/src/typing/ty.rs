//! Types: one flat table in which equal types have one number, so that nothing recurses over them.

use crate::analysis::names::{Index, NameId, Names};

/// The number of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TyId(pub u32);

macro_rules! common {
    ($($(#[$doc:meta])* $name:ident = $number:literal;)+) => {
        impl Default for TyId {
    /// The type without values.
    fn default() -> Self {
        TyId::NEVER
    }
}

impl TyId { $($(#[$doc])* pub const $name: TyId = TyId($number);)+ }
    };
}

common! {
    /// Nothing is known: every use is right.
    UNKNOWN = 0;
    /// No value has this type.
    NEVER = 1;
    /// `null`
    NULL = 2;
    /// `true` or `false`
    BOOL = 3;
    /// An integer.
    INT = 4;
    /// A number; where structs are values, it may be a decimal.
    NUMBER = 5;
    /// A text.
    TEXT = 6;
    /// A date or a time: a text, or a struct of Elixir.
    MOMENT = 7;
    /// A name: a text, an atom, or a struct of Elixir.
    KEYWORD = 8;
    /// `true`
    TRUE = 9;
    /// `false`
    FALSE = 10;
    /// A list of anything.
    LIST = 11;
    /// An object with any fields.
    OBJECT = 12;
    /// The current value where there is none.
    NO_INPUT = 13;
    /// A list without items.
    EMPTY_LIST = 14;
    /// A list of texts.
    TEXTS = 15;
    /// A float, and no decimal.
    FLOAT = 16;
    /// An integer, or a float without a fraction, which becomes one.
    WHOLE = 17;
    /// An integer or a float, and no decimal.
    PLAIN = 18;
}

/// Number of the types above.
pub(super) const COMMON: usize = 19;

/// A type. Parts precede it in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ty {
    /// See the constants of [`TyId`].
    Unknown,
    /// No value.
    Never,
    /// The current value where there is none.
    NoInput,
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// An integer.
    Int,
    /// A number.
    Number,
    /// An integer or a float.
    Plain,
    /// A float.
    Float,
    /// An integer, or a float without a fraction: only what is wanted has this type.
    Whole,
    /// A text.
    Text,
    /// A date or a time.
    Moment,
    /// A name.
    Keyword,
    /// One of the two.
    BoolOf(bool),
    /// This integer.
    IntOf(i64),
    /// The float of these bits.
    FloatOf(u64),
    /// This text.
    TextOf(NameId),
    /// A list of items of a type.
    List(TyId),
    /// An object: its fields, in ascending order of the numbers of their names, and whether it may have others.
    Object(Span, bool),
    /// One of several types, none of which is a union, in ascending order.
    Union(Span),
}

/// A range of fields or of members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    start: u32,
    count: u32,
}

impl Span {
    pub(super) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.count) as usize
    }

    /// Returns how many there are.
    pub fn count(self) -> usize {
        self.count as usize
    }
}

/// A field of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldTy {
    /// Its name.
    pub name: NameId,
    /// The type of its value, if it is there.
    pub ty: TyId,
    /// Whether it may be missing.
    pub optional: bool,
    /// Where in the data it comes from, see [`Sources`](super::sources::Sources); 0 if from nowhere.
    pub from: u32,
}

/// A set of kinds of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds(pub u8);

impl Kinds {
    /// No kind.
    pub const NONE: Kinds = Kinds(0);
    /// `null`
    pub const NULL: Kinds = Kinds(1);
    /// Truth values.
    pub const BOOL: Kinds = Kinds(2);
    /// Numbers.
    pub const NUMBER: Kinds = Kinds(4);
    /// Texts.
    pub const TEXT: Kinds = Kinds(8);
    /// Lists.
    pub const LIST: Kinds = Kinds(16);
    /// Objects.
    pub const OBJECT: Kinds = Kinds(32);
    /// Other terms of Elixir.
    pub const OTHER: Kinds = Kinds(64);
    /// All kinds.
    pub const ALL: Kinds = Kinds(127);

    /// The kinds in one of the sets.
    pub const fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    /// The kinds in both sets.
    pub const fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    /// The kinds that are not in the other set.
    pub const fn without(self, other: Kinds) -> Kinds {
        Kinds(self.0 & !other.0)
    }

    /// Whether the sets have a kind in common.
    pub const fn meets(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether all of them are in the other set.
    pub const fn within(self, other: Kinds) -> bool {
        self.0 & !other.0 == 0
    }

    /// Whether there is no kind.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Maximum number of types, of fields of all of them, and of members of all unions. Beyond it nothing is known of new types.
pub(super) const MOST_TYPES: usize = 1 << 20;
const MOST_FIELDS: usize = 1 << 22;
/// Number of fields that all objects may have together, and of more for each type: a program that adds one field after the other would
/// have as many as the square of their number.
const FIELDS: usize = 1 << 18;
const FIELDS_A_TYPE: usize = 16;

/// The types of one check.
#[derive(Debug)]
pub struct Types {
    pub(super) types: Vec<(Ty, Kinds)>,
    pub(super) fields: Vec<FieldTy>,
    pub(super) members: Vec<TyId>,
    pub(super) index: Index,
    /// The unions of the types of [`TyId`]'s constants with `null`; `NEVER` for those that are not made yet.
    pub(super) nullable: [TyId; COMMON],
    /// The names.
    pub names: Names,
}

impl Default for Types {
    fn default() -> Self {
        let mut types = Types {
            types: Vec::with_capacity(64),
            fields: Vec::with_capacity(256),
            members: Vec::with_capacity(32),
            index: Index::default(),
            nullable: [TyId::NEVER; COMMON],
            names: Names::default(),
        };
        types.clear();
        types
    }
}

impl Types {
    /// Returns the words of the memory.
    pub(super) fn room(&self) -> usize {
        let own = 3 * self.types.capacity() + 2 * self.fields.capacity();
        own + self.members.capacity() / 2 + self.index.room() + self.names.room()
    }

    /// Returns a type.
    #[inline]
    pub fn get(&self, id: TyId) -> Ty {
        self.types[id.0 as usize].0
    }

    /// Returns the kinds of its values.
    #[inline]
    pub fn kinds(&self, id: TyId) -> Kinds {
        self.types[id.0 as usize].1
    }

    /// Returns the kinds of its values that are no dates or times.
    pub fn kinds_beside_moments(&self, id: TyId) -> Kinds {
        let others = self.members(&id).iter().filter(|id| **id != TyId::MOMENT);
        others.fold(Kinds::NONE, |kinds, id| kinds.or(self.kinds(*id)))
    }

    /// Returns the fields of an object.
    #[inline]
    pub fn fields(&self, span: Span) -> &[FieldTy] {
        &self.fields[span.range()]
    }

    /// Returns the members of a union; of any other type itself.
    #[inline]
    pub fn members<'t>(&'t self, id: &'t TyId) -> &'t [TyId] {
        match self.get(*id) {
            Ty::Union(span) => &self.members[span.range()],
            _ => std::slice::from_ref(id),
        }
    }

    /// Returns the field of this name of an object.
    #[inline]
    pub fn field_in(&self, span: Span, name: NameId) -> Option<FieldTy> {
        let fields = self.fields(span);
        let at = fields
            .binary_search_by_key(&name, |field| field.name)
            .ok()?;
        Some(fields[at])
    }

    /// Returns the number of types.
    pub fn count(&self) -> usize {
        self.types.len()
    }

    /// Returns the words that they take.
    pub fn words(&self) -> usize {
        3 * self.types.len() + 2 * self.fields.len() + self.members.len() / 2 + self.names.words()
    }

    /// Returns the list of these items.
    pub fn list(&mut self, item: TyId) -> TyId {
        self.intern(Ty::List(item))
    }

    /// Returns the type of an integer.
    pub fn int(&mut self, value: i64) -> TyId {
        self.intern(Ty::IntOf(value))
    }

    /// Returns the type of a float.
    pub fn float(&mut self, value: f64) -> TyId {
        self.intern(Ty::FloatOf(value.to_bits()))
    }

    /// Returns the type of a text.
    pub fn text(&mut self, text: &[u8]) -> TyId {
        match text.len() {
            ..=LONGEST_TEXT => {
                let name = self.names.id(text);
                self.intern(Ty::TextOf(name))
            }
            _ => TyId::TEXT,
        }
    }

    /// Returns the object of these fields, which need no order; of equal names the first one counts.
    pub fn object(&mut self, fields: &mut Vec<FieldTy>, open: bool) -> TyId {
        self.object_since(fields, 0, open)
    }

    /// Returns the object of the fields from `first` on, as [`Types::object`] does. An object with a field whose name is too long may have any other fields.
    pub fn object_since(&mut self, all: &mut Vec<FieldTy>, first: usize, mut open: bool) -> TyId {
        if self.names.has_long() {
            let (names, mut fields) = (&self.names, all.split_off(first));
            let count = fields.len();
            fields.retain(|field| !names.is_long(field.name));
            open |= fields.len() < count;
            all.append(&mut fields);
        }
        if !all[first..].is_sorted_by(|a, b| a.name < b.name) {
            let mut fields = all.split_off(first);
            fields.sort_by_key(|field| field.name);
            fields.dedup_by(|later, first| later.name == first.name);
            all.append(&mut fields);
        }
        let fields = &all[first..];
        let start = self.fields.len();
        let room = MOST_FIELDS.min(FIELDS + FIELDS_A_TYPE * self.types.len());
        if start + fields.len() > room {
            return TyId::OBJECT;
        }
        self.fields.extend_from_slice(fields);
        let span = Span {
            start: start as u32,
            count: fields.len() as u32,
        };
        let id = self.intern(Ty::Object(span, open));
        if self.get(id) != Ty::Object(span, open) {
            self.fields.truncate(start);
        }
        id
    }

    /// Returns the union of these types, which are no unions, in ascending order.
    pub(super) fn union_of(&mut self, members: &[TyId]) -> TyId {
        match members {
            [] => return TyId::NEVER,
            [only] => return *only,
            _ => {}
        }
        let start = self.members.len();
        if start + members.len() > MOST_FIELDS {
            return TyId::UNKNOWN;
        }
        self.members.extend_from_slice(members);
        let span = Span {
            start: start as u32,
            count: members.len() as u32,
        };
        let id = self.intern(Ty::Union(span));
        if self.get(id) != Ty::Union(span) {
            self.members.truncate(start);
        }
        id
    }
}

/// Maximum length of a text that is a type of its own.
const LONGEST_TEXT: usize = 128;
