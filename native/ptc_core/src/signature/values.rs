//! What signatures ask of terms, beyond what the VM asks of its [`Heap`].

use super::names::Matching;
use super::{Fields, TypeId, Types};
use crate::heap::Heap;

/// The classes of term that types tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// An atom, `nil`, `true` and `false` included.
    Atom,
    /// A binary, or bits that make no whole bytes: see [`Values::is_binary`].
    Bitstring,
    /// A float.
    Float,
    /// An integer of any size.
    Integer,
    /// A list, proper or not, empty or not.
    List,
    /// A map; structs are maps.
    Map,
    /// Tuples, pids, references, funs, …
    Other,
}

/// The structs that coercion knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeStruct {
    /// `DateTime`
    DateTime,
    /// `NaiveDateTime`, `Date` or `Time`
    Other,
}

/// A heap whose terms can be checked against types and coerced to them.
pub trait Values: Heap {
    /// What is known about the maps that types have looked into.
    type Rows: Rows<Self>;

    /// The class of a term.
    fn class(&self, term: Self::Term) -> Class;
    /// Whether a bitstring is made of whole bytes.
    fn is_binary(&self, term: Self::Term) -> bool;
    /// The very same term, not only an equal one.
    fn same(&self, a: Self::Term, b: Self::Term) -> bool;
    /// The atom `nil`.
    fn is_nil(&self, term: Self::Term) -> bool;
    /// `true` or `false`.
    fn is_bool(&self, term: Self::Term) -> bool;
    /// Whether a map is one of the structs for dates and times.
    fn time_struct(&self, map: Self::Term) -> Option<TimeStruct>;
    /// Whether a map has an atom under the key `:__struct__`.
    fn is_struct(&self, map: Self::Term) -> bool;
    /// The name of a keyword of PTC-Lisp, which is a struct (`%PtcRunner.Lisp.Keyword{}`); `None` for
    /// every other term.
    fn keyword_name(&self, term: Self::Term) -> Option<Self::Term>;
    /// The elements of a tuple.
    fn tuple(&self, term: Self::Term) -> Option<&[Self::Term]>;
    /// The atom of that name, if there is one already.
    fn existing_atom(&self, name: &[u8]) -> Option<Self::Term>;
    /// Appends the name of an atom, in UTF-8.
    fn put_atom_name(&self, atom: Self::Term, out: &mut Vec<u8>);
}

/// A field that was found in a map.
#[derive(Debug, Clone, Copy)]
pub struct Found<T> {
    /// Its place among the map's values, if the map is [flat](Rows::is_flat).
    pub slot: u8,
    /// Its key; of a flat map only the place counts.
    pub key: T,
    /// Its value.
    pub value: T,
}

/// The place of a key that is not there, or in a map without places.
pub const ABSENT: u8 = u8::MAX;

/// Rows of the same make: which key of a map is meant by a field depends on the map's keys alone, so
/// what was found out about one map holds for the next one with the same keys.
pub trait Rows<H: Heap + ?Sized>: Sized {
    /// A map that a type looks into.
    type Open: Copy;

    /// Nothing is known yet.
    fn new(heap: &H, types: &Types<'_>, matching: Matching) -> Self;
    /// Looks at a map for the type with these fields; `None` for what is no map. Until the type is
    /// done with the map, it must not look at another one.
    fn open(
        &mut self,
        heap: &H,
        types: &Types<'_>,
        id: TypeId,
        fields: Fields,
        map: H::Term,
    ) -> Option<Self::Open>;
    /// Whether the open map is a struct.
    fn is_struct(&self, heap: &H, id: TypeId, open: Self::Open) -> bool;
    /// The field with that index in the map that its type has opened.
    fn find(
        &mut self,
        heap: &H,
        types: &Types<'_>,
        open: Self::Open,
        field: usize,
    ) -> Option<Found<H::Term>>;
    /// Whether the map's values have places, from 0 to at most 31.
    fn is_flat(open: Self::Open) -> bool;
    /// Shows the values of a flat map, by place.
    fn each_value(&self, heap: &H, open: Self::Open, visit: impl FnMut(H::Term));
    /// The keys that no field was found under. Linear in the map.
    fn undeclared(
        &mut self,
        heap: &H,
        types: &Types<'_>,
        id: TypeId,
        fields: Fields,
        open: Self::Open,
    ) -> Vec<H::Term>;
    /// The map without undeclared keys. `changed` is, of a flat map that changed, all its values; of
    /// another map key, old and new value in turn, where of equal keys the last one counts. A map
    /// that is right as it is comes back as it is.
    fn remake(
        &mut self,
        heap: &mut H,
        types: &Types<'_>,
        id: TypeId,
        fields: Fields,
        map: (H::Term, Self::Open),
        changed: Option<&[H::Term]>,
    ) -> H::Term;
}
