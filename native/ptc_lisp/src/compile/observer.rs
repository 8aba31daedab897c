//! Programs that are observed: a site for each form that does something, and marks around its code.
//!
//! A jump may leave forms: `recur` those between it and its loop, and a tool that fails those inside of a `try`. The code that such a
//! jump leads to begins with [`Mark::Back`], so no form stays open that was left.

use super::spans::Spans;
use super::task::CompileTask;
use super::Compiler;
use crate::ast::{Expr, ExprId, FunctionId, Span};
use crate::code::Instr;
use ptc_vm::explain::{Keys, Mark, PathPart, Role, Site};
use std::collections::HashMap;

/// Number of forms that are marked. Those behind count for the form around them.
const MOST: usize = 5_000;

/// The forms of a program that is compiled for observation, or for the [places](super::spans) of its instructions.
#[derive(Debug, Default)]
pub(super) struct FormObserver {
    /// Whether forms are marked.
    marks: bool,
    /// The places, if they are wanted.
    pub(super) spans: Option<Spans>,
    pub(super) sites: Vec<Site>,
    /// The forms around what is being compiled, innermost last, with their places.
    open: Vec<(u32, Span)>,
    /// The text that is being compiled: 0 for the program.
    unit: u32,
    /// The form in which each function is made.
    makers: HashMap<FunctionId, u32>,
}

impl FormObserver {
    /// Returns one that marks forms or keeps the places of instructions, or both.
    pub(super) fn new(marks: bool, spans: Option<Spans>) -> Box<Self> {
        Box::new(FormObserver {
            marks,
            spans,
            ..FormObserver::default()
        })
    }

    /// Opens a form; `None` if there are too many, or if it stands where the form around it does.
    fn open(&mut self, name: &'static str, span: Span) -> Option<u32> {
        let around = self.open.last();
        if self.sites.len() >= MOST || around.is_some_and(|(_, at)| *at == span) {
            return None;
        }
        let number = self.sites.len() as u32;
        self.sites.push(Site {
            name,
            parent: around.map(|(site, _)| *site),
            path: [self.unit, span.start, span.end]
                .map(PathPart::Index)
                .to_vec(),
            input: None,
            keys: Keys::default(),
            role: Role::Other,
        });
        self.open.push((number, span));
        Some(number)
    }
}

impl Compiler<'_> {
    /// Returns whether forms are marked, so that each must have code of its own.
    pub(super) fn marks_forms(&self) -> bool {
        self.observer.as_ref().is_some_and(|it| it.marks)
    }

    /// Marks the beginning of an expression, if it is a form and the program is observed; its end is marked after all that is compiled
    /// until then. `grows`: its code pushes the two parts of a value.
    pub(super) fn open_form(&mut self, id: ExprId, grows: bool) {
        let Some(marks) = self.observer.as_ref().map(|it| it.marks) else {
            return;
        };
        self.open_span(id);
        let Some(observer) = self.observer.as_mut().filter(|_| marks) else {
            return;
        };
        let expr = &self.source.exprs[id as usize];
        if let Expr::Fn(function) = expr {
            let around = observer.open.last().map(|(site, _)| *site);
            observer.makers.extend(around.map(|site| (*function, site)));
        }
        let Some(name) = name_of_form(expr) else {
            return;
        };
        if let Some(site) = observer.open(name, self.source.spans[id as usize]) {
            self.code.push(Instr::Watch(Mark::Enter(site)));
            self.tasks.push(CompileTask::CloseForm(grows));
        }
    }

    /// Marks the end of the innermost form.
    pub(super) fn close_form(&mut self, grows: bool) {
        let Some((site, _)) = self.observer.as_mut().and_then(|it| it.open.pop()) else {
            return;
        };
        match grows {
            true => self.code.push(Instr::Watch(Mark::LeaveParts(site))),
            false => {
                let marks = [Mark::Output(site), Mark::Leave(site)];
                self.code.extend(marks.map(Instr::Watch));
            }
        }
    }

    /// Marks that a jump leads here.
    pub(super) fn back_in_form(&mut self) {
        let open = self.observer.as_ref().and_then(|it| it.open.last());
        if let Some((site, _)) = open {
            self.code.push(Instr::Watch(Mark::Back(*site)));
        }
    }

    /// Marks the beginning of a function, whose calls are a form of their own.
    pub(super) fn open_function(&mut self, function: FunctionId) {
        let about = &self.source.functions[function as usize];
        let Some(observer) = self.observer.as_mut().filter(|it| it.marks) else {
            return;
        };
        observer.unit = about.unit;
        observer.open.clear();
        // It may stand where the form does in which it is made.
        let maker = observer.makers.get(&function).copied();
        observer.open.extend(maker.map(|site| {
            (
                site,
                Span {
                    start: u32::MAX,
                    end: 0,
                },
            )
        }));
        if let Some(site) = observer.open("fn", about.source) {
            self.code.push(Instr::Watch(Mark::Enter(site)));
        } else {
            // So that its end closes nothing else.
            observer.open.clear();
        }
    }
}

/// Returns what kind of form an expression is; `None` for what only names a value.
fn name_of_form(expr: &Expr) -> Option<&'static str> {
    Some(match expr {
        Expr::Const(_)
        | Expr::Local(_)
        | Expr::Global { .. }
        | Expr::Builtin(_)
        | Expr::Tool(_)
        | Expr::History(_)
        | Expr::Fn(_) => return None,
        Expr::Data(_) => "data",
        Expr::Budget => "budget",
        Expr::Vector(_) => "vector",
        Expr::Map(_) => "map",
        Expr::Set(_) => "set",
        Expr::If(..) | Expr::IfNil(..) | Expr::Case { .. } => "branch",
        Expr::Do(_) => "do",
        Expr::And(_) | Expr::Or(_) => "connective",
        Expr::Let(..) => "let",
        Expr::Loop(..) => "loop",
        Expr::Recur(_) => "recur",
        Expr::Call(..) | Expr::Apply(..) | Expr::Juxt(_) => "call",
        Expr::CallTool(..) | Expr::BadToolCall(..) => "tool",
        Expr::Def { .. } => "def",
        Expr::Return(_) | Expr::Fail(_) => "end",
        Expr::For { .. } => "for",
        Expr::Pmap(..) | Expr::Pcalls(_) => "parallel",
        Expr::Try(..) => "try",
    })
}
