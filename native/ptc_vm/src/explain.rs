//! Metadata of an observed program: the positions of its operations, and the marks around each.

use crate::halt::Name;
use crate::program::{ConstId, Slot};

/// Number of slots in which an observed run remembers lists whose items it has counted.
pub const COUNTED_LISTS: u32 = 8;

/// What is recorded of an observed run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// Each operation: its runs, items, time, words and keys.
    #[default]
    All,
    /// Only what findings are made of: which keys were found, which filters kept nothing, and which conversions made only null.
    /// No clock is read, and a key that was found once is not looked up again.
    Findings,
    /// Each form of a language with functions: its runs, time and words, the items of its values and their kinds. Forms are open in
    /// activations, and the rounds of a run have their own open forms.
    Forms,
    /// Nothing of a run: what the program will do.
    Plan,
    /// What the program will do, and how the arguments of each call are made.
    Recipes,
}

/// A step from one part of a program to a part inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathPart<K = ConstId> {
    /// A field of an operation.
    Field(&'static str),
    /// An index in a list.
    Index(u32),
    /// A key of a map, as written in the program.
    Key(K),
}

/// An operation of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// Its name.
    pub name: Name,
    /// The surrounding operation; none for the outermost.
    pub parent: Option<u32>,
    /// Its path from the surrounding operation: `steps`, 2; `where`; `fields`, "total".
    pub path: Vec<PathPart>,
    /// The slot of its current value, if it can read it.
    pub input: Option<Slot>,
    /// The keys it looks up in its current value, or in each row of it. The keys are independent,
    /// except those of a path, which are followed one after another.
    pub keys: Keys,
    /// What the values are for that it is given.
    pub role: Role,
}

/// What an operation does with the values that it is given, where it matters that they are null.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// It does not matter.
    #[default]
    Other,
    /// Each is converted; what is no such value becomes null.
    Converts,
    /// They are the keys of items of which one value is computed, and null is left out.
    Totals,
}

/// The keys that an operation looks up: consecutive constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Keys {
    /// The first one.
    pub first: ConstId,
    /// The number of keys.
    pub count: u32,
    /// Whether they are the steps of one path.
    pub path: bool,
    /// Whether they are looked up in the rows if the current value is a list.
    pub in_rows: bool,
    /// The slot of the value in which they are looked up, if that is not the current value.
    pub from: Option<Slot>,
}

impl Keys {
    /// Returns the number of look-ups.
    pub fn lookups(self) -> u32 {
        match self.path {
            true => self.count.min(1),
            false => self.count,
        }
    }
}

/// The action at a mark of an observed program, for the operation with this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Count the items of its current value.
    Input(u32),
    /// Look its keys up.
    Keys(u32),
    /// The operation begins.
    Enter(u32),
    /// Count the items of its value.
    Output(u32),
    /// The operation ends.
    Leave(u32),
    /// The operation ends, whose value is not one term.
    LeaveParts(u32),
    /// A jump has led back into the operation: those inside that have not ended are left.
    Back(u32),
    /// Count the value on the stack, which the operation is given for its [`Role`].
    Value(u32),
    /// Count its current value as that.
    Current(u32),
    /// Count what a conversion has made.
    Made(u32),
}
