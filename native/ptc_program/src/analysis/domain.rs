//! What a domain says about values and parts.

use super::names::{NameId, Names};
use super::part::{How, NextPart, What};
use super::stack::Stack;
use crate::shape::OpShape;
use ptc_json::{Document, Node};
use std::fmt::Debug;

/// Whether a part is visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visiting {
    /// It is.
    Visit,
    /// It is not.
    Skip,
    /// Neither it nor a part behind it is.
    Stop,
}

/// The interpreter's stack with the types of a domain.
pub(crate) type StackOf<D> = Stack<<D as Domain>::Value, <D as Domain>::Own, <D as Domain>::Held>;

/// A part with the types of a domain.
pub(crate) type PartOf<D> = NextPart<<D as Domain>::Value, <D as Domain>::Held>;

/// What is known of values, and what holds in the parts of operations.
pub(crate) trait Domain: Sized {
    /// What is known of a value.
    type Value: Copy + Debug;
    /// What is kept of an operation whose parts are being visited.
    type Own: Default + Debug;
    /// What holds in a part.
    type Held: Copy + Default + Debug;

    /// What is known of null.
    const NULL: Self::Value;
    /// Whether the parts of constants are visited.
    const OPENS_CONSTANTS: bool;

    /// Returns the stack.
    fn stack(&self) -> &StackOf<Self>;

    /// Returns the stack, to be changed.
    fn stack_mut(&mut self) -> &mut StackOf<Self>;

    /// Returns the names that parts bind and read.
    fn names(&mut self) -> &mut Names;

    /// Returns the value of a part without parts that are visited.
    fn constant(&mut self, source: &Document, node: Node, how: How) -> Self::Value;

    /// Returns the value of an operation that there is not.
    fn nothing(&mut self) -> Self::Value;

    /// Returns the value of a constant that is the current value.
    fn own_input(&mut self, source: &Document, node: Node) -> Self::Value;

    /// Returns what the first step of a pipe gets, of the current value around it.
    fn first_input(&self, input: Self::Value) -> Self::Value {
        input
    }

    /// Returns what is known of a value that a name is bound to.
    fn bound(&self, _name: NameId, value: Self::Value) -> Self::Value {
        value
    }

    /// Whether a value of an object is visited.
    fn visits_key(&mut self, _object: Node, _key: Option<&[u8]>) -> bool {
        true
    }

    /// Says what holds in a part of an operation.
    fn before(&mut self, source: &Document, shape: OpShape, part: &mut PartOf<Self>) -> Visiting;

    /// Begins a part: what holds in it holds from now on.
    fn enter(&mut self, part: &PartOf<Self>);

    /// Begins an operation, an object or a list.
    fn begun(&mut self, _what: What) {}

    /// Ends a part. `own` is what was kept of it. Returns whether its value is kept for that of the operation.
    fn after(
        &mut self,
        source: &Document,
        part: &PartOf<Self>,
        value: Self::Value,
        own: Self::Own,
    ) -> bool;

    /// Ends the program.
    fn ended(&mut self, _own: Self::Own) {}

    /// Returns the value of what has been visited.
    fn value(&mut self, source: &Document) -> Self::Value;
}
