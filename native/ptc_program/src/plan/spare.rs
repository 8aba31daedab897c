//! The memory of the last plan of each thread: a small plan gets fresh memory for a part of its time.

use super::calls::Effects;
use super::sets::SetId;
use super::value::ValueId;
use super::walk::PlanWalk;
use crate::edition::Edition;
use ptc_json::Node;
use ptc_term::spare;
use std::cell::Cell;

thread_local! {
    static SPARE: Cell<Option<Box<PlanWalk>>> = const { Cell::new(None) };
}

/// Returns a walk over the program whose root is `root`.
pub(super) fn walk(root: Node, edition: Edition) -> Box<PlanWalk> {
    match SPARE.take() {
        None => Box::new(PlanWalk::new(root, edition)),
        Some(mut walk) => {
            (walk.stack.root, walk.stack.edition) = (root, edition);
            walk
        }
    }
}

/// Keeps the memory of a walk that is done, if it is not large.
pub(super) fn keep(mut walk: Box<PlanWalk>) {
    let words = walk.clear();
    spare::keep(&SPARE, words, || walk);
}

impl PlanWalk {
    /// Prepares it for another program: all is forgotten but the memory. It returns the words of that.
    fn clear(&mut self) -> usize {
        self.names.clear();
        self.calls.clear();
        self.effects = Effects::new();
        self.folded.clear();
        self.used.clear();
        (self.guard, self.counted) = (SetId::EMPTY, SetId::EMPTY);
        self.entries.clear();
        self.seen.clear();
        self.work = 0;
        self.is_for_people = false;
        let lists = 4 * self.calls.capacity() + self.folded.capacity() + self.used.capacity();
        let maps = 2 * (self.entries.capacity() + self.seen.capacity());
        let values = self.values.clear() + self.names.room() + self.loops.clear();
        values + self.stack.clear(ValueId::CONSTANT) + lists + maps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptc_json::{Document, JsonLimits, Table};

    /// Visits a program.
    fn visit(walk: &mut PlanWalk, text: &str) {
        let table = Table::parse(text.as_bytes(), JsonLimits::depth(100)).expect("JSON");
        let document = Document::new(text.as_bytes(), &table);
        walk.begin(&document);
        while walk.step(&document).is_none() {}
    }

    /// All that a walk holds before it begins, without the empty places of indexes.
    fn shown(walk: &PlanWalk) -> String {
        let all = format!("{walk:?}");
        all.replace("(0, 0), ", "").replace("(0, 0)", "")
    }

    #[test]
    fn a_walk_in_used_memory_begins_like_a_new_one() {
        let rows = r#"{"op":"load","name":"rows"}"#;
        let call =
            r#"{"op":"call","tool":"t","args":{"a":{"op":"get","path":["x",0]}},"on_error":1}"#;
        let fold = r#"{"op":"fold","init":1,"expr":{"op":"var","name":"acc"}}"#;
        let without = r#"{"op":"map","expr":{"op":"omit","fields":["a","b"]}}"#;
        let taken = r#"{"op":"take","count":3}"#;
        let steps = |steps: &[&str]| format!(r#"{{"op":"pipe","steps":[{}]}}"#, steps.join(","));
        let each = format!(r#"{{"op":"map","expr":{call}}}"#);
        let programs = [
            steps(&[rows, taken, &each]),
            steps(&[rows, without, fold]),
            format!(r#"{{"op":"object","fields":{{"a":{call},"b":{rows}}}}}"#),
            steps(&[rows, without, taken, &each, fold]),
        ];
        let mut new = walk(3, Edition::One);
        let before = shown(&new);
        (new.stack.root, new.stack.edition) = (0, Edition::Two);
        for program in &programs {
            visit(&mut new, program);
            keep(new);
            new = walk(3, Edition::One);
            assert_eq!(shown(&new), before, "after {program}");
            (new.stack.root, new.stack.edition) = (0, Edition::Two);
        }
    }

    #[test]
    fn the_memory_of_a_large_walk_is_not_kept() {
        let mut large = walk(0, Edition::Two);
        for n in 0..20_000 {
            large.names.id(format!("name {n}").as_bytes());
        }
        keep(large);
        assert!(SPARE.take().is_none());
    }
}
