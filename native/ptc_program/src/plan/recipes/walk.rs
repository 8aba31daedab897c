//! The domain of recipes: a value is known by how it is made.

use super::table::{Recipe, RecipeId, Recipes};
use crate::analysis::domain::{PartOf, StackOf};
use crate::analysis::names::{ByNumber, NameId, Names};
use crate::analysis::{walk, Domain, How, Stack, Visiting};
use crate::compile::INPUT_NAME;
use crate::edition::Edition;
use crate::shape::{OpShape, Reshaping};
use ptc_json::{Document, Entry, Node};
use std::collections::HashSet;

/// A call of the program: its tool, and its arguments.
#[derive(Debug, Clone, Copy)]
pub struct CallRecipe {
    /// The tool.
    pub tool: NameId,
    /// The arguments.
    pub args: RecipeId,
}

/// The walk.
#[derive(Debug)]
pub struct RecipeWalk {
    /// All recipes.
    pub recipes: Recipes,
    /// The names in them.
    pub names: Names,
    /// The calls, in the order in which the plan has them.
    pub calls: Vec<CallRecipe>,
    pub(super) stack: StackOf<Self>,
    /// The parts of the program that its table does not contain, and whose terms are given.
    pub(super) outside: Vec<Node>,
    /// The number of `fold`s around a part.
    folds: u32,
    /// The keys of objects that have been visited.
    seen: HashSet<(Node, NameId), ByNumber>,
    /// The entries of constants that the last steps looked at.
    work: usize,
}

impl RecipeWalk {
    /// Creates the walk over the program whose root is `root`. The terms of `outside` are given.
    pub fn new(root: Node, edition: Edition, outside: Vec<Node>) -> Self {
        RecipeWalk {
            recipes: Recipes::default(),
            names: Names::whole(),
            calls: Vec::new(),
            stack: Stack::new(root, edition, RecipeId::NOTHING),
            outside,
            folds: 0,
            seen: HashSet::default(),
            work: 0,
        }
    }

    /// Returns the words that it takes.
    pub fn words(&self) -> usize {
        let own = self.calls.len() + 2 * self.seen.len() + self.outside.len() / 2;
        self.recipes.words() + self.names.words() + self.stack.words() + own
    }

    /// Returns what the last steps did beside making recipes.
    pub fn take_work(&mut self) -> usize {
        std::mem::take(&mut self.work)
    }

    /// Visits the root.
    pub fn begin(&mut self, source: &Document) {
        let name = self.names.id(INPUT_NAME.as_bytes());
        let input = self.recipes.add(Recipe::Memory(name));
        walk::begin(self, source, input);
    }

    /// Makes one step. Returns whether the program has been visited.
    pub fn step(&mut self, source: &Document) -> bool {
        walk::step(self, source).is_some()
    }

    /// Returns a constant; unknown, if a part of it is not given.
    pub(super) fn constant_at(&mut self, source: &Document, node: Node) -> RecipeId {
        let is_given = |node: Node| self.outside.binary_search(&node).is_ok();
        let is_outside =
            |node: Node| matches!(source.entry(node), Entry::Term(_) | Entry::Long(..));
        let end = source.end(node);
        self.work += (end - node) as usize / 8;
        let is_known = match is_outside(node) {
            true => is_given(node),
            false => !(node + 1..end).any(is_outside),
        };
        match is_known {
            true => self.recipes.add(Recipe::Constant(node)),
            false => RecipeId::UNKNOWN,
        }
    }

    fn accumulating(&mut self, part: &mut PartOf<Self>, source: &Document) {
        let held = self.recipes.add(Recipe::Accumulated(self.folds));
        part.held = true;
        let name = self.stack.text(source, "as").unwrap_or(b"acc");
        part.bind = Some((self.names.id(name), held));
    }
}

impl Domain for RecipeWalk {
    type Value = RecipeId;
    type Own = ();
    /// Whether it is the body of a `fold`.
    type Held = bool;

    const NULL: RecipeId = RecipeId::NOTHING;
    const OPENS_CONSTANTS: bool = false;

    fn stack(&self) -> &StackOf<Self> {
        &self.stack
    }

    fn stack_mut(&mut self) -> &mut StackOf<Self> {
        &mut self.stack
    }

    fn names(&mut self) -> &mut Names {
        &mut self.names
    }

    fn constant(&mut self, source: &Document, node: Node, _how: How) -> RecipeId {
        self.constant_at(source, node)
    }

    fn nothing(&mut self) -> RecipeId {
        RecipeId::UNKNOWN
    }

    fn own_input(&mut self, source: &Document, node: Node) -> RecipeId {
        self.constant_at(source, node)
    }

    /// Of equal keys only the first one counts.
    fn visits_key(&mut self, object: Node, key: Option<&[u8]>) -> bool {
        match key {
            Some(text) => {
                let name = self.names.id(text);
                self.seen.insert((object, name))
            }
            None => true,
        }
    }

    fn before(&mut self, source: &Document, shape: OpShape, part: &mut PartOf<Self>) -> Visiting {
        match (shape, part.field) {
            (OpShape::Call, "on_error") => {
                let error = match self.stack.text(source, "tool") {
                    Some(tool) => Recipe::Error(self.names.id(tool)),
                    None => Recipe::Unknown,
                };
                let error = self.recipes.add(error);
                part.bind = Some((self.names.id(b"error"), error));
            }
            (OpShape::Accumulator, "expr") => {
                (part.given, part.input) = (true, self.recipes.item(part.input));
                self.accumulating(part, source);
            }
            (OpShape::Grouped, "each") => {
                part.input = self.recipes.add(Recipe::Group(part.input));
            }
            (OpShape::Reshaped(Reshaping::Set), "fields") | (_, "where" | "expr") => {
                (part.given, part.input) = (true, self.recipes.item(part.input));
            }
            _ => {}
        }
        Visiting::Visit
    }

    fn enter(&mut self, part: &PartOf<Self>) {
        self.folds += u32::from(part.held);
    }

    fn after(&mut self, _source: &Document, part: &PartOf<Self>, _value: RecipeId, (): ()) -> bool {
        self.folds -= u32::from(part.held);
        true
    }

    fn value(&mut self, source: &Document) -> RecipeId {
        self.value_of(source)
    }
}
