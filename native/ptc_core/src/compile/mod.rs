//! From source to program in one walk: checks, lexical scopes, jumps.
//!
//! The walk keeps its own stack of steps, so that nesting costs memory and not call depth. The
//! steps of an operation come from its plan, in the order in which it checks and evaluates. Between
//! two steps it can be left.
//!
//! * `walk`: the steps, and a walk between two of them
//! * `compiler`: what each step does
//! * `plan`: what an operation's plan is written with
//! * `check`: the checks of an operation's fields
//! * `unknown`: fields that an operation does not have
//! * `scope`: what a name and the current value mean at a place
//! * `explain`: marks around each operation, for a program that is observed
//! * `finish`: jumps, and what only the whole code tells
//! * `optimise`: what makes the finished code quicker

mod check;
mod compiler;
mod explain;
mod finish;
mod optimise;
mod plan;
mod scope;
mod unknown;
mod walk;

pub use compiler::Spend;
pub use explain::PathPart;
pub(crate) use explain::COUNTED_LISTS;
pub use plan::Plan;
pub use scope::Scope;
pub use walk::Walk;

use crate::fault::Fault;
use crate::program::{Const, Program};
use crate::source::Source;
use crate::stop::Stop;

/// The name under which a program sees its current value.
pub const INPUT_NAME: &str = "__input";

/// What the check found, about parts of the source.
pub type Rejection<N> = Fault<Const<N>>;

/// How to read a program.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Report what is wrong with a part that was given; otherwise a mistake becomes an
    /// instruction that fails when (and if) it is reached.
    pub checked: bool,
    /// How many operations may stand inside one another.
    pub depth: u32,
    /// Refuse fields that an operation does not have, and names that the context does not have.
    pub strict: bool,
    /// Find atoms in maps, where a string of the same name is not there.
    pub any_keys: bool,
}

/// Why there is no program.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure<N> {
    /// The check found a mistake.
    Rejected(Rejection<N>),
    /// A limit. After [`Stop::SliceOver`] the walk can go on.
    Stopped(Stop),
}

/// A program and its constants.
pub struct Compiled<N> {
    /// The instructions.
    pub program: Program,
    /// What [`ConstId`]s stand for.
    pub consts: Vec<Const<N>>,
}

/// Compiles the program whose root is `root`, without limits of time and memory.
pub fn compile<S: Source>(
    source: &S,
    root: S::Node,
    options: Options,
) -> Result<Compiled<S::Node>, Failure<S::Node>> {
    let mut walk = Walk::new(root, options);
    walk.go_on(source, &mut |_, _| Ok(()))?;
    Ok(walk.finish(source))
}
