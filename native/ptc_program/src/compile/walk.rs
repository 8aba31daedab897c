//! The state of the compiler's walk over a program, and its steps.

use super::observer::{Observer, ObserverMark};
use super::pattern::Patterns;
use super::scope::{Bindings, BoundName};
use super::{Options, Rejection, Scope};
use crate::code::{Apply, Instr};
use crate::edition::Edition;
use crate::opcode::OpCode;
use crate::ops::{Field, FieldKind};
use crate::source::{KeptSource, Uses};
use ptc_json::{Entry, Node, Table, ADDED};
use ptc_vm::program::Branches;
use std::sync::OnceLock;

/// An address in the code that is not known yet.
#[derive(Debug, Clone, Copy)]
pub struct Label(pub(super) u32);

impl Label {
    /// Returns what stands for its address until the end of the walk.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// One step of the walk.
#[derive(Debug, Clone, Copy)]
pub enum Step {
    /// Check and compile a part as an operation. `given`: the operation around it sets the
    /// current value, which then takes precedence over the part's own `__input`.
    Visit {
        /// The part.
        node: Node,
        /// Its scope.
        scope: Scope,
        /// See above.
        given: bool,
    },
    /// Check and compile a field of an operation, which must exist.
    Field {
        /// The operation's part of the source.
        owner: Node,
        /// Which operation it is.
        op: OpCode,
        /// The field.
        name: &'static str,
        /// Whether the field may hold a bare number.
        number: bool,
        /// As in `Visit`.
        given: bool,
        /// Its scope.
        scope: Scope,
    },
    /// Check a part for fields that its operation does not have.
    Unknown {
        /// The part.
        node: Node,
        /// Which operation it is.
        op: OpCode,
        /// The field in whose list the part is, if it is not the operation itself.
        list: Option<&'static Field>,
        /// Its scope.
        scope: Scope,
    },
    /// Emit an instruction.
    Emit(Instr),
    /// Emit the call of a tool.
    Call {
        /// The operation's part of the source.
        node: Node,
        /// The instruction.
        call: Instr,
    },
    /// Mark the target of a label.
    Mark(Label),
    /// Begin a `let` binding of this name.
    Bind(BoundName, u32),
    /// End it.
    Unbind(BoundName),
    /// Compile a template.
    Template(Node, Scope),
    /// Compile a part of a template.
    TemplatePart(Node, Scope),
    /// Compile an object of a template that names no operation.
    TemplateMap(Node, Scope),
    /// End the evaluation of so many parts, which may run at the same time.
    Branches(u32),
    /// Build the value of a template that is an object or a list, whose parts have been compiled.
    Build(Parts),
    /// Compare: `Emit(Instr::Apply(…))`, with the value as a constant if it is one.
    Compare(Apply),
    /// Check one field of an operation, and the operations in it.
    InOrder {
        /// The operation's part of the source.
        owner: Node,
        /// Which operation it is.
        op: OpCode,
        /// The index of the field.
        field: u32,
        /// Its scope.
        scope: Scope,
    },
    /// Check a part of a field, and the operations in it.
    PartInOrder(OpCode, FieldKind, Node, Scope),
    /// End the innermost guard.
    Unguard,
    /// End the innermost operation of an observed program.
    Close,
}

/// The parts of a template whose value is built.
#[derive(Debug, Clone, Copy)]
pub struct Parts {
    /// The object or the list.
    pub(super) node: Node,
    /// The operation that builds it.
    pub(super) apply: Apply,
    /// The length of the code before its parts.
    pub(super) code: u32,
    /// The number of constants before it.
    pub(super) consts: u32,
    /// The number of starts before it, see [`Walk::starts`].
    pub(super) starts: u32,
}

/// A part whose mistakes make it fail when it is reached.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    pub(super) node: Node,
    pub(super) scope: Scope,
    pub(super) given: bool,
    /// The first mistake in the order of evaluation, while the part is walked again in the order of the checks.
    pub(super) mistake: Option<Rejection>,
    pub(super) todo: usize,
    pub(super) code: usize,
    pub(super) starts: usize,
    pub(super) consts: usize,
    pub(super) labels: usize,
    pub(super) bindings: usize,
    pub(super) seen: Option<ObserverMark>,
}

/// A walk over a program, which is plain data. It can be suspended between two steps.
#[derive(Debug)]
pub struct Walk {
    pub(super) consts: Vec<Node>,
    pub(super) patterns: Option<Box<Patterns>>,
    /// The first of the entries for omitted parts: `null`, 0, `{}`, the maximum depth, the edition, and [`ADDED`].
    pub(super) omitted: Node,
    pub(super) code: Vec<Instr>,
    pub(super) labels: Vec<u32>,
    pub(super) bindings: Bindings,
    pub(super) slots: u32,
    pub(super) reads_input: bool,
    pub(super) depth: u32,
    pub(super) edition: Edition,
    /// The root of the program, and its scope.
    pub(super) root: (Node, Scope),
    /// The guards around the current step, innermost last.
    pub(super) guards: Vec<Guard>,
    /// The first mistake in the order of evaluation, while the program is walked again in the order of the checks.
    pub(super) mistake: Option<Box<Rejection>>,
    /// Whether the program calls tools.
    pub(super) calls_tools: bool,
    /// The addresses of the parts of the templates around the current step that were compiled so far.
    pub(super) starts: Vec<u32>,
    /// The addresses of the calls in the code before `scanned`.
    pub(super) calls: Vec<u32>,
    pub(super) scanned: usize,
    /// The address of each call in the code, and its part of the source.
    pub(super) nodes_of_calls: Vec<(u32, Node)>,
    /// The templates several of whose parts call tools.
    pub(super) branches: Vec<Branches>,
    /// The last address at which a label was marked.
    pub(super) marked: u32,
    /// See [`Options`].
    pub(super) strict: bool,
    pub(super) any_keys: bool,
    pub(super) values: bool,
    /// The remaining steps, next step last.
    pub(super) todo: Vec<Step>,
    /// The positions of the operations, if the program is observed.
    pub(super) observer: Option<Box<Observer>>,
}

impl Walk {
    /// Creates a walk over the program whose root is `root`; adds what stands for omitted parts to its table.
    pub fn new(table: &mut Table, root: Node, options: Options) -> Box<Self> {
        let omitted = table.next();
        table.add([
            Entry::Null,
            Entry::Int(0),
            Entry::Object(omitted + 3, 0),
            Entry::Int(i64::from(options.depth)),
            Entry::Int(i64::from(options.edition.number())),
        ]);
        table.add(std::array::from_fn::<_, { ADDED.len() }, _>(|at| {
            Entry::Added(at as u8)
        }));
        Walk::again(omitted, root, options)
    }

    /// Creates a walk over a program that was walked with these options; `omitted` is [`Walk::omitted`] of that walk.
    pub fn again(omitted: Node, root: Node, options: Options) -> Box<Self> {
        let mut todo = Vec::with_capacity(16);
        let scope = Scope::outermost(options.checked);
        todo.push(Step::Visit {
            node: root,
            scope,
            given: false,
        });
        Box::new(Walk {
            // Enough for most programs that an LLM writes, and less than a kilobyte each, which an
            // allocator can provide quickly.
            consts: Vec::with_capacity(20),
            patterns: None,
            omitted,
            code: Vec::with_capacity(20),
            labels: Vec::new(),
            bindings: Bindings::default(),
            slots: 1,
            reads_input: false,
            depth: options.depth,
            edition: options.edition,
            root: (root, scope),
            guards: Vec::new(),
            mistake: None,
            calls_tools: false,
            starts: Vec::new(),
            calls: Vec::new(),
            nodes_of_calls: Vec::new(),
            scanned: 0,
            branches: Vec::new(),
            marked: 0,
            strict: options.strict,
            any_keys: options.any_keys,
            values: options.values,
            todo,
            observer: None,
        })
    }

    /// Returns the root of the program.
    pub fn root(&self) -> Node {
        self.root.0
    }

    /// Returns the first of the entries for omitted parts.
    pub fn omitted(&self) -> Node {
        self.omitted
    }

    /// Returns what is kept of the source, without its table; `text` is the length of the text, if it is one.
    pub fn source(&self, options: Options, text: Option<usize>) -> KeptSource {
        KeptSource {
            table: Table::default(),
            root: self.root.0,
            omitted: self.omitted,
            uses: self.uses(),
            calls: self.nodes_of_calls.iter().map(|(_, node)| *node).collect(),
            text,
            outside: Vec::new(),
            options,
            digests: OnceLock::new(),
        }
    }

    /// Returns the names that the program uses, as its instructions say.
    fn uses(&self) -> Uses {
        let mut uses = Uses::default();
        let node = |id: u32| self.consts.get(id as usize).copied();
        for instr in &self.code {
            match instr {
                Instr::LoadContext(name) => uses.context.extend(node(*name)),
                Instr::LoadMemory(name) => uses.memory.extend(node(*name)),
                Instr::Call { tool, .. } => uses.tools.extend(node(*tool)),
                _ => {}
            }
        }
        uses
    }

    /// Adds the call of a tool to the code.
    pub(super) fn push_call(&mut self, node: Node, call: Instr) {
        self.nodes_of_calls.push((self.code.len() as u32, node));
        self.code.push(call);
    }

    /// Drops the code from an address on.
    pub(super) fn truncate_code(&mut self, length: usize) {
        self.code.truncate(length);
        self.scanned = self.scanned.min(length);
        while self.calls.pop_if(|call| *call as usize >= length).is_some() {}
        while self
            .nodes_of_calls
            .pop_if(|(call, _)| *call as usize >= length)
            .is_some()
        {}
        while self
            .branches
            .pop_if(|it| it.end as usize > length)
            .is_some()
        {}
    }

    /// Returns the words that the walk takes, without its bindings.
    pub(super) fn words(&self) -> usize {
        let bytes = self.consts.len() * size_of::<Node>()
            + self.code.len() * size_of::<Instr>()
            + self.labels.len() * size_of::<u32>()
            + self.todo.len() * size_of::<Step>();
        bytes / 8
            + self
                .patterns
                .as_ref()
                .map_or(0, |patterns| patterns.words())
    }
}
