//! What is checked of any text, for tests and fuzz targets: it is read, analyzed and run without a panic, and runs have the same end in
//! executions of any length.
//!
//! Not every test uses all of it.
#![allow(dead_code)]

pub mod generate;

use crate::running::{Ended, Run};
use ptc_lisp::analyze::{analyze, Added};
use ptc_lisp::ast::{Analyzed, Problem, Span};
use ptc_lisp::compile::{children, compile, Texts};
use ptc_lisp::patience::Patience;
use ptc_lisp::read::{read, Forms, NameTable};
use ptc_term::meter::{Deadline, Limits};
use std::time::Duration;

/// Programs can take any time: they end here.
const LIMITS: Limits = Limits {
    deadline: Deadline::After(Duration::from_millis(100)),
    words: 200_000,
};
/// The units of an execution that is not interrupted.
const WHOLE: usize = 100_000_000;
/// The context of the programs.
const CONTEXT: &[(&str, &[u8])] = &[("a", b"a, b"), ("b", b"3"), ("c", b"\xffx")];

/// Reads a text: its forms, or its error, stand in it.
pub fn reads(text: &str) {
    let mut forms = Forms::default();
    let mut names = NameTable::default();
    match read(
        text,
        &mut forms,
        &mut names,
        &mut Patience::new(&mut || false),
    ) {
        Ok(_) => (0..forms.len()).for_each(|id| within(forms.span(id), text)),
        Err(problem) => within(problem.at, text),
    }
}

fn within(span: Span, text: &str) {
    let (start, end) = (span.start as usize, span.end as usize);
    assert!(
        start <= end && end <= text.len(),
        "{start} to {end}: {text}"
    );
    assert!(
        text.is_char_boundary(start) && text.is_char_boundary(end),
        "{start} to {end}: {text}"
    );
}

/// Analyzes a text, and compiles it: all that the program refers to exists. In debug builds the compiler verifies its instructions.
pub fn analyzes(text: &str) {
    let captured = ["a".to_string()];
    let added = [Added {
        source: "(fn [x] (f x a))",
        captured: &captured,
    }];
    for added in [&added[..], &[]] {
        match analyze(text, added) {
            Ok(program) => is_whole(&program, text, added),
            Err(problem) => within(problem.at, text),
        }
    }
}

fn is_whole(program: &Analyzed, text: &str, added: &[Added]) {
    assert_eq!(program.spans.len(), program.exprs.len());
    for (id, expr) in program.exprs.iter().enumerate() {
        children(expr, &mut |child| assert!((child as usize) < id, "{text}"));
    }
    for function in &program.functions {
        assert!((function.body as usize) < program.exprs.len());
    }
    let texts = Texts {
        program: text,
        added,
    };
    if let Err(Problem { at, .. }) = compile(program, &texts, &[]) {
        within(at, text);
    }
}

/// Returns whether a text is a program that can run: it is compiled, and all its names are known.
fn runs_at_all(text: &str) -> bool {
    let texts = Texts {
        program: text,
        added: &[],
    };
    analyze(text, &[]).is_ok_and(|program| compile(&program, &texts, &[]).is_ok())
}

/// Runs a program as a whole, and in executions of different lengths: the end and the questions are the same.
pub fn runs(text: &str) {
    if !runs_at_all(text) {
        return;
    }
    let ended = |units| without_marks(in_executions(text, units).run());
    let whole = ended(WHOLE);
    for units in [1 + text.len() % 5, 40] {
        let cut = ended(units);
        let stopped = [&whole, &cut].into_iter().any(is_stop);
        assert!(
            stopped || whole == cut,
            "{text} in executions of {units}: {whole:?}, {cut:?}"
        );
    }
}

fn in_executions(text: &str, units: usize) -> Run<'_> {
    Run {
        source: text,
        context: CONTEXT,
        units,
        limits: LIMITS,
    }
}

/// Function values begin with a random number of their run, which errors show.
fn without_marks(ended: Ended) -> Ended {
    let without = |text: String| {
        let mut out = String::new();
        for part in text.split_inclusive('{') {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            // Of 70 million marks one has fewer digits.
            let is_mark = digits > 9 && part[digits..].starts_with(',');
            out += if is_mark { &part[digits..] } else { part };
        }
        out
    };
    Ended {
        end: ended.end.map(without).map_err(without),
        asked: ended.asked.into_iter().map(without).collect(),
    }
}

/// Whether a limit is reached depends on the clock, and on repeated work.
fn is_stop(ended: &Ended) -> bool {
    matches!(&ended.end, Err(text) if text == "DeadlinePassed" || text == "MemoryExceeded")
}

/// Runs a program once; returns the fuel that it has consumed, and the words that it has built.
pub fn cost(text: &str) -> (usize, usize) {
    if !runs_at_all(text) {
        return (0, 0);
    }
    let (_, fuel, words) = in_executions(text, WHOLE).counted();
    (fuel, words)
}
