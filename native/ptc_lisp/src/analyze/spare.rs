//! The memory of the last analysis of each thread: getting fresh memory takes as long as the analysis of a small program.

use super::Analyzer;
use crate::ast::Analyzed;
use ptc_term::spare::{self, MOST_WORDS};
use std::cell::Cell;

thread_local! {
    static SPARE: Cell<Option<Box<Analyzer<'static>>>> = const { Cell::new(None) };
}

/// Returns an analyzer that knows nothing.
pub(super) fn analyzer<'t>() -> Box<Analyzer<'t>> {
    SPARE.take().unwrap_or_default()
}

/// Takes what an analyzer has made, and keeps its memory, if it is not large.
pub(super) fn done(mut analyzer: Box<Analyzer>) -> Analyzed {
    let made = std::mem::take(&mut analyzer.out);
    let spare = analyzer.emptied();
    spare::keep(&SPARE, spare.room(), || Box::new(spare));
    made
}

/// Keeps the memory of what an analyzer has made, for the next one.
pub fn recycle(mut made: Analyzed) {
    let Some(mut spare) = SPARE.take() else {
        return;
    };
    made.clear();
    if made.room() + spare.room() <= MOST_WORDS {
        spare.out = made;
    }
    SPARE.set(Some(spare));
}

impl<'t> Analyzer<'t> {
    /// Forgets all but its memory.
    fn emptied(mut self) -> Analyzer<'static> {
        self.meanings.clear();
        self.numbers.clear();
        self.tasks.clear();
        self.results.clear();
        self.patterns.clear();
        self.clauses.clear();
        self.cases.clear();
        self.frames.clear();
        self.scope.clear();
        self.defs.clear();
        self.listed.clear();
        Analyzer {
            source: "",
            unit: 0,
            forms: self.forms.emptied(),
            read_forms: 0,
            unwritten: 0,
            names: self.names.emptied(),
            meanings: self.meanings,
            numbers: self.numbers,
            out: Analyzed::default(),
            tasks: self.tasks,
            results: self.results,
            patterns: self.patterns,
            clauses: self.clauses,
            cases: self.cases,
            frames: self.frames,
            scope: self.scope,
            defs: self.defs,
            function: None,
            short: None,
            defined_as: None,
            tries: 0,
            listed: self.listed,
        }
    }

    /// Returns the words of its memory.
    fn room(&self) -> usize {
        let small = self.meanings.capacity() + self.numbers.capacity() + self.results.capacity();
        let tasks = 4 * (self.tasks.capacity() + self.frames.capacity());
        let parts =
            8 * (self.patterns.capacity() + self.clauses.capacity() + self.cases.capacity());
        let names = self.names.room() + self.scope.room() + self.defs.room();
        self.forms.room() + small + tasks + parts + names + self.listed.capacity() / 8
    }
}

impl Analyzed {
    /// Forgets all but its memory.
    fn clear(&mut self) {
        self.exprs.clear();
        self.spans.clear();
        self.names.clear();
        self.locals.clear();
        self.functions.clear();
        self.unbound.clear();
        self.added.clear();
        self.tools.clear();
        self.defined.clear();
        self.regexes.clear();
        (self.root, self.symbols) = (None, 0);
    }

    /// Returns the words of its memory.
    fn room(&self) -> usize {
        let exprs = 8 * self.exprs.capacity() + self.spans.capacity();
        let names = 3 * self.names.capacity() + 4 * self.locals.capacity();
        exprs + names + 32 * self.functions.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::analyze;

    #[test]
    fn used_memory_changes_nothing() {
        let programs = [
            "(def a 1) (let [{:keys [b] :or {b 2}} data/x] (+ a b c))",
            "(try (tool/t {:n 1}) (catch e (:message e)))",
            "(for [x [1 2 3] :when (odd? x) :let [y x]] (case y 1 :a 2 \"b\" nil))",
            "(if)",
            "#(+ % %2 12345678901234567890 1.5) #\"x\" 'y",
            "(-> 1 (+ 2) #(* 3 %))",
        ];
        let new: Vec<_> = (programs.iter())
            .map(|program| {
                SPARE.set(None);
                analyze(program, &[])
            })
            .collect();
        for _ in 0..3 {
            for (program, expected) in programs.iter().zip(&new) {
                let made = analyze(program, &[]);
                assert_eq!(&made, expected, "{program}");
                made.into_iter().for_each(recycle);
            }
        }
    }

    #[test]
    fn much_memory_is_not_kept() {
        let long = "[1 2 3]".repeat(10_000);
        analyze(&long, &[]).into_iter().for_each(recycle);
        assert!(SPARE.take().is_none());
    }
}
