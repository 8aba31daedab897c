//! What the rules of operations use: their fields, and the types of their parts.

use super::ty::{FieldTy, TyId, Types};
use super::walk::{Facts, TypeOwn, TypePart, TypeWalk};
use crate::analysis::names::NameId;
use crate::analysis::What;
use crate::edition::Edition;
use crate::opcode::OpCode;
use crate::ops::FieldKind;
use ptc_json::{Document, Entry, Node};

/// One call of the rule of an operation: before a part, after a part, or for its value.
pub struct Rule<'r> {
    pub(crate) walk: &'r mut TypeWalk,
    pub(crate) source: &'r Document<'r>,
    /// The current value.
    pub(crate) current: TyId,
    /// The part of the program.
    pub(crate) node: Node,
    /// What the truth of the operation says about the current value.
    pub(crate) facts: Option<Facts>,
}

impl<'r> Rule<'r> {
    pub(super) fn new(walk: &'r mut TypeWalk, source: &'r Document<'r>) -> Self {
        let (current, node) = match walk.stack.frames.last() {
            Some(frame) => (frame.input, frame.node),
            None => (TyId::UNKNOWN, 0),
        };
        Rule {
            walk,
            source,
            current,
            node,
            facts: None,
        }
    }

    // The operation

    pub(crate) fn types(&mut self) -> &mut Types {
        &mut self.walk.types
    }

    /// What is kept of the operation.
    pub(crate) fn own(&mut self) -> &mut TypeOwn {
        let last = self.walk.stack.frames.len() - 1;
        &mut self.walk.stack.frames[last].own
    }

    /// The type of the part that was visited last.
    pub(crate) fn last(&self) -> TyId {
        self.walk.stack.last
    }

    /// The type of the only part of a field, unknown if it is not given.
    pub(crate) fn part(&self, name: &str) -> TyId {
        self.walk.stack.part_in(name).unwrap_or(TyId::UNKNOWN)
    }

    /// The type of a body that is evaluated for each item of a list.
    pub(crate) fn body(&self, name: &str, item: TyId) -> TyId {
        match item {
            TyId::NEVER => TyId::NEVER,
            _ => self.part(name),
        }
    }

    /// Adds the type of a part to that of all. The part itself is not kept.
    pub(crate) fn join_all(&mut self, ty: TyId) -> bool {
        let all = self.own().all;
        self.own().all = self.types().union(all, ty);
        false
    }

    /// What stands at the part whose parts are visited.
    pub(super) fn what(&self) -> Option<What> {
        self.walk.stack.frames.last().map(|frame| frame.what)
    }

    pub(crate) fn op(&self) -> Option<OpCode> {
        self.walk.stack.op()
    }

    pub(crate) fn is_implicit(&self) -> bool {
        matches!(self.what(), Some(What::Op(_, true)))
    }

    /// Returns whether a value of this type can be a decimal, with which other numbers become decimals.
    pub(crate) fn may_be_decimal(&self, ty: TyId) -> bool {
        self.walk.values && ty == TyId::UNKNOWN
    }

    pub(crate) fn edition(&self) -> Edition {
        self.walk.stack.edition
    }

    /// Returns a field of the operation.
    pub(crate) fn field(&self, name: &'static str) -> Option<Node> {
        self.walk.stack.field(name)
    }

    /// Returns the names of the two fields that hold operands.
    pub(crate) fn operands(&self) -> [&'static str; 2] {
        let fields = self.op().map_or(&[][..], |op| op.fields(self.edition()));
        let mut operands = fields.iter().filter(|it| it.kind == FieldKind::Operand);
        [(); 2].map(|()| operands.next().map_or("", |it| it.name))
    }

    /// Returns the text in a field.
    pub(crate) fn text(&self, name: &'static str) -> Option<&'r [u8]> {
        self.source.text(self.field(name)?)
    }

    /// Returns the name in a field.
    pub(crate) fn name(&mut self, name: &'static str) -> Option<NameId> {
        let text = self.text(name)?;
        Some(self.walk.types.names.id(text))
    }

    /// Returns the truth value in a field.
    pub(crate) fn boolean(&self, name: &'static str) -> Option<bool> {
        match self.source.entry(self.field(name)?) {
            Entry::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the part that a finding about a field of the operation names.
    pub(crate) fn place(&self, name: &'static str) -> Node {
        self.field(name).unwrap_or(self.node)
    }

    // Parts

    /// Says that a body is evaluated once for each item. A list whose items have no type has none.
    pub(crate) fn of_item(&self, part: &mut TypePart, item: TyId) {
        (part.input, part.given, part.held.each) = (item, true, true);
        part.held.dead |= item == TyId::NEVER;
    }

    /// Returns the fields of the object whose values have been visited.
    pub(crate) fn fields(&mut self) -> Vec<FieldTy> {
        let walk = &mut *self.walk;
        let mut fields = Vec::with_capacity(walk.stack.parts().len());
        for part in walk.stack.parts() {
            if let Some(text) = self.source.text(part.key) {
                fields.push(FieldTy {
                    name: walk.types.names.id(text),
                    ty: part.value,
                    optional: false,
                    from: 0,
                });
            }
        }
        fields
    }

    /// The type of an object whose values have been visited.
    pub(crate) fn object(&mut self) -> TyId {
        let mut fields = self.fields();
        self.types().object(&mut fields, false)
    }

    /// The type of an object or a list that names no operation.
    pub(super) fn data(&mut self) -> TyId {
        match self.source.entry(self.node) {
            Entry::Object(..) => self.object(),
            _ => {
                let items = self.own().all;
                self.types().list(items)
            }
        }
    }
}
