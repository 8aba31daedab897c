//! The domain of types.

use super::finding::{Detail, Finding, FindingCode, Severity};
use super::known::Known;
use super::rule::Rule;
use super::rules;
use super::sources::Sources;
use super::ty::{TyId, Types};
use crate::analysis::domain::StackOf;
use crate::analysis::names::{NameId, Names};
use crate::analysis::{walk, Domain, How, NextPart, Stack, Visiting, What, ABSENT};
use crate::edition::Edition;
use crate::opcode::OpCode;
use crate::shape::OpShape;
use ptc_json::{Document, Node, Shape};

/// Maximum number of findings.
const MOST_FINDINGS: usize = 1_000;
/// Maximum number of names that a finding is made of.
const MOST_NAMES: usize = 200;

/// What holds in a part.
#[derive(Debug, Clone, Copy, Default)]
pub struct TypeHeld {
    /// Whether it is never evaluated.
    pub dead: bool,
    /// Whether a condition that was not understood stands before it.
    pub doubt: bool,
    /// Whether it is evaluated for each item of a list.
    pub each: bool,
    /// Whether its absence is provided for.
    pub absence: bool,
}

/// What the truth of a condition says about the current value.
#[derive(Debug, Clone, Copy)]
pub struct Facts {
    /// Its type if the condition holds.
    pub yes: TyId,
    /// Its type if it does not hold.
    pub no: TyId,
}

impl Default for Facts {
    fn default() -> Self {
        Facts {
            yes: TyId::NEVER,
            no: TyId::NEVER,
        }
    }
}

/// What is kept of an operation whose parts are being visited.
#[derive(Debug, Default)]
pub struct TypeOwn {
    /// Whether `of` is known.
    pub(super) begun: bool,
    /// The type that the operation works on: of an item, of its operand.
    pub(super) of: TyId,
    /// The type of all parts so far.
    pub(super) all: TyId,
    /// What the conditions so far say.
    pub(super) facts: Facts,
    /// Whether one of them was not understood.
    pub(super) doubt: bool,
    /// What the last one always is; for several, whether one decides always.
    pub(super) truth: Option<bool>,
    /// The number of tests before the condition.
    pub(super) tests: u32,
    /// The number of parts so far; of operations before arguments; of findings before a body.
    pub(super) count: u32,
}

/// A part that is visited, with what holds in it.
pub(super) type TypePart = NextPart<TyId, TypeHeld>;

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
    pub(super) stack: StackOf<Self>,
    /// Whether decimals are values: what is unknown can be one.
    pub(super) values: bool,
    /// What the part that was visited last says as a condition.
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
}

/// Notes the type of an operation.
#[cold]
fn note(noted: &mut Vec<Finding>, node: Node, op: OpCode, ty: TyId) {
    if noted.len() < MOST_FINDINGS {
        noted.push(Finding {
            severity: Severity::Note,
            code: FindingCode::HasType,
            node,
            op: Some(op),
            details: vec![Detail::Type(match ty {
                TyId::NO_INPUT => TyId::UNKNOWN,
                ty => ty,
            })],
        });
    }
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
            stack: Stack::new(root, edition, TyId::NEVER),
            values: false,
            facts: None,
            dead: 0,
            doubt: 0,
            loops: 0,
            absences: 0,
            operations: 0,
            tests: 0,
            suggestions: 0,
            roots: Vec::new(),
        }
    }

    /// Returns the root of the program.
    pub fn root(&self) -> Node {
        self.stack.root
    }

    /// Visits the root.
    pub fn begin(&mut self, source: &Document) {
        let input = self.known.input;
        walk::begin(self, source, input);
    }

    /// Returns the words that the walk takes.
    pub fn words(&self) -> usize {
        self.types.words() + self.sources.words() + self.stack.words()
    }

    /// Makes one step. Returns the type of the program when it has been visited.
    pub(super) fn step(&mut self, source: &Document) -> Option<TyId> {
        walk::step(self, source)
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
        let parts = self.stack.frames.iter().rev();
        let names = parts.filter_map(|frame| Some(frame.now.bind?.0));
        names.take(MOST_NAMES).collect()
    }

    /// Whether the current part is never evaluated.
    pub(super) fn is_dead(&self) -> bool {
        self.dead > 0
    }
}

impl Domain for TypeWalk {
    type Value = TyId;
    type Own = TypeOwn;
    type Held = TypeHeld;

    const NULL: TyId = TyId::NULL;
    const OPENS_CONSTANTS: bool = true;

    fn stack(&self) -> &StackOf<Self> {
        &self.stack
    }

    fn stack_mut(&mut self) -> &mut StackOf<Self> {
        &mut self.stack
    }

    fn names(&mut self) -> &mut Names {
        &mut self.types.names
    }

    fn constant(&mut self, source: &Document, node: Node, how: How) -> TyId {
        self.facts = None;
        let is_number = || matches!(source.shape(node), Shape::Integer { .. } | Shape::Float);
        match how {
            How::Expr => TyId::UNKNOWN,
            How::Operand if !is_number() => TyId::UNKNOWN,
            _ => self.scalar(source, node),
        }
    }

    fn nothing(&mut self) -> TyId {
        self.facts = None;
        TyId::UNKNOWN
    }

    fn own_input(&mut self, source: &Document, node: Node) -> TyId {
        self.shallow(source, node)
    }

    fn first_input(&self, input: TyId) -> TyId {
        match input {
            TyId::NO_INPUT => TyId::NULL,
            input => input,
        }
    }

    fn bound(&self, name: NameId, ty: TyId) -> TyId {
        match self.types.names.is_long(name) {
            false => ty,
            true => TyId::UNKNOWN,
        }
    }

    fn before(&mut self, source: &Document, shape: OpShape, part: &mut TypePart) -> Visiting {
        rules::before(&mut Rule::new(self, source), shape, part)
    }

    fn enter(&mut self, part: &TypePart) {
        self.dead += u32::from(part.held.dead);
        self.doubt += u32::from(part.held.doubt);
        self.loops += u32::from(part.held.each);
        self.absences += u32::from(part.held.absence);
    }

    fn begun(&mut self, what: What) {
        if let What::Op(..) = what {
            self.operations += 1;
        }
    }

    fn after(&mut self, source: &Document, part: &TypePart, ty: TyId, _own: TypeOwn) -> bool {
        self.dead -= u32::from(part.held.dead);
        self.doubt -= u32::from(part.held.doubt);
        self.loops -= u32::from(part.held.each);
        self.absences -= u32::from(part.held.absence);
        let mut rule = Rule::new(self, source);
        match rule.what() {
            Some(What::Op(_, true)) | None => true,
            Some(What::Op(op, false)) => rules::after(&mut rule, op.shape(), part, ty),
            Some(What::Data(_)) => part.key != ABSENT || rule.join_all(ty),
        }
    }

    fn value(&mut self, source: &Document) -> TyId {
        let Some(frame) = self.stack.frames.last() else {
            return TyId::UNKNOWN;
        };
        let (what, node, own_input) = (frame.what, frame.node, frame.own_input);
        let mut rule = Rule::new(self, source);
        let ty = match what {
            What::Op(op, _) => rules::value(&mut rule, op.shape()),
            What::Data(_) => rule.data(),
        };
        let facts = rule.facts.take();
        self.facts = facts.filter(|_| !own_input);
        if let (Some(noted), What::Op(op, _)) = (&mut self.noted, what) {
            note(noted, node, op, ty);
        }
        match ty {
            TyId::NO_INPUT => TyId::UNKNOWN,
            ty => ty,
        }
    }
}
