//! What is known of a value: which parts of the data it is, or is made of.

mod join;
mod numbers;
mod reading;

pub use reading::FoundIn;

use super::formula::{Factor, FormulaId, Formulas, LoopId};
use super::sets::{Extent, SetId, Sets};
use super::sources::{SourceId, SourceRoot, SourceTree};
use crate::analysis::names::NameId;

/// The number of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueId(pub u32);

impl ValueId {
    /// A constant without parts, such as null.
    pub const CONSTANT: ValueId = ValueId(0);
    /// A constant that may have parts, or a value computed from constants.
    pub const FIXED: ValueId = ValueId(1);
}

/// A range of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableRange {
    start: u32,
    end: u32,
}

impl TableRange {
    fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// Computed from these parts; so is each part of it. Without parts it is a constant.
    Made(SetId),
    /// A part of the data; of the current item of a loop.
    At(SourceId, LoopId),
    /// An object with these fields; its other fields are those of another value.
    Object(TableRange, ValueId),
    /// A list whose items are like this one.
    List(ItemsOf),
    /// An object whose values are like this one, and the parts that its keys are made of.
    Named(ValueId, SetId),
    /// One of these.
    OneOf(TableRange),
    /// A value, and the parts that decide which one it is.
    Decided(ValueId, SetId),
}

/// What is known of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemsOf {
    /// An item.
    pub item: ValueId,
    /// The loop that gave the items, one or none in each of its rounds.
    pub of: Option<LoopId>,
    /// The least number of items.
    pub least: FormulaId,
    /// The largest number.
    pub most: FormulaId,
    /// What that number comes from: the lists that it is the number of items of, or what it is computed of.
    pub spine: SetId,
}

/// A value with the parts that flow into it.
#[derive(Debug, Clone, Copy)]
struct ValueFlows {
    value: Value,
    data: SetId,
    decides: SetId,
    depth: u8,
    /// Whether no part of it belongs to a loop.
    settled: bool,
    /// Whether it is an object that has all of its fields.
    whole: bool,
}

/// All values, and what they are made of.
#[derive(Debug)]
pub struct Values {
    /// The parts of the data.
    pub tree: SourceTree,
    /// Sets of these.
    pub sets: Sets,
    /// Formulas over these.
    pub formulas: Formulas,
    all: Vec<ValueFlows>,
    fields: Vec<(NameId, ValueId)>,
    members: Vec<ValueId>,
}

/// Maximum number of fields that are kept apart.
const MOST_FIELDS: usize = 256;
/// Number of fields that a program's objects may have together, and of more for each value.
const FIELDS: usize = 65_536;
const FIELDS_A_VALUE: usize = 8;
/// Maximum nesting depth of what is kept apart.
const DEEPEST: u8 = 24;
/// Maximum number of values that are made to join two of them.
const MOST_JOINED: usize = 256;

impl Default for Values {
    fn default() -> Self {
        let constant = ValueFlows {
            value: Value::Made(SetId::EMPTY),
            data: SetId::EMPTY,
            decides: SetId::EMPTY,
            depth: 0,
            settled: true,
            whole: false,
        };
        let mut all = Vec::with_capacity(64);
        all.extend([constant; 2]);
        Values {
            tree: SourceTree::default(),
            sets: Sets::default(),
            formulas: Formulas::default(),
            all,
            fields: Vec::new(),
            members: Vec::new(),
        }
    }
}

impl Values {
    /// Forgets all but the constants, and keeps the memory. Returns the words of that.
    pub(super) fn clear(&mut self) -> usize {
        self.all.truncate(2);
        self.fields.clear();
        self.members.clear();
        let own = 6 * self.all.capacity() + self.fields.capacity() + self.members.capacity() / 2;
        own + self.tree.clear() + self.sets.clear() + self.formulas.clear()
    }

    /// Returns the words that they take.
    pub fn words(&self) -> usize {
        let own = 6 * self.all.len() + self.fields.len() + self.members.len() / 2;
        own + self.tree.words() + self.sets.words() + self.formulas.words()
    }

    /// Returns a value.
    #[inline]
    pub fn get(&self, id: ValueId) -> Value {
        self.all[id.0 as usize].value
    }

    /// Returns the fields of an object.
    pub fn fields(&self, span: TableRange) -> &[(NameId, ValueId)] {
        &self.fields[span.range()]
    }

    /// Returns the parts that a value, or a part of it, is made of.
    #[inline]
    pub fn data(&self, id: ValueId) -> SetId {
        self.all[id.0 as usize].data
    }

    /// Returns the parts that decide which value it is.
    #[inline]
    pub fn decides(&self, id: ValueId) -> SetId {
        self.all[id.0 as usize].decides
    }

    /// Returns all parts that a value depends on.
    pub fn flows(&mut self, id: ValueId) -> SetId {
        let (data, decides) = (self.data(id), self.decides(id));
        self.both(data, decides)
    }

    /// Returns the parts of two sets.
    pub fn both(&mut self, a: SetId, b: SetId) -> SetId {
        self.sets.union(a, b, &mut self.tree)
    }

    fn add(&mut self, value: Value, data: SetId, decides: SetId, depth: u8) -> ValueId {
        let id = ValueId(self.all.len() as u32);
        let settled = self.settles(value);
        self.all.push(ValueFlows {
            value,
            data,
            decides,
            depth,
            settled,
            whole: false,
        });
        id
    }

    /// Returns whether no part of a value belongs to a loop.
    #[inline]
    pub fn is_settled(&self, id: ValueId) -> bool {
        self.all[id.0 as usize].settled
    }

    fn settles(&self, value: Value) -> bool {
        match value {
            Value::Made(_) => true,
            Value::At(_, of) => matches!(of, LoopId::ROOT | LoopId::LOST),
            Value::Object(span, rest) => {
                let fields = self.fields(span).iter().map(|field| field.1);
                self.is_settled(rest) && { fields }.all(|it| self.is_settled(it))
            }
            Value::List(items) => {
                let numbers = [items.least, items.most];
                let settled = |it: &FormulaId| self.formulas.is_settled(*it);
                items.of.is_none() && numbers.iter().all(settled) && self.is_settled(items.item)
            }
            Value::Named(item, _) | Value::Decided(item, _) => self.is_settled(item),
            Value::OneOf(span) => self.members[span.range()]
                .iter()
                .all(|it| self.is_settled(*it)),
        }
    }

    /// Returns a value that is computed from these parts.
    pub fn made(&mut self, data: SetId) -> ValueId {
        match data {
            SetId::EMPTY => ValueId::FIXED,
            data => self.add(Value::Made(data), data, SetId::EMPTY, 0),
        }
    }

    /// Returns a part of the data.
    pub fn at(&mut self, source: SourceId, of: LoopId) -> ValueId {
        let data = self.sets.one(source, Extent::Whole);
        self.add(Value::At(source, of), data, SetId::EMPTY, 0)
    }

    /// Returns a value of the data.
    pub fn root(&mut self, root: SourceRoot) -> ValueId {
        let source = self.tree.root(root);
        self.at(source, LoopId::ROOT)
    }

    /// Returns a value of which nothing is known.
    pub fn unknown(&mut self) -> ValueId {
        let source = self.tree.root(SourceRoot::Unknown);
        let data = self.sets.one(source, Extent::Whole);
        self.made(data)
    }

    /// Returns a value that is computed from all of these.
    pub fn computed(&mut self, of: &[ValueId]) -> ValueId {
        let (mut data, mut decides) = (SetId::EMPTY, SetId::EMPTY);
        for id in of {
            let (more, others) = (self.data(*id), self.decides(*id));
            data = self.both(data, more);
            decides = self.both(decides, others);
        }
        let made = self.made(data);
        self.decided(made, decides)
    }

    /// Returns a value that these parts decide.
    pub fn decided(&mut self, id: ValueId, by: SetId) -> ValueId {
        let known = self.all[id.0 as usize];
        let by = match known.value {
            _ if by == SetId::EMPTY => return id,
            Value::Decided(_, before) => self.both(before, by),
            _ => by,
        };
        let inner = match known.value {
            Value::Decided(inner, _) => inner,
            _ => id,
        };
        let decides = self.both(known.decides, by);
        self.add(Value::Decided(inner, by), known.data, decides, known.depth)
    }

    /// Returns a value without what decides it, and that.
    pub fn undecided(&self, id: ValueId) -> (ValueId, SetId) {
        match self.get(id) {
            Value::Decided(inner, by) => (inner, by),
            _ => (id, SetId::EMPTY),
        }
    }

    /// Returns an object with these fields; a later one of a name wins. Its other fields are those of `rest`.
    pub fn object(&mut self, mut fields: Vec<(NameId, ValueId)>, rest: ValueId) -> ValueId {
        fields.reverse();
        fields.sort_by_key(|field| field.0);
        fields.dedup_by_key(|field| field.0);
        let mut all: Vec<ValueId> = fields.iter().map(|field| field.1).collect();
        all.push(rest);
        let (data, decides, depth) = self.inside(&all);
        let room = FIELDS + FIELDS_A_VALUE * self.all.len();
        if fields.len() > MOST_FIELDS || depth > DEEPEST || self.fields.len() > room {
            return self.collapsed(data, decides);
        }
        let start = self.fields.len() as u32;
        self.fields.extend(fields);
        let end = self.fields.len() as u32;
        let value = Value::Object(TableRange { start, end }, rest);
        self.add(value, data, decides, depth)
    }

    /// Returns an object that has all of these fields; that of [`Values::object`] may be without some.
    pub fn whole_object(&mut self, fields: Vec<(NameId, ValueId)>, rest: ValueId) -> ValueId {
        let id = self.object(fields, rest);
        let is_object = matches!(self.get(id), Value::Object(..));
        self.all[id.0 as usize].whole |= is_object;
        id
    }

    /// Returns an object that has all of these fields, or may be without some.
    pub fn object_if(
        &mut self,
        whole: bool,
        fields: Vec<(NameId, ValueId)>,
        rest: ValueId,
    ) -> ValueId {
        match whole {
            true => self.whole_object(fields, rest),
            false => self.object(fields, rest),
        }
    }

    /// Whether a value is an object that has all of its fields.
    pub fn is_whole(&self, id: ValueId) -> bool {
        self.all[id.0 as usize].whole
    }

    /// Returns what flows into values, and the depth of what contains them.
    fn inside(&mut self, of: &[ValueId]) -> (SetId, SetId, u8) {
        let (mut data, mut decides, mut depth) = (SetId::EMPTY, SetId::EMPTY, 0);
        for id in of {
            let known = self.all[id.0 as usize];
            data = self.both(data, known.data);
            decides = self.both(decides, known.decides);
            depth = depth.max(known.depth + 1);
        }
        (data, decides, depth)
    }

    fn collapsed(&mut self, data: SetId, decides: SetId) -> ValueId {
        let made = self.made(data);
        self.decided(made, decides)
    }

    /// Returns a list. What its number of items comes from decides about it, and flows with it, because whoever sees the list can
    /// count it.
    pub fn list(&mut self, items: ItemsOf) -> ValueId {
        let known = self.all[items.item.0 as usize];
        let decides = self.both(known.decides, items.spine);
        let counted = self.sets.items(items.spine);
        let data = self.both(known.data, counted);
        if known.depth >= DEEPEST {
            return self.collapsed(data, decides);
        }
        self.add(Value::List(items), data, decides, known.depth + 1)
    }

    /// Returns a list of a number of items, as a program has it.
    pub fn list_of(&mut self, item: ValueId, count: usize) -> ValueId {
        let count = self.formulas.number(count as u64);
        self.list(ItemsOf {
            item,
            of: None,
            least: count,
            most: count,
            spine: SetId::EMPTY,
        })
    }

    /// Returns an object whose values are like this one, and whose keys are made of these parts.
    pub fn named(&mut self, item: ValueId, keys: SetId) -> ValueId {
        let known = self.all[item.0 as usize];
        let data = self.both(known.data, keys);
        if known.depth >= DEEPEST {
            return self.collapsed(data, known.decides);
        }
        let value = Value::Named(item, keys);
        self.add(value, data, known.decides, known.depth + 1)
    }

    /// Returns the number of items at a part of the data.
    pub fn count(&mut self, source: SourceId, of: LoopId) -> FormulaId {
        self.formulas.factor(Factor::Count(source, of))
    }
}
