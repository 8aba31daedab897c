//! Facts about the constants that are used as keys.

/// Cached facts about a constant that is used as a key.
#[derive(Clone, Default)]
pub(crate) struct Key<C> {
    /// The heap's cache of the last successful look-up.
    pub cache: C,
    /// Cost of a comparison with the key; 0 while it is unknown.
    pub weight: u32,
}

/// The atom of a constant key's name.
#[derive(Clone)]
pub(crate) enum Atom<T, C> {
    /// Not looked up yet.
    NotAsked,
    /// The atom does not exist, so no map has it as a key.
    None,
    /// The atom, and the cache of its last successful look-up.
    Known(T, C),
    /// An atom that is not a field of structs, and its cache, see [`Heap::is_hidden`](ptc_term::heap::Heap::is_hidden).
    Hidden(T, C),
}
