//! What is known of a value: which parts of the data it is, or is made of.

use super::formula::{Factor, FormulaId, Formulas, LoopId};
use super::sets::{SetId, Sets};
use super::sources::{PathStep, Root, SourceId, SourceTree};
use crate::typing::names::NameId;

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
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
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
    Object(Span, ValueId),
    /// A list whose items are like this one.
    List(ItemsOf),
    /// An object whose values are like this one.
    Named(ValueId),
    /// One of these.
    OneOf(Span),
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
    /// What that number depends on.
    pub spine: SetId,
}

/// A value with the parts that flow into it.
#[derive(Debug, Clone, Copy)]
struct Known {
    value: Value,
    data: SetId,
    decides: SetId,
    depth: u8,
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
    all: Vec<Known>,
    fields: Vec<(NameId, ValueId)>,
    members: Vec<ValueId>,
}

/// Maximum number of values of which a value is one.
const MOST_MEMBERS: usize = 8;
/// Maximum number of fields that are kept apart.
const MOST_FIELDS: usize = 256;
/// Maximum nesting depth of what is kept apart.
const DEEPEST: u8 = 24;
/// Maximum nesting depth to which objects are joined field by field.
const DEEPEST_JOIN: usize = 4;
/// Maximum number of values that are made to join two of them.
const MOST_JOINED: usize = 256;

impl Default for Values {
    fn default() -> Self {
        let constant = Known {
            value: Value::Made(SetId::EMPTY),
            data: SetId::EMPTY,
            decides: SetId::EMPTY,
            depth: 0,
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
    /// Returns the words that they take.
    pub fn words(&self) -> usize {
        let own = 5 * self.all.len() + self.fields.len() + self.members.len() / 2;
        own + self.tree.words() + self.sets.words() + self.formulas.words()
    }

    /// Returns a value.
    #[inline]
    pub fn get(&self, id: ValueId) -> Value {
        self.all[id.0 as usize].value
    }

    /// Returns the fields of an object.
    pub fn fields(&self, span: Span) -> &[(NameId, ValueId)] {
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
        self.all.push(Known {
            value,
            data,
            decides,
            depth,
        });
        id
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
        let data = self.sets.one(source, true);
        self.add(Value::At(source, of), data, SetId::EMPTY, 0)
    }

    /// Returns a value of the data.
    pub fn root(&mut self, root: Root) -> ValueId {
        let source = self.tree.root(root);
        self.at(source, LoopId::ROOT)
    }

    /// Returns a value of which nothing is known.
    pub fn unknown(&mut self) -> ValueId {
        let source = self.tree.root(Root::Unknown);
        let data = self.sets.one(source, true);
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
        if fields.len() > MOST_FIELDS || depth > DEEPEST {
            return self.collapsed(data, decides);
        }
        let start = self.fields.len() as u32;
        self.fields.extend(fields);
        let end = self.fields.len() as u32;
        let value = Value::Object(Span { start, end }, rest);
        self.add(value, data, decides, depth)
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

    /// Returns a list. What its number of items depends on decides about it.
    pub fn list(&mut self, items: ItemsOf) -> ValueId {
        let known = self.all[items.item.0 as usize];
        let decides = self.both(known.decides, items.spine);
        if known.depth >= DEEPEST {
            return self.collapsed(known.data, decides);
        }
        self.add(Value::List(items), known.data, decides, known.depth + 1)
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

    /// Returns an object whose values are like this one.
    pub fn named(&mut self, item: ValueId) -> ValueId {
        let known = self.all[item.0 as usize];
        if known.depth >= DEEPEST {
            return self.collapsed(known.data, known.decides);
        }
        self.add(
            Value::Named(item),
            known.data,
            known.decides,
            known.depth + 1,
        )
    }

    /// Returns a value that is one of two.
    pub fn join(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let mut left = MOST_JOINED;
        self.joined(a, b, DEEPEST_JOIN, &mut left)
    }

    // It calls itself at most to the depth that it is given.
    fn joined(&mut self, a: ValueId, b: ValueId, depth: usize, left: &mut usize) -> ValueId {
        if a == b || b == ValueId::CONSTANT {
            return a;
        }
        if a == ValueId::CONSTANT {
            return b;
        }
        let ((one, first), (other, second)) = (self.undecided(a), self.undecided(b));
        let by = self.both(first, second);
        *left = left.saturating_sub(1);
        let joined = match (self.get(one), self.get(other)) {
            _ if depth == 0 || *left == 0 => {
                let (data, decides, _) = self.inside(&[one, other]);
                return self.collapsed(data, decides);
            }
            (Value::Made(a), Value::Made(b)) => {
                let data = self.both(a, b);
                self.made(data)
            }
            (Value::At(a, of), Value::At(b, by)) if a == b => match of == by {
                true => one,
                false => self.at(a, LoopId::LOST),
            },
            (Value::Object(a, rest), Value::Object(b, more)) => {
                let mut names: Vec<NameId> = self.fields(a).iter().map(|field| field.0).collect();
                names.extend(self.fields(b).iter().map(|field| field.0));
                names.sort_unstable();
                names.dedup();
                let mut fields = Vec::with_capacity(names.len());
                for name in names {
                    let (a, b) = (self.field(one, name), self.field(other, name));
                    fields.push((name, self.joined(a, b, depth - 1, left)));
                }
                let rest = self.joined(rest, more, depth - 1, left);
                self.object(fields, rest)
            }
            (Value::List(a), Value::List(b)) => {
                let item = self.joined(a.item, b.item, depth - 1, left);
                let least = self.formulas.smaller(a.least, b.least);
                let most = self.formulas.larger(a.most, b.most);
                let spine = self.both(a.spine, b.spine);
                self.list(ItemsOf {
                    item,
                    of: None,
                    least,
                    most,
                    spine,
                })
            }
            (Value::Named(a), Value::Named(b)) => {
                let item = self.joined(a, b, depth - 1, left);
                self.named(item)
            }
            _ => self.one_of(one, other),
        };
        self.decided(joined, by)
    }

    fn one_of(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let mut all = Vec::with_capacity(4);
        for id in [a, b] {
            match self.get(id) {
                Value::OneOf(span) => all.extend_from_slice(&self.members[span.range()]),
                _ => all.push(id),
            }
        }
        all.sort_unstable();
        all.dedup();
        let (data, decides, depth) = self.inside(&all);
        if all.len() > MOST_MEMBERS || depth > DEEPEST {
            return self.collapsed(data, decides);
        }
        let start = self.members.len() as u32;
        self.members.extend(all);
        let end = self.members.len() as u32;
        self.add(Value::OneOf(Span { start, end }), data, decides, depth)
    }

    /// Returns the values of which a value is one; itself, if it is no such value.
    pub fn members(&self, id: ValueId) -> Vec<ValueId> {
        match self.get(id) {
            Value::OneOf(span) => self.members[span.range()].to_vec(),
            _ => vec![id],
        }
    }

    /// Returns the value at a key of an object.
    pub fn field(&mut self, of: ValueId, name: NameId) -> ValueId {
        self.each_member(of, |values, member| match values.get(member) {
            Value::At(source, of) => values.step(source, PathStep::Key(name), of),
            Value::Object(span, rest) => {
                let fields = values.fields(span);
                match fields.binary_search_by_key(&name, |field| field.0) {
                    Ok(at) => Found::Is(fields[at].1),
                    Err(_) => Found::In(rest),
                }
            }
            Value::Named(item) => Found::Is(item),
            Value::List(_) => Found::Is(ValueId::CONSTANT),
            _ => Found::Is(member),
        })
    }

    /// Returns any of the values that a value contains.
    pub fn any(&mut self, of: ValueId) -> ValueId {
        self.each_member(of, |values, member| match values.get(member) {
            Value::At(source, _) => values.step(source, PathStep::Each, LoopId::LOST),
            Value::Object(span, rest) => {
                let fields: Vec<_> = values.fields(span).iter().map(|field| field.1).collect();
                let mut all = ValueId::CONSTANT;
                for field in fields {
                    all = values.join(all, field);
                }
                match rest {
                    ValueId::CONSTANT => Found::Is(all),
                    rest => Found::Or(all, rest),
                }
            }
            Value::Named(item) => Found::Is(item),
            Value::List(items) => Found::Is(items.item),
            _ => Found::Is(member),
        })
    }

    /// Returns the part at a step, of a loop's current item.
    pub fn step(&mut self, source: SourceId, step: PathStep, of: LoopId) -> Found {
        Found::Is(match self.tree.inside(source, step) {
            Some(inside) => self.at(inside, of),
            None => {
                let data = self.sets.one(source, true);
                self.made(data)
            }
        })
    }

    /// Does the same for each of the values that a value may be; the results are joined.
    fn each_member(
        &mut self,
        of: ValueId,
        mut find: impl FnMut(&mut Values, ValueId) -> Found,
    ) -> ValueId {
        let (mut todo, mut by, mut all) = (vec![of], SetId::EMPTY, ValueId::CONSTANT);
        let mut left = MOST_JOINED;
        while let Some(next) = todo.pop() {
            left -= 1;
            if left == 0 {
                return self.computed(&[of]);
            }
            let (next, decides) = self.undecided(next);
            by = self.both(by, decides);
            if let Value::OneOf(_) = self.get(next) {
                todo.extend(self.members(next));
                continue;
            }
            let found = match find(self, next) {
                Found::Is(found) => found,
                Found::In(rest) => {
                    todo.push(rest);
                    continue;
                }
                Found::Or(found, rest) => {
                    todo.push(rest);
                    found
                }
            };
            all = self.join(all, found);
        }
        self.decided(all, by)
    }

    /// Returns the number of items at a part of the data.
    pub fn count(&mut self, source: SourceId, of: LoopId) -> FormulaId {
        self.formulas.factor(Factor::Count(source, of))
    }
}

/// What is found in a value.
#[derive(Debug, Clone, Copy)]
pub enum Found {
    /// This.
    Is(ValueId),
    /// It is looked for in another value.
    In(ValueId),
    /// This, or what is found in another value.
    Or(ValueId, ValueId),
}
