//! The shapes of operations: what a value is made of, and how the parts of an operation are evaluated.
//!
//! Each row of the table of operations has a shape. The compiler's analyses, the types, the plan, the firewall and the explanation of a run read
//! shapes and not names. They match all shapes, so that an operation of a new shape does not compile until each of them has been told.

/// What the value of an operation is made of, and how its parts are evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpShape {
    /// A value that no current value has to do with.
    Leaf(Leaf),
    /// The current value.
    Input,
    /// The value of the last of several steps. Each step gets the value of the one before it.
    Chained,
    /// The value of a part, in which a name is bound.
    Bind,
    /// The value of one of several parts. Conditions decide which one is evaluated.
    Branch(Branching),
    /// The first of several values that is not null. Those behind it are not evaluated.
    FirstOf,
    /// Whether conditions hold, up to the first one that decides. `true`: one that holds decides.
    Connective(bool),
    /// Whether a condition does not hold.
    Negation,
    /// Some items of the current list, in their order.
    Subset(Chosen),
    /// All items of the current list, in another order.
    Permuted(Order),
    /// The values of a body, one for each item of the current list.
    ListOfBody,
    /// The items of the lists that a body gives for each item of the current list.
    FlatListOfBody,
    /// The items of the items of the current list.
    Flattened,
    /// The items of the current list, in lists.
    Chunked,
    /// One item of the current list.
    Item(Which),
    /// One value that is computed of all items of the current list.
    Aggregate(Aggregate),
    /// What a body makes of its value so far and each item of the current list.
    Accumulator,
    /// An object whose values are parts.
    ObjectOfParts,
    /// A list whose items are parts.
    ListOfParts,
    /// The items of several lists, one list behind the other.
    Concatenated,
    /// The items of several lists, in a list for each place.
    Zipped,
    /// All integers between two.
    Range,
    /// The fields of several objects.
    Merged,
    /// What stands at a key or a path.
    Read,
    /// The current object, or each object of the current list, with other fields.
    Reshaped(Reshaping),
    /// A list with an item for each field of the current object.
    Entries(Entry),
    /// An object with a field for each item of the current list.
    KeyedMap(KeyedBy),
    /// Objects that are made of the groups of the items of the current list.
    Grouped,
    /// Objects that are made of the items of two lists.
    Joined,
    /// The answer of a tool.
    Call,
    /// Whether a value, or a field of the current value, is to another value as the operation says.
    Compared(Comparison),
    /// A number that is computed of numbers.
    Number(NumberOf),
    /// What is computed of a text, or a text that is computed.
    Text(TextOf),
    /// What is computed of dates.
    Date(DateOf),
    /// The name of the kind of the current value.
    Kind,
}

/// A value that no current value has to do with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaf {
    /// A value of the context.
    Context,
    /// A constant.
    Constant,
    /// A name that is bound, or one of the memory.
    Name,
    /// The time at which the program runs.
    Clock,
}

/// Which parts a branch has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Branching {
    /// One condition, with a part for each of its values.
    Two,
    /// A condition for each part.
    Cases,
}

/// Which items are left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chosen {
    /// The items for which a condition has this value.
    Where(bool),
    /// The items with a field that another value has.
    Among,
    /// One item of each key.
    Distinct,
    /// The first items.
    Begin,
    /// The items behind the first ones.
    Rest,
}

/// What the order of items comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The keys of the items.
    Keys,
    /// The order before, backwards.
    Backwards,
}

/// Which item is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The one at a place.
    Placed,
    /// The first one for which a condition holds.
    Found,
    /// The one with the least or the largest key.
    Keyed,
}

/// What is computed of all items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// How many there are, or for how many a condition holds.
    Count,
    /// Whether a condition holds, up to the first item that decides.
    Decided,
    /// The sum of their keys.
    Sum,
    /// The sum of their keys by their number.
    Mean,
    /// A number between keys in ascending order.
    Rank,
    /// The least or the largest key.
    Extreme,
}

/// How the fields of an object change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reshaping {
    /// Only the fields that are named are left.
    Select,
    /// Fields get values.
    Set,
    /// The fields that are named are left out.
    Unset,
    /// Fields get other names.
    Rename,
}

/// What stands for a field of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// Its key and its value.
    Pair,
    /// Its key.
    Key,
}

/// What the fields of an object are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyedBy {
    /// Items that have a key and a value.
    Pairs,
    /// The items, by their keys.
    Items,
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// They are equal, or not.
    Equal(bool),
    /// The first one is greater (`true`) or less than the second one, or perhaps equal.
    Order(bool),
    /// The first one contains the second one.
    Contains,
    /// The second one contains the first one.
    In,
    /// The first text begins with the second one.
    Begins,
    /// The first text ends with the second one.
    Ends,
    /// A pattern is found in the text.
    Pattern,
}

/// How a number is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberOf {
    /// Of two numbers, without a division: an integer, if they are.
    Sum,
    /// Of two numbers, by a division.
    Quotient,
    /// Of two integers, the rest of a division.
    Modulo,
    /// Of one number, to some places.
    Rounded,
    /// Of one number, without its sign.
    Absolute,
    /// Of one number, an integer beside it.
    Whole,
}

/// What is computed of a text, or of which values a text is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextOf {
    /// A text of several values.
    Several,
    /// A text of any value.
    Any,
    /// The text in another form.
    Form,
    /// How long it is; of a list or an object, how many parts it has.
    Length,
    /// Its parts between texts that are given.
    Split,
    /// The text with other parts.
    Replaced,
    /// What a pattern finds in it.
    Extract,
    /// The number that it says.
    Number,
}

/// What is computed of dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateOf {
    /// Another date.
    Sum,
    /// The time between two.
    Difference,
    /// A part of one.
    Part,
}

impl OpShape {
    /// Returns the name of the shape, as fine as the firewall and the findings of an explanation need it.
    pub fn name(self) -> &'static str {
        match self {
            OpShape::Leaf(Leaf::Context) => "context",
            OpShape::Leaf(Leaf::Constant) => "constant",
            OpShape::Leaf(Leaf::Name) => "name",
            OpShape::Leaf(Leaf::Clock) => "clock",
            OpShape::Input => "input",
            OpShape::Chained => "chained",
            OpShape::Bind => "bind",
            OpShape::Branch(Branching::Two) => "branch",
            OpShape::Branch(Branching::Cases) => "cases",
            OpShape::FirstOf => "first_of",
            OpShape::Connective(_) => "connective",
            OpShape::Negation => "negation",
            OpShape::Subset(Chosen::Where(_)) => "filtered",
            OpShape::Subset(Chosen::Among) => "among",
            OpShape::Subset(Chosen::Distinct) => "distinct",
            OpShape::Subset(Chosen::Begin | Chosen::Rest) => "sublist",
            OpShape::Permuted(Order::Keys) => "sorted",
            OpShape::Permuted(Order::Backwards) => "backwards",
            OpShape::ListOfBody => "list_of_body",
            OpShape::FlatListOfBody => "flat_list_of_body",
            OpShape::Flattened => "flattened",
            OpShape::Chunked => "chunked",
            OpShape::Item(Which::Placed) => "item",
            OpShape::Item(Which::Found) => "found",
            OpShape::Item(Which::Keyed) => "keyed_item",
            OpShape::Aggregate(Aggregate::Count) => "count",
            OpShape::Aggregate(Aggregate::Decided) => "decided",
            OpShape::Aggregate(
                Aggregate::Sum | Aggregate::Mean | Aggregate::Rank | Aggregate::Extreme,
            ) => "aggregate",
            OpShape::Accumulator => "accumulator",
            OpShape::ObjectOfParts => "object_of_parts",
            OpShape::ListOfParts => "list_of_parts",
            OpShape::Concatenated => "concatenated",
            OpShape::Zipped => "zipped",
            OpShape::Range => "range",
            OpShape::Merged => "merged",
            OpShape::Read => "read",
            OpShape::Reshaped(Reshaping::Select) => "selected",
            OpShape::Reshaped(Reshaping::Rename) => "renamed",
            OpShape::Reshaped(Reshaping::Set | Reshaping::Unset) => "reshaped",
            OpShape::Entries(Entry::Pair) => "entries",
            OpShape::Entries(Entry::Key) => "keys",
            OpShape::KeyedMap(_) => "keyed_map",
            OpShape::Grouped => "grouped",
            OpShape::Joined => "joined",
            OpShape::Call => "call",
            OpShape::Compared(_) => "compared",
            OpShape::Number(_) => "number",
            OpShape::Text(TextOf::Several | TextOf::Any) => "shown",
            OpShape::Text(TextOf::Number | TextOf::Extract) => "converted",
            OpShape::Text(_) => "text",
            OpShape::Date(_) => "date",
            OpShape::Kind => "kind",
        }
    }

    /// Whether the operation, or one inside it, can read the current value: for others a key `__input` has no meaning.
    pub(crate) fn sees_input(self) -> bool {
        !matches!(self, OpShape::Leaf(_))
    }

    /// Whether the value contains all operands.
    pub(crate) fn combines(self) -> bool {
        use OpShape::*;
        matches!(
            self,
            ObjectOfParts | ListOfParts | Concatenated | Zipped | Merged
        )
    }

    /// Returns the fields that are evaluated before the others, which follow in ascending order: the others depend on them, or are
    /// not evaluated where one is null.
    pub(crate) fn begins_with(self) -> &'static [&'static str] {
        use OpShape::*;
        match self {
            Branch(Branching::Two) => &["condition", "then"],
            Bind | Text(_) | Date(_) => &["value"],
            Accumulator => &["init"],
            Grouped => &["expr"],
            Leaf(_)
            | Input
            | Chained
            | Branch(Branching::Cases)
            | FirstOf
            | Connective(_)
            | Negation
            | Subset(_)
            | Permuted(_)
            | ListOfBody
            | FlatListOfBody
            | Flattened
            | Chunked
            | Item(_)
            | Aggregate(_)
            | ObjectOfParts
            | ListOfParts
            | Concatenated
            | Zipped
            | Range
            | Merged
            | Read
            | Reshaped(_)
            | Entries(_)
            | KeyedMap(_)
            | Joined
            | Call
            | Compared(_)
            | Number(_)
            | Kind => &[],
        }
    }

    /// Whether a constant in a field of any kind is never an operation.
    pub(crate) fn keeps_constants(self) -> bool {
        matches!(self, OpShape::Leaf(_) | OpShape::Read | OpShape::Number(_))
    }
}
