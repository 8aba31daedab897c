//! The recipes of operations that have been visited.

use super::table::{Copies, Recipe, RecipeId};
use super::walk::{CallRecipe, RecipeWalk};
use crate::analysis::names::NameId;
use crate::analysis::{What, ABSENT};
use crate::compile::INPUT_NAME;
use crate::opcode::OpCode;
use crate::shape::{Branching, DateOf, Leaf, NumberOf, OpShape, Reshaping, TextOf};
use ptc_json::{Document, Entry, Node};

impl RecipeWalk {
    /// Returns the recipe of what has been visited.
    pub(super) fn value_of(&mut self, source: &Document) -> RecipeId {
        let Some(frame) = self.stack.frames.last() else {
            return RecipeId::NOTHING;
        };
        let (what, node) = (frame.what, frame.node);
        match what {
            What::Op(op, false) => self.of_operation(source, op),
            What::Op(_, true) => self.of_object(source),
            What::Data(_) => match source.entry(node) {
                Entry::Object(..) => self.of_object(source),
                _ => {
                    let items = self.stack.parts_of("");
                    self.recipes.list(&items)
                }
            },
        }
    }

    /// Returns an object whose values have been visited. Nothing is known of one whose keys are not all texts.
    fn of_object(&mut self, source: &Document) -> RecipeId {
        let mut fields = Vec::new();
        for part in self.stack.parts() {
            match source.text(part.key) {
                Some(text) => fields.push((Some(self.names.id(text)), part.value)),
                None => return RecipeId::UNKNOWN,
            }
        }
        self.recipes.object(&fields)
    }

    fn input(&self) -> RecipeId {
        { self.stack.frames.last() }.map_or(RecipeId::NOTHING, |frame| frame.input)
    }

    fn of_operation(&mut self, source: &Document, op: OpCode) -> RecipeId {
        use OpShape::*;
        let input = self.input();
        let or_nothing = |part: Option<RecipeId>| part.unwrap_or(RecipeId::NOTHING);
        match op.shape() {
            Leaf(leaf) => self.leaf(source, leaf),
            Input => input,
            Chained => or_nothing(self.stack.last_part()),
            Bind => or_nothing(self.stack.part_in("in")),
            Branch(Branching::Two) => {
                let branches = ["then", "else"].map(|field| self.stack.part_in(field));
                self.recipes.one_of(&branches.map(or_nothing))
            }
            Branch(Branching::Cases) => {
                let mut all = self.stack.parts_of("then");
                all.push(or_nothing(self.stack.part_in("else")));
                self.recipes.one_of(&all)
            }
            FirstOf => {
                let all = self.stack.parts_of("values");
                self.recipes.one_of(&all)
            }
            Call => self.called(source),
            ObjectOfParts => or_nothing(self.stack.part_in("fields")),
            ListOfParts => {
                let items = self.stack.parts_of("items");
                self.recipes.list(&items)
            }
            Read => self.got(source, op, input),
            Subset(_) | Permuted(_) => self.made(source, op, input, Copies::Whole(input)),
            Reshaped(Reshaping::Select | Reshaping::Unset) => {
                self.made(source, op, input, Copies::Part(input))
            }
            Item(_) => {
                let item = self.recipes.item(input);
                let copy = self.made(source, op, input, Copies::Whole(item));
                // There may be no such item. What is read of the data may be null in any case.
                match self.recipes.get(self.recipes.bare(item)) {
                    Recipe::Item(_) | Recipe::Field(..) => copy,
                    _ => self.recipes.one_of(&[copy, RecipeId::NOTHING]),
                }
            }
            ListOfBody => match self.stack.part_in("expr") {
                Some(body) => self.recipes.add(Recipe::Each(input, body)),
                None => RecipeId::UNKNOWN,
            },
            FlatListOfBody => match self.stack.part_in("expr") {
                Some(body) => {
                    let body = self.recipes.item(body);
                    self.recipes.add(Recipe::Each(input, body))
                }
                None => RecipeId::UNKNOWN,
            },
            Flattened => {
                let list = self.recipes.item(input);
                let item = self.recipes.item(list);
                self.recipes.add(Recipe::Each(input, item))
            }
            Chunked => {
                let chunk = self.recipes.add(Recipe::Group(input));
                let list = self.made(source, op, input, Copies::No);
                self.recipes.add(Recipe::Each(list, chunk))
            }
            Concatenated => {
                let lists: Vec<_> = self.stack.parts().iter().map(|part| part.value).collect();
                let items: Vec<_> = { lists.iter().take(16) }
                    .map(|list| self.recipes.item(*list))
                    .collect();
                let item = self.recipes.one_of(&items);
                let list = self.made(source, op, input, Copies::No);
                self.recipes.add(Recipe::Each(list, item))
            }
            Reshaped(Reshaping::Set) => {
                let fields = or_nothing(self.stack.part_in("fields"));
                match self.recipes.get(fields) {
                    Recipe::Object(span) => self.recipes.add(Recipe::With(input, span)),
                    _ => self.made(source, op, input, Copies::No),
                }
            }
            Connective(_)
            | Negation
            | Aggregate(_)
            | Accumulator
            | Zipped
            | Range
            | Merged
            | Reshaped(Reshaping::Rename)
            | Entries(_)
            | KeyedMap(_)
            | Grouped
            | Joined
            | Compared(_)
            | Number(_)
            | Text(_)
            | Date(_)
            | Kind => self.made(source, op, input, Copies::No),
        }
    }

    fn leaf(&mut self, source: &Document, leaf: Leaf) -> RecipeId {
        let name = self.stack.text(source, "name");
        match (leaf, name) {
            (Leaf::Constant, _) => self.stack.part_in("value").unwrap_or(RecipeId::NOTHING),
            (Leaf::Clock, _) => self.recipes.add(Recipe::Now),
            (Leaf::Context, Some(name)) => {
                let name = self.names.id(name);
                self.recipes.add(Recipe::Context(name))
            }
            (Leaf::Name, Some(name)) if name == INPUT_NAME.as_bytes() => self.input(),
            (Leaf::Name, Some(name)) => {
                let name = self.names.id(name);
                match self.stack.bound.get(name.0 as usize).copied().flatten() {
                    Some(value) => value,
                    None => self.recipes.add(Recipe::Memory(name)),
                }
            }
            (Leaf::Context | Leaf::Name, None) => RecipeId::UNKNOWN,
        }
    }

    fn called(&mut self, source: &Document) -> RecipeId {
        let Some(tool) = self.stack.text(source, "tool") else {
            return RecipeId::UNKNOWN;
        };
        let tool = self.names.id(tool);
        let args = match self.stack.part_in("args") {
            Some(args) => args,
            None => self.recipes.object(&[]),
        };
        self.calls.push(CallRecipe { tool, args });
        let answer = self.recipes.add(Recipe::Answer(tool));
        match self.stack.part_in("on_error") {
            None => answer,
            Some(other) => self.recipes.one_of(&[answer, other]),
        }
    }

    /// The rule of `get`.
    fn got(&mut self, source: &Document, op: OpCode, input: RecipeId) -> RecipeId {
        let of = self.stack.part_in("from").unwrap_or(input);
        let steps: Option<Vec<Node>> = if self.stack.field("key").is_some() {
            None
        } else if let Some(path) = self.stack.field("path") {
            Some(source.elements(path).collect())
        } else {
            Some(self.stack.field("field").into_iter().collect())
        };
        let found = steps.and_then(|steps| self.at_steps(source, of, &steps));
        let found = match found {
            Some(found) => found,
            None => return self.made(source, op, input, Copies::No),
        };
        match self.stack.part_in("default") {
            Some(default) => self.recipes.one_of(&[found, default]),
            None => found,
        }
    }

    /// Returns what stands at a path of texts.
    fn at_steps(&mut self, source: &Document, of: RecipeId, steps: &[Node]) -> Option<RecipeId> {
        let mut value = of;
        for step in steps {
            let name = self.names.id(source.text(*step)?);
            value = self.recipes.field(value, name);
        }
        Some(value)
    }

    /// Whether an operation reads its current value itself, and not only in its parts.
    fn reads_input(&self, shape: OpShape) -> bool {
        use OpShape::*;
        let is_given = |field| self.stack.field(field).is_some();
        match shape {
            Concatenated
            | Zipped
            | Range
            | Merged
            | Connective(_)
            | Negation
            | Text(TextOf::Several)
            | Number(NumberOf::Sum | NumberOf::Quotient | NumberOf::Modulo)
            | Date(DateOf::Difference) => false,
            Compared(_) => !is_given("left"),
            Number(_) | Text(_) | Date(_) => !is_given("value"),
            Read => !is_given("from"),
            Leaf(_) | Input | Chained | Bind | Branch(_) | FirstOf | Subset(_) | Permuted(_)
            | ListOfBody | FlatListOfBody | Flattened | Chunked | Item(_) | Aggregate(_)
            | Accumulator | ObjectOfParts | ListOfParts | Reshaped(_) | Entries(_)
            | KeyedMap(_) | Grouped | Joined | Call | Kind => true,
        }
    }

    /// Returns what the operation makes of its parts and of its other fields, which are constants.
    fn made(&mut self, source: &Document, op: OpCode, input: RecipeId, copies: Copies) -> RecipeId {
        let Some(frame) = self.stack.frames.last() else {
            return RecipeId::UNKNOWN;
        };
        let given = frame.fields;
        let mut parts: Vec<(Option<NameId>, RecipeId)> = Vec::new();
        let visited = self.stack.parts().to_vec();
        for part in &visited {
            parts.push((Some(self.names.id(part.field.as_bytes())), part.value));
        }
        let fields = op.fields(self.stack.edition);
        for (field, node) in fields.iter().zip(given) {
            let is_visited = || visited.iter().any(|part| part.field == field.name);
            if node != ABSENT && !is_visited() {
                let literal = self.constant_at(source, node);
                parts.push((Some(self.names.id(field.name.as_bytes())), literal));
            }
        }
        let parts = self.recipes.span(&parts);
        let input = match self.reads_input(op.shape()) {
            true => input,
            false => RecipeId::NOTHING,
        };
        self.recipes.add(Recipe::Made {
            op,
            parts,
            input,
            copies,
        })
    }
}
