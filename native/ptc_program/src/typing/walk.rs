//! The walk of a check: every part of the program is visited once, in the order of evaluation.
//!
//! It keeps its own stack, so nesting costs memory and not call depth. A part that is visited has a frame; the rule of its
//! operation says which part comes next, with which current value, and at the end what type the operation has.

use super::finding::{Detail, Finding, FindingCode, Severity};
use super::known::Known;
use super::names::NameId;
use super::parts::fields_of;
use super::rule::Rule;
use super::rules;
use super::sources::Sources;
use super::ty::{FieldTy, TyId, Types};
use crate::compile::MOST_FIELDS;
use crate::edition::Edition;
use crate::opcode::OpCode;
use ptc_json::{Document, Node};

/// Stands for a field that is not given.
pub(crate) const ABSENT: Node = Node::MAX;
/// Maximum number of findings.
const MOST_FINDINGS: usize = 1_000;
/// Maximum number of names that a finding is made of.
const MOST_NAMES: usize = 200;

/// How a part is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// As an operation, or an object.
    Expr,
    /// As a number or an operation.
    Operand,
    /// As an operation if it names one, else as a constant.
    Value,
    /// As a template.
    Template,
    /// As an object whose values are templates, also if one of its keys is `op`.
    Arguments,
    /// As a constant.
    Constant,
}

/// A part that is visited next.
#[derive(Debug, Clone, Copy)]
pub struct Visit {
    /// The part.
    pub node: Node,
    /// How it is read.
    pub how: How,
    /// Its current value.
    pub input: TyId,
    /// Whether the operation around it sets the current value.
    pub given: bool,
    /// Names that are bound in it.
    pub binds: [Option<(NameId, TyId)>; 2],
    /// Whether it is never evaluated.
    pub dead: bool,
    /// Whether a condition that was not understood stands before it.
    pub doubt: bool,
    /// Whether it is evaluated for each item of a list.
    pub each: bool,
    /// Whether its absence is provided for.
    pub absence: bool,
}

impl Visit {
    /// A part that is read in this way.
    pub fn new(node: Node, how: How, input: TyId) -> Self {
        Visit {
            node,
            how,
            input,
            given: false,
            binds: [None; 2],
            dead: false,
            doubt: false,
            each: false,
            absence: false,
        }
    }
}

/// What a rule wants.
#[derive(Debug, Clone, Copy)]
pub enum Next {
    /// A part is visited next.
    Visit(Visit),
    /// The type of the operation's value.
    Is(TyId),
}

/// What the truth of a condition says about the current value.
#[derive(Debug, Clone, Copy)]
pub struct Facts {
    /// Its type if the condition holds.
    pub yes: TyId,
    /// Its type if it does not hold.
    pub no: TyId,
}

/// What stands at a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// An operation; `true` for an object that names none.
    Op(OpCode, bool),
    /// An object or a list, whose parts are read in a way.
    Data(How),
}

/// A part whose rule has begun.
#[derive(Debug)]
pub(super) struct Frame {
    pub node: Node,
    pub what: What,
    /// The number of parts that have been visited.
    pub stage: u32,
    /// The next part of a list or an object, and how many there are.
    pub at: Node,
    pub left: u32,
    pub fields: [Node; MOST_FIELDS],
    pub input: TyId,
    /// For the rule's own use.
    pub kept: [TyId; 3],
    pub number: u32,
    /// The number of parts of objects before its own.
    pub parts: u32,
    /// Its current value is its own.
    own_input: bool,
    undo: u32,
    dead: bool,
    doubt: bool,
    each: bool,
    absence: bool,
}

/// A check of a program that is being made.
#[derive(Debug)]
pub struct TypeWalk {
    /// All types.
    pub types: Types,
    /// What is known of the data, the tools and the result.
    pub known: Known,
    /// Where fields come from.
    pub sources: Sources,
    /// What was found.
    pub findings: Vec<Finding>,
    /// The types of the operations, if they are wanted.
    pub noted: Option<Vec<Finding>>,
    /// The names of the tools that may be called.
    pub called: Vec<NameId>,
    /// The names of the context's values that are loaded.
    pub loaded: Vec<NameId>,
    pub(super) edition: Edition,
    /// Whether decimals are values: what is unknown can be one.
    pub(super) values: bool,
    pub(super) frames: Vec<Frame>,
    pub(super) bound: Vec<Option<TyId>>,
    pub(super) undo: Vec<(NameId, Option<TyId>)>,
    /// The fields of the objects that are being read.
    pub(super) parts: Vec<FieldTy>,
    pub(super) last: TyId,
    pub(super) facts: Option<Facts>,
    pub(super) dead: u32,
    pub(super) doubt: u32,
    pub(super) loops: u32,
    pub(super) absences: u32,
    /// The number of operations so far.
    pub(super) operations: u32,
    /// The number of tests so far of which no facts are known.
    pub(super) tests: u32,
    pub(super) suggestions: u32,
    /// The sources of the context's values, by the numbers of their names; 0 if there is none.
    pub(super) roots: Vec<u32>,
    pub(super) root: Node,
}

/// Notes the type of an operation.
#[cold]
fn note(noted: &mut Vec<Finding>, frame: Option<&Frame>, op: OpCode, ty: TyId) {
    if let (Some(frame), true) = (frame, noted.len() < MOST_FINDINGS) {
        noted.push(Finding {
            severity: Severity::Note,
            code: FindingCode::HasType,
            node: frame.node,
            op: Some(op),
            details: vec![Detail::Type(match ty {
                TyId::NO_INPUT => TyId::UNKNOWN,
                ty => ty,
            })],
        });
    }
}

/// The result of a step.
pub(super) enum TypeStep {
    /// The walk goes on.
    On,
    /// The program has this type.
    Done(TyId),
}

impl TypeWalk {
    /// Creates the walk over the program whose root is `root`.
    pub fn new(root: Node, edition: Edition) -> Self {
        TypeWalk {
            types: Types::default(),
            known: Known::default(),
            sources: Sources::default(),
            findings: Vec::new(),
            noted: None,
            called: Vec::new(),
            loaded: Vec::new(),
            edition,
            values: false,
            frames: Vec::with_capacity(16),
            bound: Vec::new(),
            undo: Vec::new(),
            parts: Vec::with_capacity(16),
            last: TyId::NEVER,
            facts: None,
            dead: 0,
            doubt: 0,
            loops: 0,
            absences: 0,
            operations: 0,
            tests: 0,
            suggestions: 0,
            roots: Vec::new(),
            root,
        }
    }

    /// Returns the root of the program.
    pub fn root(&self) -> Node {
        self.root
    }

    /// Visits the root.
    pub fn begin(&mut self, source: &Document) {
        let visit = Visit::new(self.root, How::Expr, self.known.input);
        self.enter(source, visit);
    }

    /// Returns the words that the walk takes.
    pub fn words(&self) -> usize {
        let frames = self.frames.len() * size_of::<Frame>() / 8;
        self.types.words() + self.sources.words() + frames + self.bound.len() + self.parts.len() * 2
    }

    /// Makes one step.
    pub(super) fn step(&mut self, source: &Document) -> TypeStep {
        let Some(frame) = self.frames.last() else {
            return TypeStep::Done(self.last);
        };
        let what = frame.what;
        let mut rule = Rule::new(self, source);
        let next = match what {
            What::Op(op, _) => rules::of(&mut rule, op.shape()),
            What::Data(how) => rule.data(how),
        };
        let facts = rule.facts.take();
        match next {
            Next::Visit(visit) => self.enter(source, visit),
            Next::Is(ty) => {
                if let (Some(noted), What::Op(op, _)) = (&mut self.noted, what) {
                    note(noted, self.frames.last(), op, ty);
                }
                self.leave(ty, facts);
            }
        }
        TypeStep::On
    }

    fn enter(&mut self, source: &Document, visit: Visit) {
        let what = match self.what(source, visit.node, visit.how) {
            Ok(what) => what,
            Err(ty) => {
                self.facts = None;
                return self.is(ty);
            }
        };
        let mut frame = Frame {
            node: visit.node,
            what,
            stage: 0,
            at: ABSENT,
            left: 0,
            fields: [ABSENT; MOST_FIELDS],
            input: visit.input,
            kept: [TyId::NEVER; 3],
            number: 0,
            parts: self.parts.len() as u32,
            own_input: false,
            undo: self.undo.len() as u32,
            dead: visit.dead,
            doubt: visit.doubt,
            each: visit.each,
            absence: visit.absence,
        };
        if let What::Op(op, implicit) = what {
            self.operations += 1;
            let found = &mut frame.fields;
            let own = fields_of(self.edition, source, visit.node, op, implicit, found);
            if let (Some(own), false, true) = (own, visit.given, op.shape().sees_input()) {
                (frame.input, frame.own_input) = (self.shallow(source, own), true);
            }
        }
        for (name, ty) in visit.binds.into_iter().flatten() {
            let at = name.0 as usize;
            if self.bound.len() <= at {
                self.bound.resize(at + 1, None);
            }
            self.undo.push((name, self.bound[at]));
            self.bound[at] = Some(match self.types.names.is_long(name) {
                false => ty,
                true => TyId::UNKNOWN,
            });
        }
        self.dead += u32::from(visit.dead);
        self.doubt += u32::from(visit.doubt);
        self.loops += u32::from(visit.each);
        self.absences += u32::from(visit.absence);
        self.frames.push(frame);
    }

    fn leave(&mut self, ty: TyId, facts: Option<Facts>) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        self.facts = facts.filter(|_| !frame.own_input);
        while self.undo.len() > frame.undo as usize {
            if let Some((name, before)) = self.undo.pop() {
                self.bound[name.0 as usize] = before;
            }
        }
        self.parts.truncate(frame.parts as usize);
        self.dead -= u32::from(frame.dead);
        self.doubt -= u32::from(frame.doubt);
        self.loops -= u32::from(frame.each);
        self.absences -= u32::from(frame.absence);
        self.is(ty);
    }

    /// Hands the type of a part to the rule around it.
    fn is(&mut self, ty: TyId) {
        self.last = match ty {
            TyId::NO_INPUT => TyId::UNKNOWN,
            ty => ty,
        };
        if let Some(frame) = self.frames.last_mut() {
            frame.stage += 1;
        }
    }

    /// Notes a finding, unless it is in a part that is never evaluated.
    pub(super) fn report(
        &mut self,
        severity: Severity,
        code: FindingCode,
        node: Node,
        op: Option<OpCode>,
        details: Vec<Detail>,
    ) {
        // Notes take no place from mistakes.
        let most = match severity {
            Severity::Note => MOST_FINDINGS / 2,
            Severity::Error | Severity::Warning => MOST_FINDINGS,
        };
        if self.dead > 0 || self.findings.len() >= most {
            return;
        }
        let severity = match self.doubt {
            0 => severity,
            _ => Severity::Warning,
        };
        self.findings.push(Finding {
            severity,
            code,
            node,
            op,
            details,
        });
    }

    /// Returns the names that are bound here, the last ones of many.
    pub(super) fn bound_names(&self) -> Vec<NameId> {
        let names = self.undo.iter().rev().take(MOST_NAMES);
        names.map(|(name, _)| *name).collect()
    }

    /// Whether the current part is never evaluated.
    pub(super) fn is_dead(&self) -> bool {
        self.dead > 0
    }
}
