//! The interface to terms that signatures need, in addition to [`Classed`].

use super::listing::ErrorAtoms;
use super::read::TypeAtoms;
use super::{Fields, Scalar, TypeId, Types};
pub use ptc_term::class::{Class, Classed};

use ptc_term::heap::Heap;
use ptc_term::names::{KeyKind, Matching};

/// The structs that coercion supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeStruct {
    /// `DateTime`
    DateTime,
    /// `NaiveDateTime`, `Date` or `Time`
    Other,
}

/// A heap whose terms can be checked against types and coerced to them.
pub trait Values: Classed {
    /// Cached facts about the maps that were checked against types.
    type Rows: Rows<Self>;

    /// Returns whether a map is one of the structs for dates and times.
    fn time_struct(&self, map: Self::Term) -> Option<TimeStruct>;
    /// Returns true only if a value has this type and needs no conversion, and that is quick to see.
    #[inline(always)]
    fn is_plainly(&self, _scalar: Scalar, _value: Self::Term) -> bool {
        false
    }
    /// Returns the name of a keyword of PTC-Lisp, which is a struct (`%PtcRunner.Lisp.Keyword{}`);
    /// `None` for any other term.
    fn keyword_name(&self, term: Self::Term) -> Option<Self::Term>;
    /// Returns whether this is the name of an atom.
    fn atom_is(&self, atom: Self::Term, name: &[u8]) -> bool;
    /// Makes the key of this kind with this name; `None` for an atom that does not exist yet.
    fn make_key(&mut self, kind: KeyKind, name: &[u8]) -> Option<Self::Term>;
    /// Returns the atoms in type terms.
    fn type_atoms(&self) -> TypeAtoms<Self::Term>;
    /// Returns the atoms in errors.
    fn error_atoms(&self) -> ErrorAtoms<Self::Term>;
    /// Makes a map with another value for one of its keys.
    fn with_value(&mut self, map: Self::Term, key: Self::Term, value: Self::Term) -> Self::Term;
}

/// A field that was found in a map.
#[derive(Debug, Clone, Copy)]
pub struct Found<T> {
    /// Index of its value in the map, if the map is [flat](Rows::is_flat).
    pub slot: u8,
    /// Its key; unused for a flat map, where only the slot counts.
    pub key: T,
    /// Its value.
    pub value: T,
}

/// The slot of a missing key, or of a field in a map that is not flat.
pub const ABSENT: u8 = u8::MAX;

/// A cache for maps with the same keys: the key that a field matches depends only on the map's keys, so
/// the result for one map is valid for the next map with the same keys.
pub trait Rows<H: Heap + ?Sized>: Sized {
    /// A map that was opened for a type.
    type Open: Copy;

    /// Creates an empty cache.
    fn new(heap: &H, types: &Types, matching: Matching) -> Self;
    /// Opens a map for the type with these fields; `None` if the term is not a map. The type must not
    /// open another map before it is done with this one.
    fn open(
        &mut self,
        heap: &H,
        types: &Types,
        id: TypeId,
        fields: Fields,
        map: H::Term,
    ) -> Option<Self::Open>;
    /// Returns the fuel for the keys that were compared since the last call.
    fn take_fuel(&mut self) -> usize;
    /// Returns whether the open map is a struct.
    fn is_struct(&self, heap: &H, id: TypeId, open: Self::Open) -> bool;
    /// Returns the field with this index in the open map of its type.
    fn find(
        &mut self,
        heap: &H,
        types: &Types,
        open: Self::Open,
        field: usize,
    ) -> Option<Found<H::Term>>;
    /// Returns whether the map's values have slots, from 0 to at most 31.
    fn is_flat(open: Self::Open) -> bool;
    /// Passes the values of a flat map to `visit`, by slot.
    fn each_value(&self, heap: &H, open: Self::Open, visit: impl FnMut(H::Term));
    /// Returns the keys that match no field. Linear in the size of the map.
    fn undeclared(
        &mut self,
        heap: &H,
        types: &Types,
        id: TypeId,
        fields: Fields,
        open: Self::Open,
    ) -> Vec<H::Term>;
    /// Rebuilds the map without undeclared keys. For a flat map that changed, `changed` has all its
    /// values; for another map it has key, old and new value of each change, and of equal keys the last
    /// one counts. Returns the same map if nothing changes.
    fn remake(
        &mut self,
        heap: &mut H,
        types: &Types,
        id: TypeId,
        fields: Fields,
        map: (H::Term, Self::Open),
        changed: Option<&[H::Term]>,
    ) -> H::Term;
}
