//! Finds programs whose result may contain a value several times: a copy of it could be much larger than
//! the result itself, so it is weighed before it is returned.
//!
//! The code is followed once, with the origins of each value in place of the value: which of the data
//! outside of the program it may contain, each with the field it was read from. A value that is put
//! together from two values of one origin, and not of two fields of it, may contain something twice.
//! Constants without parts are ignored here: the weight of a result accounts for them.

use crate::code::{Apply, ConstId, Instr, Own, Pc, Slot, INPUT, NO_CONST};
use crate::ops::{combines_with_input, parts_of, PartsOf};
use crate::shape::Aggregate::{Count, Decided, Extreme, Mean, Rank, Sum};
use crate::shape::{KeyedBy, OpShape, Reshaping};
use ptc_vm::Keeps;

/// A value with more origins than this counts as if it contained one twice.
const MANY: usize = 64;

/// What a value may contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Root<'s> {
    /// A value of the context, by its name; `None` if that is no string.
    Context(Option<&'s [u8]>),
    /// A value of the memory.
    Memory(Option<&'s [u8]>),
    /// The value that the program starts with.
    Input,
    /// An item of the list of the loop whose items are in this slot.
    Item(Slot),
    /// The answer to a call.
    Answer(Pc),
    /// A constant.
    Const(ConstId),
}

/// A part of the data: all of it, or its fields of one name.
type Origin<'s> = (Root<'s>, Option<&'s [u8]>);

/// The origins of one value. Most have at most one, which takes no memory of its own.
#[derive(Clone, Default)]
struct Origins<'s> {
    first: Option<Origin<'s>>,
    more: Vec<Origin<'s>>,
}

/// The value may contain something twice.
struct Twice;

/// What is asked about constants.
pub(super) struct Consts<P, T> {
    /// Whether it has parts.
    pub has_parts: P,
    /// Its text if it is a string.
    pub text: T,
}

/// See [`Program::multiplies`](crate::code::Program::multiplies).
pub(super) fn multiplies<'s>(
    code: &[Instr],
    consts: &Consts<impl Fn(ConstId) -> bool, impl Fn(ConstId) -> Option<&'s [u8]>>,
) -> bool {
    // A value is used twice only where values are put together, and in loops.
    let puts_together = |instr: &Instr| match instr {
        Instr::Apply(apply) => {
            let shape = apply.op.shape();
            shape == OpShape::Joined || shape.combines() && apply.operands > 1
        }
        Instr::Enter(enter) => {
            enter.op.keeps() == Keeps::Value || enter.op.shape() == OpShape::Accumulator
        }
        _ => false,
    };
    if !code.iter().any(puts_together) {
        return false;
    }
    let mut found = Found {
        stack: Vec::new(),
        slots: Vec::new(),
        jumps: Vec::new(),
        inside: Vec::new(),
        calls_tools: code.iter().any(|instr| matches!(instr, Instr::Call { .. })),
    };
    found.set(INPUT, Origins::one(Root::Input));
    (0..code.len()).any(|pc| found.follow(code, pc, consts).is_err())
}

/// The origins of all values at one instruction.
struct Found<'s> {
    stack: Vec<Origins<'s>>,
    slots: Vec<Origins<'s>>,
    /// The values of branches that have ended, and where they are used.
    jumps: Vec<(Pc, Origins<'s>)>,
    /// The first slots of the `map` loops around the instruction.
    inside: Vec<Slot>,
    calls_tools: bool,
}

impl<'s> Found<'s> {
    fn follow(
        &mut self,
        code: &[Instr],
        at: usize,
        consts: &Consts<impl Fn(ConstId) -> bool, impl Fn(ConstId) -> Option<&'s [u8]>>,
    ) -> Result<(), Twice> {
        let (instr, following, pc) = (&code[at], code.get(at + 1), at as Pc);
        while let Some((_, other)) = self.jumps.pop_if(|(to, _)| *to == pc) {
            // One of the two branches is run.
            let top = self.stack.last_mut();
            top.into_iter().for_each(|top| top.join(&other));
        }
        // A value from outside of a loop is used for each item.
        let in_a_loop = !self.inside.is_empty();
        match instr {
            // The arguments of a tool are no part of the result.
            Instr::Const(_) if matches!(following, Some(Instr::Call { .. })) => {
                self.stack.push(Origins::default())
            }
            Instr::Const(id) => self.push_const(*id, consts)?,
            Instr::Nil | Instr::Bool(_) | Instr::Fail(_) => self.stack.push(Origins::default()),
            Instr::Slot(slot) => {
                let origins = self.slot(*slot);
                let is_outside = self.inside.last().is_some_and(|item| slot < item);
                if is_outside && origins.first.is_some() {
                    return Err(Twice);
                }
                self.stack.push(origins);
            }
            Instr::LoadContext(_) | Instr::LoadMemory(_) if in_a_loop => return Err(Twice),
            Instr::LoadContext(key) => {
                let root = Root::Context((consts.text)(*key));
                self.stack.push(Origins::one(root));
            }
            Instr::LoadMemory(key) => {
                let root = Root::Memory((consts.text)(*key));
                self.stack.push(Origins::one(root));
            }
            Instr::Call { .. } => {
                self.pop();
                self.stack.push(Origins::one(Root::Answer(pc)));
            }
            Instr::Store(slot) | Instr::StoreOnce(slot) => {
                let value = self.pop();
                self.set(*slot, value);
            }
            Instr::Drop | Instr::JumpIf { .. } => drop(self.pop()),
            Instr::Jump(to) => {
                let value = self.pop();
                self.jumps.push((*to, value));
                // Behind the answer of a call stands what gives the value if the tool fails, with a text.
                if at
                    .checked_sub(1)
                    .is_some_and(|call| catches(&code[call], pc + 1))
                {
                    self.stack.push(Origins::default());
                }
            }
            Instr::JumpIfSome(to) => {
                let value = self.pop();
                self.jumps.push((*to, value));
            }
            // Each step may use the value of the step before several times.
            Instr::Enter(enter) if enter.op.shape() == OpShape::Accumulator => return Err(Twice),
            // Made later, by the optimisations.
            Instr::Own(Own::NeedInput(_)) => {}
            Instr::Invoke(_) | Instr::InvokeCount(_) | Instr::Return | Instr::Ask(_) => {
                return Err(Twice)
            }
            Instr::Own(_) => return Err(Twice),
            Instr::Enter(enter) => {
                self.set(enter.item, Origins::one(Root::Item(enter.item)));
                self.inside
                    .extend((enter.op.keeps() == Keeps::Value).then_some(enter.item));
            }
            Instr::Next(start) => {
                let value = self.pop();
                let Some(looped) = code[*start as usize].as_loop() else {
                    return Ok(());
                };
                let list = self.slot(looped.list);
                if looped.op.keeps() != Keeps::Value {
                    self.stack.push(match looped.op.shape() {
                        OpShape::Aggregate(Count | Decided | Sum | Mean | Rank) => {
                            Origins::default()
                        }
                        _ => list,
                    });
                    return Ok(());
                }
                self.inside.pop();
                let mut origins = Origins::default();
                for origin in value.iter() {
                    match origin.0 == Root::Item(looped.item) {
                        true => origins.join(&list),
                        false => origins.push(*origin),
                    }
                }
                self.stack.push(origins);
            }
            Instr::Apply(apply) => {
                let value = self.apply(apply, consts)?;
                self.stack.push(value);
            }
            Instr::Expect { .. } | Instr::Watch(_) | Instr::Done => {}
        }
        Ok(())
    }

    fn slot(&self, slot: Slot) -> Origins<'s> {
        self.slots.get(slot as usize).cloned().unwrap_or_default()
    }

    fn set(&mut self, slot: Slot, value: Origins<'s>) {
        let slot = slot as usize;
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, Origins::default);
        }
        self.slots[slot] = value;
    }

    fn pop(&mut self) -> Origins<'s> {
        self.stack.pop().unwrap_or_default()
    }

    fn push_const(
        &mut self,
        id: ConstId,
        consts: &Consts<impl Fn(ConstId) -> bool, impl Fn(ConstId) -> Option<&'s [u8]>>,
    ) -> Result<(), Twice> {
        match (
            id != NO_CONST && (consts.has_parts)(id),
            self.inside.is_empty(),
        ) {
            (true, false) => return Err(Twice),
            (true, true) => self.stack.push(Origins::one(Root::Const(id))),
            (false, _) => self.stack.push(Origins::default()),
        }
        Ok(())
    }

    /// Returns the origins of an operation's value.
    fn apply(
        &mut self,
        apply: &Apply,
        consts: &Consts<impl Fn(ConstId) -> bool, impl Fn(ConstId) -> Option<&'s [u8]>>,
    ) -> Result<Origins<'s>, Twice> {
        use OpShape::*;
        let shape = apply.op.shape();
        let (mut value, mut last) = (Origins::default(), Origins::default());
        let combines = shape.combines() || combines_with_input(apply);
        for _ in 0..apply.operands {
            let operand = self.pop();
            match combines {
                true => value.combine(&operand)?,
                false => value.join(&operand),
            }
            last = operand;
        }
        let input = || self.slot(apply.input);
        Ok(match shape {
            ObjectOfParts | ListOfParts | Concatenated | Zipped | Merged => value,
            // Whether an item has several matches is found out when it has. A run in several parts may not find it out.
            Joined if self.calls_tools => return Err(Twice),
            Reshaped(Reshaping::Set) | Grouped | KeyedMap(KeyedBy::Items) | Joined => {
                match parts_of(apply) {
                    PartsOf::All if combines => {
                        value.combine(&input())?;
                        value
                    }
                    PartsOf::All => {
                        value.join(&input());
                        value
                    }
                    PartsOf::Operands => value,
                    PartsOf::Key(name) => input().of_field(name),
                    PartsOf::Fields(fields) => {
                        for id in fields {
                            if let Some(field) = (consts.text)(id) {
                                value.combine(&input().of_field(field))?;
                            }
                        }
                        value
                    }
                }
            }
            // Their values are items of the operand, or of items of it.
            FlatListOfBody => last,
            Aggregate(Extreme) if apply.operands > 0 => last,
            Read => {
                let mut value = input();
                if let Some(field) = (consts.text)(apply.key) {
                    value = value.of_field(field);
                }
                self.push_const(apply.value, consts)?;
                value.join(&self.pop());
                value
            }
            Leaf(_)
            | Connective(_)
            | Negation
            | Range
            | Compared(_)
            | Number(_)
            | Text(_)
            | Date(_)
            | Kind
            | Aggregate(Count | Decided | Sum | Mean | Rank) => Origins::default(),
            Input | Chained | Bind | Branch(_) | FirstOf | Subset(_) | Permuted(_) | ListOfBody
            | Flattened | Chunked | Item(_) | Aggregate(Extreme) | Accumulator | Reshaped(_)
            | Entries(_) | KeyedMap(_) | Call => input(),
        })
    }
}

/// Returns whether an instruction is a call that goes on at `pc` if its tool fails.
fn catches(instr: &Instr, pc: Pc) -> bool {
    matches!(instr, Instr::Call { on_error, .. } if *on_error == pc)
}

impl<'s> Origins<'s> {
    fn one(root: Root<'s>) -> Self {
        Origins {
            first: Some((root, None)),
            more: Vec::new(),
        }
    }

    fn iter(&self) -> impl Iterator<Item = &Origin<'s>> {
        self.first.iter().chain(&self.more)
    }

    /// Returns the origins of a field of the value.
    fn of_field(mut self, field: &'s [u8]) -> Self {
        for origin in self.first.iter_mut().chain(&mut self.more) {
            origin.1 = origin.1.or(Some(field));
        }
        self
    }

    fn push(&mut self, origin: Origin<'s>) {
        match self.first {
            None => self.first = Some(origin),
            Some(_) => self.more.push(origin),
        }
    }

    /// Adds the origins of a value for a value that contains either the one or the other.
    fn join(&mut self, others: &Self) {
        for other in others.iter() {
            if !self.iter().any(|it| it == other) {
                self.push(*other);
            }
        }
    }

    /// Adds the origins of a value for a value that contains both.
    fn combine(&mut self, others: &Self) -> Result<(), Twice> {
        for (root, field) in others.iter() {
            let is_same = |origin: &Origin<'s>| {
                origin.0 == *root && (origin.1.is_none() || field.is_none() || origin.1 == *field)
            };
            if self.more.len() >= MANY || self.iter().any(is_same) {
                return Err(Twice);
            }
            self.push((*root, *field));
        }
        Ok(())
    }
}
