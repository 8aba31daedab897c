//! The state of the compiler's walk over a program, and its steps.

use super::compiler::{Compiler, Spend};
use super::explain::Observer;
use super::kept::Kept;
use super::scope::Bindings;
use super::{Failure, Options, Scope};
use crate::opcode::OpCode;
use crate::program::{Const, Instr};
use crate::source::Source;

/// An address in the code that is not known yet.
#[derive(Debug, Clone, Copy)]
pub struct Label(pub(super) u32);

/// One step of the walk.
#[derive(Debug, Clone, Copy)]
pub enum Step<N> {
    /// Check and compile a part as an operation. `given`: the operation around it sets the
    /// current value, which then takes precedence over the part's own `__input`.
    Visit {
        /// The part.
        node: N,
        /// Its scope.
        scope: Scope,
        /// See above.
        given: bool,
    },
    /// Same for a field of an operation, which must exist.
    Field {
        /// The operation's part of the source.
        owner: N,
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
        node: N,
        /// Which operation it is.
        op: OpCode,
        /// Its scope.
        scope: Scope,
    },
    /// Emit an instruction.
    Emit(Instr),
    /// Mark the target of a label.
    Mark(Label),
    /// Begin a `let` binding of this name.
    Bind(N, u32),
    /// End it.
    Unbind(N),
    /// End the innermost operation of an observed program.
    Close,
}

/// A walk over a program. It can be suspended between two steps; apart from its nodes it is plain
/// data.
#[derive(Debug)]
pub struct Walk<N> {
    pub(super) consts: Vec<Const<N>>,
    pub(super) code: Vec<Instr>,
    pub(super) labels: Vec<u32>,
    pub(super) bindings: Bindings,
    pub(super) slots: u32,
    pub(super) reads_input: bool,
    pub(super) depth: u32,
    /// See [`Options`].
    pub(super) strict: bool,
    pub(super) any_keys: bool,
    pub(super) values: bool,
    /// The remaining steps, next step last.
    pub(super) todo: Vec<Step<N>>,
    /// Steps and constants that precede these.
    pub(super) kept: Option<Box<Kept>>,
    /// The positions of the operations, if the program is observed.
    pub(super) observer: Option<Box<Observer<N>>>,
}

impl<N: Copy> Walk<N> {
    /// Creates a walk over the program whose root is `root`.
    pub fn new(root: N, options: Options) -> Self {
        let mut todo = Vec::with_capacity(16);
        todo.push(Step::Visit {
            node: root,
            scope: Scope::outermost(options.checked),
            given: false,
        });
        Walk {
            // Enough for most programs that an LLM writes, and less than a kilobyte each, which an
            // allocator can provide quickly.
            consts: Vec::with_capacity(20),
            code: Vec::with_capacity(20),
            labels: Vec::new(),
            bindings: Bindings::default(),
            slots: 1,
            reads_input: false,
            depth: options.depth,
            strict: options.strict,
            any_keys: options.any_keys,
            values: options.values,
            todo,
            kept: None,
            observer: None,
        }
    }

    /// Runs to the end, or until `spend` stops the walk.
    pub fn go_on<'s, S: Source<Node = N>>(
        &'s mut self,
        source: &'s S,
        spend: &'s mut Spend<'s>,
    ) -> Result<(), Failure<N>> {
        let mut compiler = Compiler {
            source,
            walk: self,
            spend,
            uncounted: 0,
        };
        compiler.walk()
    }

    /// Returns the words that the walk takes, without its bindings.
    pub(super) fn words(&self) -> usize {
        let bytes = self.consts.len() * size_of::<Const<N>>()
            + self.code.len() * size_of::<Instr>()
            + self.labels.len() * size_of::<u32>()
            + self.todo.len() * size_of::<Step<N>>();
        bytes / 8 + self.kept.as_ref().map_or(0, |kept| kept.words())
    }

    /// Converts the walk to other handles of the same nodes; kept nodes stay as they are.
    pub fn map<M>(self, mut node: impl FnMut(N) -> M) -> Walk<M> {
        let todo = self.todo.into_iter().map(|step| step.map(&mut node));
        let todo = todo.collect();
        let observer = Walk::map_observer(self.observer, &mut node);
        let consts = self.consts.into_iter().map(|value| value.map(&mut node));
        Walk {
            consts: consts.collect(),
            code: self.code,
            labels: self.labels,
            bindings: self.bindings,
            slots: self.slots,
            reads_input: self.reads_input,
            depth: self.depth,
            strict: self.strict,
            any_keys: self.any_keys,
            values: self.values,
            todo,
            kept: self.kept,
            observer,
        }
    }
}

impl<N> Step<N> {
    /// Converts the step to another handle of its node.
    pub(super) fn map<M>(self, mut node: impl FnMut(N) -> M) -> Step<M> {
        match self {
            Step::Visit {
                node: at,
                scope,
                given,
            } => Step::Visit {
                node: node(at),
                scope,
                given,
            },
            Step::Field {
                owner,
                op,
                name,
                number,
                given,
                scope,
            } => Step::Field {
                owner: node(owner),
                op,
                name,
                number,
                given,
                scope,
            },
            Step::Unknown {
                node: at,
                op,
                scope,
            } => Step::Unknown {
                node: node(at),
                op,
                scope,
            },
            Step::Emit(instr) => Step::Emit(instr),
            Step::Mark(label) => Step::Mark(label),
            Step::Bind(name, slot) => Step::Bind(node(name), slot),
            Step::Unbind(name) => Step::Unbind(node(name)),
            Step::Close => Step::Close,
        }
    }
}
