//! What an observed program has besides its instructions: its operations' places, and marks around each.

use crate::ops::OpCode;
use crate::program::{ConstId, Slot};

/// Where an operation stands in the one around it: `steps`, 2; `where`; `fields`, "total".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// The field of the operation around it; none in an object without `op`.
    pub field: Option<&'static str>,
    /// The place in the list there.
    pub index: Option<u32>,
    /// The key in the map there.
    pub key: Option<ConstId>,
}

/// An operation of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// Which operation.
    pub op: OpCode,
    /// The operation around it; none for the outermost.
    pub parent: Option<u32>,
    /// Where it stands in that one.
    pub place: Place,
    /// The slot of its current value, if it can see that.
    pub input: Option<Slot>,
    /// The keys it looks up in its current value, or in each row of it. Each stands for itself, but
    /// those of a path, which are followed one after another.
    pub keys: Keys,
}

/// The keys that an operation looks up: constants side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Keys {
    /// The first one.
    pub first: ConstId,
    /// How many.
    pub count: u32,
    /// Whether they are the steps of one path.
    pub path: bool,
}

impl Keys {
    /// How many look-ups that makes.
    pub fn lookups(self) -> u32 {
        match self.path {
            true => self.count.min(1),
            false => self.count,
        }
    }
}

/// What is noted at a point of an observed program, about the operation of that number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The items of its current value are counted.
    Input(u32),
    /// Its keys are looked up.
    Keys(u32),
    /// It begins.
    Enter(u32),
    /// The items of its value are counted.
    Output(u32),
    /// It ends.
    Leave(u32),
}
