//! What is wanted of a text: the type of its value, and what is done with one that was cut off.

use crate::repair::after::cut::AtEnd;
use crate::repair::text::scan::{quote, skip_all_blanks};
use ptc_type::{AnswerType, Fields, Type, TypeId, Types};

/// What is wanted of a text.
#[derive(Debug)]
pub struct Wanted {
    /// The type of the value.
    pub answer_type: AnswerType,
    /// Keys with hyphens for underscores need no repair.
    pub hyphens: bool,
    /// What is done with a text that ends before the answer is complete.
    pub at_end: AtEnd,
}

impl Wanted {
    /// A value of this type.
    pub fn new(answer_type: AnswerType) -> Self {
        Wanted {
            answer_type,
            hyphens: false,
            at_end: AtEnd::CloseAll,
        }
    }

    /// Any value.
    pub fn anything() -> Self {
        Wanted::new(AnswerType::anything())
    }

    /// Returns the table of types.
    #[inline]
    pub fn types(&self) -> &Types {
        self.answer_type.types()
    }

    /// Returns whether the search refuses texts that were cut off.
    pub fn refuses_cut(&self) -> bool {
        self.at_end != AtEnd::CloseAll
    }

    /// Returns whether an object may be closed where the text ends: nothing can be missing.
    pub fn may_close(&self, id: TypeId, seen: u64) -> bool {
        match (self.at_end, self.types().map(id)) {
            (AtEnd::CloseNothing, _) => false,
            (_, Some((fields, _))) => {
                fields.count <= 64 && self.types().is_complete(fields, seen, true)
            }
            _ => self.is_anything(),
        }
    }

    /// Returns whether a key that names a field is spelled correctly.
    #[inline]
    pub fn is_right(&self, fields: Fields, field: usize, key: &[u8]) -> bool {
        let types = self.types();
        self.hyphens || types.field(field).name == key || types.has_name(fields, key)
    }

    /// Returns the type of the object at an offset, if it wraps the whole value.
    pub fn wrapper_at(&self, text: &[u8], at: usize) -> Option<TypeId> {
        self.answer_type.wrapper().filter(|_| {
            let key = skip_all_blanks(text, at + 1);
            let key = key + quote(text, key).map_or(0, |(_, length)| length);
            text.get(at) == Some(&b'{') && text[key.min(text.len())..].starts_with(b"items")
        })
    }

    /// Returns the type of the value that begins at an offset: of an element, if the brackets around
    /// the list are missing.
    pub fn root_at(&self, text: &[u8], at: usize) -> TypeId {
        let root = self.answer_type.root();
        let list = match self.types().required(root).0 {
            Type::List(holds) if text.get(at) == Some(&b'{') => Some(holds),
            _ => None,
        };
        self.wrapper_at(text, at).or(list).unwrap_or(root)
    }

    /// Returns whether the value is a list: its objects may stand one after the other.
    pub fn is_list(&self) -> bool {
        let root = self.answer_type.root();
        matches!(self.types().required(root).0, Type::List(_))
    }

    /// Returns whether any value is of the type.
    pub fn is_anything(&self) -> bool {
        self.types().is_any(self.answer_type.root())
    }
}
