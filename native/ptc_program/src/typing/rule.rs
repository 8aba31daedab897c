//! What the rules of operations use: their fields, and the parts that are visited.
//!
//! A rule is called once at the start and again after each part that it visits. [`Rule::stage`] counts these.

use super::names::NameId;
use super::ty::{FieldTy, TyId, Types};
use super::walk::{Facts, Frame, How, Next, TypeWalk, Visit, What, ABSENT};
use crate::compile::INPUT_NAME;
use crate::edition::Edition;
use crate::opcode::OpCode;
use crate::ops::{Field, FieldKind};
use ptc_json::{Document, Entry, Node};

/// One call of the rule of an operation.
pub struct Rule<'r> {
    pub(crate) walk: &'r mut TypeWalk,
    pub(crate) source: &'r Document<'r>,
    /// How many parts have been visited.
    pub(crate) stage: u32,
    /// The current value.
    pub(crate) current: TyId,
    /// The part of the program.
    pub(crate) node: Node,
    /// What the truth of the operation says about the current value.
    pub(crate) facts: Option<Facts>,
}

impl<'r> Rule<'r> {
    pub(super) fn new(walk: &'r mut TypeWalk, source: &'r Document<'r>) -> Self {
        let (stage, current, node) = match walk.frames.last() {
            Some(frame) => (frame.stage, frame.input, frame.node),
            None => (0, TyId::UNKNOWN, 0),
        };
        Rule {
            walk,
            source,
            stage,
            current,
            node,
            facts: None,
        }
    }

    // The operation

    pub(crate) fn types(&mut self) -> &mut Types {
        &mut self.walk.types
    }

    fn frame(&mut self) -> &mut Frame {
        let last = self.walk.frames.len() - 1;
        &mut self.walk.frames[last]
    }

    /// The type of the part that was visited last.
    pub(crate) fn last(&self) -> TyId {
        self.walk.last
    }

    /// The same for a body that is evaluated for each item of a list.
    pub(crate) fn last_for(&self, item: TyId) -> TyId {
        match item {
            TyId::NEVER => TyId::NEVER,
            _ => self.walk.last,
        }
    }

    /// A type that the rule keeps from one call to the next.
    pub(crate) fn kept(&mut self, place: usize) -> &mut TyId {
        &mut self.frame().kept[place]
    }

    /// A number that the rule keeps.
    pub(crate) fn number(&mut self) -> &mut u32 {
        &mut self.frame().number
    }

    pub(crate) fn op(&self) -> Option<OpCode> {
        match self.walk.frames.last().map(|frame| frame.what) {
            Some(What::Op(op, _)) => Some(op),
            _ => None,
        }
    }

    pub(crate) fn is_implicit(&self) -> bool {
        let what = self.walk.frames.last().map(|frame| frame.what);
        matches!(what, Some(What::Op(_, true)))
    }

    /// Returns whether a value of this type can be a decimal, with which other numbers become decimals.
    pub(crate) fn may_be_decimal(&self, ty: TyId) -> bool {
        self.walk.values && ty == TyId::UNKNOWN
    }

    pub(crate) fn edition(&self) -> Edition {
        self.walk.edition
    }

    /// Returns a field of the operation.
    pub(crate) fn field(&self, name: &'static str) -> Option<Node> {
        let fields = self.op()?.fields(self.walk.edition);
        // Equal literals are usually stored once, so comparing addresses is enough to find most names.
        let is_it = |field: &Field| std::ptr::eq(field.name, name);
        let place = fields.iter().position(is_it);
        let place = place.or_else(|| fields.iter().position(|field| field.name == name))?;
        let node = self.walk.frames.last()?.fields[place];
        (node != ABSENT).then_some(node)
    }

    /// Returns the names of the two fields that hold operands.
    pub(crate) fn operands(&self) -> [&'static str; 2] {
        let fields = self.op().map_or(&[][..], |op| op.fields(self.walk.edition));
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

    /// Visits a field as the operation's table says it is read. A missing one is unknown.
    pub(crate) fn visit(&mut self, name: &'static str, how: How) -> Next {
        match self.visit_of(name, how) {
            Some(visit) => Next::Visit(visit),
            None => self.absent(),
        }
    }

    /// Goes on without a part.
    pub(crate) fn absent(&mut self) -> Next {
        Next::Is(TyId::UNKNOWN)
    }

    /// Returns the visit of a field, to be changed.
    pub(crate) fn visit_of(&self, name: &'static str, how: How) -> Option<Visit> {
        let node = self.field(name)?;
        let how = match (how, self.walk.edition) {
            (How::Template, Edition::One) => How::Expr,
            (How::Value, Edition::Two) => How::Template,
            _ => how,
        };
        Some(Visit::new(node, how, self.current))
    }

    /// Visits a body once for each item of a list.
    pub(crate) fn each(&mut self, name: &'static str, item: TyId) -> Next {
        match self.visit_of(name, How::Expr) {
            Some(visit) => Next::Visit(self.of_item(visit, item)),
            None => self.absent(),
        }
    }

    /// The same for a body whose item has a name, too.
    pub(crate) fn each_named(&mut self, name: &'static str, item: TyId) -> Next {
        let bound = match self.walk.edition {
            Edition::One => None,
            Edition::Two => self.name("as"),
        };
        match self.visit_of(name, How::Expr) {
            Some(visit) => {
                let mut visit = self.of_item(visit, item);
                visit.binds[0] = bound.map(|name| (name, item));
                Next::Visit(visit)
            }
            None => self.absent(),
        }
    }

    /// A body that is evaluated once for each item. A list whose items have no type has none.
    pub(crate) fn of_item(&self, visit: Visit, item: TyId) -> Visit {
        Visit {
            input: item,
            given: true,
            each: true,
            dead: visit.dead || item == TyId::NEVER,
            ..visit
        }
    }

    /// Returns the next element of a list; the first call names the list.
    pub(crate) fn next_element(&mut self, list: Option<Node>) -> Option<Node> {
        let source = self.source;
        let frame = self.frame();
        if frame.at == ABSENT {
            let list = list?;
            let Entry::List(_, count) = source.entry(list) else {
                return None;
            };
            (frame.at, frame.left) = (list + 1, count);
        }
        if frame.left == 0 {
            return None;
        }
        let element = frame.at;
        frame.left -= 1;
        frame.at = source.end(element);
        Some(element)
    }

    /// Returns the next key and value of an object; the first call names the object.
    pub(crate) fn next_pair(&mut self, object: Option<Node>) -> Option<(Node, Node)> {
        let source = self.source;
        let implicit = self.is_implicit();
        let frame = self.frame();
        if frame.at == ABSENT {
            let Entry::Object(_, count) = source.entry(object?) else {
                return None;
            };
            (frame.at, frame.left) = (object? + 1, count);
        }
        while frame.left > 0 {
            let key = frame.at;
            frame.left -= 1;
            frame.at = source.end(key + 1);
            // The current value of an object that names no operation is no field of it.
            if !implicit || source.text(key) != Some(INPUT_NAME.as_bytes()) {
                return Some((key, key + 1));
            }
        }
        None
    }

    /// Adds the value that was visited last to the fields of the object that is being read.
    pub(crate) fn add_part(&mut self, key: Node, from: u32) {
        let ty = self.last();
        if let Some(text) = self.source.text(key) {
            let name = self.walk.types.names.id(text);
            self.walk.parts.push(FieldTy {
                name,
                ty,
                optional: false,
                from,
            });
        }
    }

    /// Returns the fields of the object that was read.
    pub(crate) fn take_parts(&mut self) -> Vec<FieldTy> {
        let first = self.frame().parts as usize;
        self.walk.parts.split_off(first)
    }

    /// Reads an object whose values are parts. `None` when they have all been read.
    pub(crate) fn object(&mut self, object: Option<Node>, how: How, input: TyId) -> Option<Visit> {
        if self.stage > 0 {
            let key = *self.number();
            self.add_part(key, 0);
        }
        let (key, value) = self.next_pair(object)?;
        *self.number() = key;
        Some(Visit::new(value, how, input))
    }

    /// The rule of an object or a list that names no operation.
    pub(super) fn data(&mut self, how: How) -> Next {
        let (node, current) = (self.node, self.current);
        match self.source.entry(node) {
            Entry::Object(..) => match self.object(Some(node), how, current) {
                Some(visit) => Next::Visit(visit),
                None => {
                    let mut parts = self.take_parts();
                    Next::Is(self.types().object(&mut parts, false))
                }
            },
            _ => self.list(Some(node), how),
        }
    }

    /// Reads a list of parts; its type is a list of theirs.
    pub(crate) fn list(&mut self, list: Option<Node>, how: How) -> Next {
        if self.stage > 0 {
            let (items, last) = (*self.kept(0), self.last());
            *self.kept(0) = self.types().union(items, last);
        }
        let current = self.current;
        match self.next_element(list) {
            Some(element) => Next::Visit(Visit::new(element, how, current)),
            None => {
                let items = *self.kept(0);
                Next::Is(self.types().list(items))
            }
        }
    }
}
