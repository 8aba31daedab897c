//! The memory of the last check of each thread: getting fresh memory takes as long as the walk over a small program.

use super::known::Known;
use super::ty::TyId;
use super::walk::TypeWalk;
use crate::edition::Edition;
use ptc_json::Node;
use ptc_term::spare;
use std::cell::Cell;

thread_local! {
    static SPARE: Cell<Option<Box<TypeWalk>>> = const { Cell::new(None) };
}

/// Returns a walk over the program whose root is `root`.
pub(super) fn walk(root: Node, edition: Edition) -> Box<TypeWalk> {
    match SPARE.take() {
        None => Box::new(TypeWalk::new(root, edition)),
        Some(mut walk) => {
            walk.of(root, edition);
            walk
        }
    }
}

/// Keeps the memory of a walk that is done, if it is not large.
pub(super) fn keep(mut walk: Box<TypeWalk>) {
    let words = walk.clear();
    spare::keep(&SPARE, words, || walk);
}

impl TypeWalk {
    /// Prepares it for another program: all is forgotten but the memory. It returns the words of that.
    pub(super) fn clear(&mut self) -> usize {
        let TypeWalk {
            types,
            known,
            sources,
            findings,
            noted,
            called,
            loaded,
            stack,
            values,
            facts,
            dead,
            doubt,
            loops,
            absences,
            operations,
            tests,
            suggestions,
            roots,
        } = self;
        types.clear();
        *known = Known::default();
        sources.clear();
        (*findings, *noted, *facts) = (Vec::new(), None, None);
        called.clear();
        loaded.clear();
        roots.clear();
        *values = false;
        for count in [dead, doubt, loops, absences, operations, tests, suggestions] {
            *count = 0;
        }
        let lists = roots.capacity() / 2 + called.capacity() + loaded.capacity();
        types.room() + sources.room() + stack.clear(TyId::NEVER) + lists
    }

    /// Begins with a program.
    pub(super) fn of(&mut self, root: Node, edition: Edition) {
        (self.stack.root, self.stack.edition) = (root, edition);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typing::ty::{FieldTy, Types};

    fn grow(walk: &mut TypeWalk, fields: usize) {
        let mut all = Vec::new();
        for n in 0..fields {
            let name = walk.types.names.id(format!("field {n}").as_bytes());
            let from = walk.sources.add(0, name);
            all.push(FieldTy {
                name,
                ty: TyId::INT,
                optional: false,
                from,
            });
        }
        walk.types.object(&mut all, false);
        walk.types.or_null(TyId::INT);
        walk.called.push(walk.types.names.id(b"tool"));
    }

    /// All that a walk holds before it begins.
    fn shown(walk: &TypeWalk) -> String {
        let Types { names, .. } = &walk.types;
        assert_eq!(names.count(), 0);
        format!("{walk:?}")
    }

    #[test]
    fn a_walk_in_used_memory_begins_like_a_new_one() {
        let mut new = walk(3, Edition::One);
        // The place of a name in the index is no part of what the walk finds out.
        new.types.names.id(b"");
        new.clear();
        let before = shown(&new);
        for fields in [1, 20, 200, 1] {
            grow(&mut new, fields);
            keep(new);
            new = walk(3, Edition::One);
            assert_eq!(shown(&new), before, "after {fields} fields");
        }
    }

    #[test]
    fn the_memory_of_a_large_walk_is_not_kept() {
        let mut large = walk(0, Edition::Two);
        grow(&mut large, 10_000);
        keep(large);
        assert!(SPARE.take().is_none());
    }
}
