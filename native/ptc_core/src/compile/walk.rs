//! A walk over a program, between two of its steps.

use super::compiler::{Compiler, Spend};
use super::explain::Observer;
use super::scope::Bindings;
use super::{Failure, Options, Scope};
use crate::opcode::OpCode;
use crate::program::{Const, Instr};
use crate::source::Source;

/// A place in the code that is not known yet.
#[derive(Debug, Clone, Copy)]
pub struct Label(pub(super) u32);

/// One step of the walk.
#[derive(Debug, Clone, Copy)]
pub enum Step<N> {
    /// Check and compile a part as an operation. `given`: the operation around it set the current
    /// value, which then wins over the part's own `__input`.
    Visit {
        /// The part.
        node: N,
        /// Where it stands.
        scope: Scope,
        /// See above.
        given: bool,
    },
    /// The same for a field of an operation, which must be there.
    Field {
        /// The operation's part of the source.
        owner: N,
        /// Which operation it is.
        op: OpCode,
        /// The field.
        name: &'static str,
        /// Whether a bare number may stand there.
        number: bool,
        /// As for a visit.
        given: bool,
        /// Where it stands.
        scope: Scope,
    },
    /// Look at the fields of a part that its operation does not have.
    Unknown {
        /// The part.
        node: N,
        /// Which operation it is.
        op: OpCode,
        /// Where it stands.
        scope: Scope,
    },
    /// Emit an instruction.
    Emit(Instr),
    /// A label stands here.
    Mark(Label),
    /// A `let` binding of this name begins …
    Bind(N, u32),
    /// … and ends.
    Unbind(N),
    /// The innermost operation of an observed program ends here.
    Close,
}

/// A walk over a program. Between two steps it can be left; but for its nodes it is plain data then.
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
    /// What is left to do, next step last.
    pub(super) todo: Vec<Step<N>>,
    /// The steps of the plan that is being made, first step first.
    pub(super) planned: Vec<Step<N>>,
    /// Where the operations stand, if the program is to be observed.
    pub(super) observer: Option<Box<Observer<N>>>,
}

impl<N: Copy> Walk<N> {
    /// A walk that has not begun, over the program whose root is `root`.
    pub fn new(root: N, options: Options) -> Self {
        let mut todo = Vec::with_capacity(16);
        todo.push(Step::Visit {
            node: root,
            scope: Scope::outermost(options.checked),
            given: false,
        });
        Walk {
            // Enough for most of what an LLM writes, and less than a kilobyte each, which an allocator has
            // at hand.
            consts: Vec::with_capacity(20),
            code: Vec::with_capacity(20),
            labels: Vec::new(),
            bindings: Bindings::default(),
            slots: 1,
            reads_input: false,
            depth: options.depth,
            strict: options.strict,
            any_keys: options.any_keys,
            todo,
            planned: Vec::with_capacity(16),
            observer: None,
        }
    }

    /// Goes on to the end, or until `spend` stops it.
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

    /// The words that the walk takes, without its bindings.
    pub(super) fn words(&self) -> usize {
        let bytes = self.consts.len() * size_of::<Const<N>>()
            + self.code.len() * size_of::<Instr>()
            + self.labels.len() * size_of::<u32>()
            + self.todo.len() * size_of::<Step<N>>();
        bytes / 8
    }

    /// The same walk over other handles of the same nodes.
    pub fn map<M>(self, mut node: impl FnMut(N) -> M) -> Walk<M> {
        let mut step = |step| match step {
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
        };
        let todo = self.todo.into_iter().map(&mut step).collect();
        let observer = Walk::map_observer(self.observer, &mut node);
        let constant = |value| match value {
            Const::Nil => Const::Nil,
            Const::Int(value) => Const::Int(value),
            Const::EmptyMap => Const::EmptyMap,
            Const::Node(at) => Const::Node(node(at)),
        };
        Walk {
            consts: self.consts.into_iter().map(constant).collect(),
            code: self.code,
            labels: self.labels,
            bindings: self.bindings,
            slots: self.slots,
            reads_input: self.reads_input,
            depth: self.depth,
            strict: self.strict,
            any_keys: self.any_keys,
            todo,
            planned: Vec::new(),
            observer,
        }
    }
}
