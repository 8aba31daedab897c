//! The interface for writing an operation's plan: its fields and their checks. Its steps are in `steps.rs`.

use super::compiler::Compiler;
use super::given::{place_of, Given, MOST_FIELDS};
use super::pattern::Patterns;
use super::{Failure, Scope, INPUT_NAME};
use crate::code::{ConstId, Slot};
use crate::edition::Edition;
use crate::fault::{Code, Fault};
use crate::opcode::OpCode;
use crate::ops::Field;
use crate::shape::{Leaf, OpShape};
use ptc_json::{Document, Node, Shape, ADDED};

/// The result of a check.
pub type Checked<T> = Result<T, Failure>;

/// Bytes that count like one part.
const BYTES_A_PART: usize = 64;

/// Keys and values.
type Pairs = Vec<(Node, Node)>;

/// The plan of one operation. Checks run at once; steps run later, in the order they are added.
pub struct Plan<'p, 's> {
    pub(super) compiler: &'p mut Compiler<'s>,
    /// The operation's part of the source.
    pub node: Node,
    /// Which operation it is.
    pub op: OpCode,
    /// Its scope.
    pub scope: Scope,
    /// Whether the part is an object that names no operation.
    pub implicit: bool,
    /// The table of its fields.
    known: &'static [Field],
    /// The fields that are given, in the order of the table.
    fields: [Option<Node>; MOST_FIELDS],
    /// The index of the plan's first step among the remaining steps.
    pub(super) first: usize,
}

impl<'p, 's> Plan<'p, 's> {
    pub(super) fn new(
        compiler: &'p mut Compiler<'s>,
        node: Node,
        given: Given,
        scope: Scope,
        implicit: bool,
    ) -> Self {
        let op = given.op;
        Plan {
            fields: given.fields,
            known: op.fields(compiler.walk.edition),
            first: compiler.walk.todo.len(),
            compiler,
            node,
            op,
            scope,
            implicit,
        }
    }

    /// Returns the edition of the program.
    pub fn edition(&self) -> Edition {
        self.compiler.walk.edition
    }

    /// Notes that the program calls tools.
    pub fn note_call(&mut self) {
        self.compiler.walk.calls_tools = true;
    }

    /// Returns the source, for queries without a helper here.
    pub fn source(&self) -> &'s Document<'s> {
        self.compiler.source
    }

    // Fields and their checks

    /// Returns the field if it exists.
    pub fn field(&self, name: &'static str) -> Option<Node> {
        match self.place(name) {
            Some(place) => self.fields[place],
            None => self.compiler.source.field(self.node, name),
        }
    }

    /// Returns the table of the operation's fields.
    pub(super) fn known(&self) -> &'static [Field] {
        self.known
    }

    /// Returns the field at an index in the operation's table, if it exists.
    pub(super) fn field_at(&self, place: usize) -> Option<Node> {
        self.fields[place]
    }

    /// Returns the index of a field in the operation's table.
    fn place(&self, name: &str) -> Option<usize> {
        // Equal literals are usually stored once, so comparing addresses is enough to find most names.
        let is_it = |field: &Field| std::ptr::eq(field.name, name);
        let place = self.known.iter().position(is_it);
        place.or_else(|| place_of(self.known, name.as_bytes()))
    }

    /// Returns the field if it exists and is not `nil`.
    pub fn non_null(&self, name: &'static str) -> Option<Node> {
        self.field(name)
            .filter(|node| self.shape(*node) != Shape::Null)
    }

    /// Returns whether a part is a string or an integer so long that reading it must be
    /// counted.
    pub fn is_long(&self, node: Node) -> bool {
        self.compiler.source.is_long(node)
    }

    /// Returns the kind of a part.
    pub fn shape(&self, node: Node) -> Shape {
        self.compiler.source.shape(node)
    }

    /// Checks that the field exists.
    pub fn required(&self, name: &'static str) -> Checked<()> {
        match self.field(name) {
            Some(_) => Ok(()),
            None => self.report(Code::FieldMissing, name, vec![]),
        }
    }

    /// Returns the members of a list field; empty if the field is missing. In an unchecked part the
    /// field may be no list: then the plan ends with a step that fails.
    pub fn list(&mut self, name: &'static str) -> Checked<Option<Vec<Node>>> {
        match self.field(name) {
            None => Ok(Some(vec![])),
            Some(node) if self.is_list(node) => Ok(Some(self.elements(node)?)),
            Some(node) => {
                self.fail(Code::UncheckedNotList, name, node);
                Ok(None)
            }
        }
    }

    /// Returns whether a list field holds a list; in a checked part this was checked before.
    pub fn is_list(&self, node: Node) -> bool {
        self.scope.checked || self.shape(node) == Shape::List
    }

    /// Returns the elements of a list.
    pub fn elements(&mut self, list: Node) -> Checked<Vec<Node>> {
        let elements: Vec<Node> = self.compiler.source.elements(list).collect();
        self.compiler.count(elements.len())?;
        Ok(elements)
    }

    /// Returns the entries of a map, in ascending order of the keys.
    pub fn entries(&mut self, map: Node) -> Checked<Pairs> {
        self.compiler.sorted_entries(map)
    }

    /// Counts the reading of this many bytes, for a hash for example.
    pub fn consume_fuel_for_bytes(&mut self, bytes: usize) -> Checked<()> {
        self.compiler.count(bytes / BYTES_A_PART)
    }

    /// Ends the walk in a checked part; in an unchecked part the error is ignored here and found
    /// during evaluation.
    pub fn report(&self, code: Code, field: &'static str, terms: Vec<Node>) -> Checked<()> {
        match self.scope.checked {
            false => Ok(()),
            true => Err(Failure::Rejected(
                Fault::new(code, Some(self.op.name()), terms).about(field),
            )),
        }
    }

    /// Ends the walk: a mistake in what edition 2 brought. It also counts in a part that is not checked.
    pub fn reject(&self, code: Code, phrase: &'static str, terms: Vec<Node>) -> Checked<()> {
        let fault = Fault::new(code, Some(self.op.name()), terms);
        Err(Failure::Rejected(fault.about(phrase)))
    }

    /// Ends the walk if two of the forms of an operation are given. The phrase names them:
    /// `"'field' or 'expr', not both"`.
    pub fn not_both(&self, forms: [&'static str; 2], phrase: &'static str) -> Checked<()> {
        let given = |name: &&'static str| self.field(name).is_some();
        match self.edition() == Edition::Two && forms.iter().all(given) {
            true => self.reject(Code::Accepts, phrase, vec![]),
            false => Ok(()),
        }
    }

    /// Returns the scope of a field: one that edition 2 brought is checked.
    pub fn scope_of(&self, name: &str, scope: Scope) -> Scope {
        let is_new = |place: Option<usize>| match place {
            Some(place) => self.op.new_fields() >> place & 1 == 1,
            None => true,
        };
        match !scope.checked && self.edition() == Edition::Two && is_new(self.place(name)) {
            true => scope.checked(),
            false => scope,
        }
    }

    /// Returns the patterns of the program.
    pub(super) fn patterns(&mut self) -> &mut Patterns {
        self.compiler.walk.patterns.get_or_insert_default()
    }

    /// Counts work that is not a part of the program.
    pub(super) fn consume_fuel(&mut self, units: usize) -> Checked<()> {
        self.compiler.consume_at_once(units)
    }

    // Constants and slots

    /// Returns the field as a constant; `nil` if it is missing.
    pub fn constant_of(&mut self, name: &'static str) -> ConstId {
        let value = self.field(name).unwrap_or(self.nil());
        self.compiler.constant(value)
    }

    /// Returns the constant `nil`, for an omitted part.
    pub fn nil(&self) -> Node {
        self.compiler.walk.omitted
    }

    /// Returns one of the strings of [`ADDED`].
    pub fn added(&self, text: &'static str) -> Node {
        let place = ADDED.iter().position(|added| *added == text);
        self.compiler.walk.omitted + 5 + place.unwrap_or(0) as Node
    }

    /// Returns the constant 0.
    pub fn zero(&self) -> Node {
        self.compiler.walk.omitted + 1
    }

    /// Returns the constant `{}`.
    pub fn empty_map(&self) -> Node {
        self.compiler.walk.omitted + 2
    }

    /// Adds a constant.
    pub fn constant(&mut self, value: Node) -> ConstId {
        self.compiler.constant(value)
    }

    /// Adds consecutive constants; returns the index of the first one.
    pub fn constants(&mut self, parts: impl Iterator<Item = Node>) -> ConstId {
        let first = self.compiler.walk.consts.len() as ConstId;
        self.compiler.walk.consts.extend(parts);
        first
    }

    /// Reserves a slot for the rest of this operation.
    pub fn take_slot(&mut self) -> Slot {
        self.compiler.take_slot(&mut self.scope)
    }

    /// Reserves a slot for the rest of a body.
    pub fn take_slot_in(&mut self, scope: &mut Scope) -> Slot {
        self.compiler.take_slot(scope)
    }

    /// Returns whether the program is observed.
    pub fn is_observed(&self) -> bool {
        self.compiler.walk.observer.is_some()
    }

    /// Returns the slot of the innermost `let` of this name.
    pub fn binding(&self, name: &[u8]) -> Option<Slot> {
        self.compiler.walk.bindings.slot(name)
    }

    /// Returns whether a part names the current value.
    pub fn names_input(&self, node: Node) -> bool {
        names_input(self.compiler.source, node)
    }

    /// Returns whether fields that an operation does not have are errors.
    pub(super) fn is_strict(&self) -> bool {
        self.compiler.walk.strict
    }
}

/// Returns whether a part names the current value: `{"op": "var", "name": "__input"}`.
pub(crate) fn names_input(source: &Document, node: Node) -> bool {
    let text = |name| source.field(node, name).and_then(|part| source.text(part));
    let op = text("op").and_then(|name| OpCode::from_name(name, Edition::One));
    source.is_map(node)
        && op.map(OpCode::shape) == Some(OpShape::Leaf(Leaf::Name))
        && text("name") == Some(INPUT_NAME.as_bytes())
}
