//! Which part of which text each instruction is compiled from.
//!
//! No run keeps this. A program that has failed is compiled once more for it.

use super::observer::FormObserver;
use super::task::CompileTask;
use super::{Compiler, Texts};
use crate::ast::{Analyzed, ExprId, Problem, Span};
use crate::patience::Patience;
use ptc_vm::program::Pc;

/// A part of a text: 0 is that of the program, and the others are those of the functions of the memory.
type UnitSpan = (u32, Span);

/// The parts of the texts, by addresses.
#[derive(Debug, Default)]
pub(super) struct Spans {
    /// From which address on the instructions are those of which part; in this order.
    starts: Vec<(Pc, Option<UnitSpan>)>,
    /// The parts around what is being compiled, the innermost last.
    open: Vec<UnitSpan>,
    /// The text that is being compiled.
    unit: u32,
}

impl Spans {
    fn open(&mut self, at: Pc, span: Span) {
        self.open.push((self.unit, span));
        self.begin(at);
    }

    fn close(&mut self, at: Pc) {
        self.open.pop();
        self.begin(at);
    }

    fn begin(&mut self, at: Pc) {
        self.starts.push((at, self.open.last().copied()));
    }

    /// Returns the innermost part of the program that an instruction belongs to: the first one of these addresses that is in the program.
    fn of_program(&self, addresses: &[Pc]) -> Option<Span> {
        addresses.iter().find_map(|address| {
            let behind = self.starts.partition_point(|(start, _)| start <= address);
            let (_, part) = self.starts.get(behind.checked_sub(1)?)?;
            part.filter(|(unit, _)| *unit == 0).map(|(_, span)| span)
        })
    }
}

/// Returns where in the text of the program an error is that has happened at these addresses, the innermost first; `None` if the text has no
/// such place. What is given must be what the run was compiled from.
pub fn place(
    source: &Analyzed,
    texts: &Texts,
    shadowed: &[String],
    is_observed: bool,
    addresses: &[Pc],
    patience: &mut Patience,
) -> Result<Option<Span>, Problem> {
    let observer = Some(FormObserver::new(is_observed, Some(Spans::default())));
    let compiler = super::compiled(source, texts, shadowed, observer, patience)?;
    let spans = compiler.0.observer.and_then(|it| it.spans);
    Ok(spans.and_then(|it| it.of_program(addresses)))
}

impl Compiler<'_> {
    /// Opens the part of an expression, which is closed after all that is compiled until then, if the parts are kept.
    pub(super) fn open_span(&mut self, id: ExprId) {
        let at = self.code.len() as Pc;
        let span = self.source.spans[id as usize];
        if let Some(spans) = self.spans() {
            spans.open(at, span);
            self.tasks.push(CompileTask::CloseSpan);
        }
    }

    /// Opens the part of a function.
    pub(super) fn open_span_of_function(&mut self, unit: u32, span: Span) {
        let at = self.code.len() as Pc;
        if let Some(spans) = self.spans() {
            spans.unit = unit;
            spans.open(at, span);
        }
    }

    /// Closes the innermost part.
    pub(super) fn close_span(&mut self) {
        let at = self.code.len() as Pc;
        if let Some(spans) = self.spans() {
            spans.close(at);
        }
    }

    fn spans(&mut self) -> Option<&mut Spans> {
        self.observer.as_mut()?.spans.as_mut()
    }
}
