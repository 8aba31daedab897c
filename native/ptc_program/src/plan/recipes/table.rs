//! Recipes: how values are made.

use crate::analysis::names::NameId;
use crate::opcode::OpCode;
use ptc_json::Node;

/// The number of a recipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecipeId(pub u32);

impl RecipeId {
    /// Null, which stands where nothing is given.
    pub const NOTHING: RecipeId = RecipeId(0);
    /// Nothing is known.
    pub const UNKNOWN: RecipeId = RecipeId(1);
}

/// A range of the parts of all recipes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartSpan {
    start: u32,
    end: u32,
}

/// How a value is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recipe {
    /// Null, where nothing is given.
    Nothing,
    /// In a way of which nothing is known.
    Unknown,
    /// A constant of the program.
    Constant(Node),
    /// The time of the run.
    Now,
    /// A value of the context.
    Context(NameId),
    /// A value of the memory.
    Memory(NameId),
    /// An answer of a tool.
    Answer(NameId),
    /// The text of an error of a tool.
    Error(NameId),
    /// What a `fold` has accumulated: the one around so many others.
    Accumulated(u32),
    /// An item of a list. Where a program takes an object for a list of one, it is the object.
    Item(RecipeId),
    /// Some of the items of a list.
    Group(RecipeId),
    /// A field of an object.
    Field(RecipeId, NameId),
    /// An object with these fields and no others.
    Object(PartSpan),
    /// A list of these items.
    List(PartSpan),
    /// One of these.
    OneOf(PartSpan),
    /// An object, or each object of a list, in which these fields have these values.
    With(RecipeId, PartSpan),
    /// A list that is made of another one, and each of its items.
    Each(RecipeId, RecipeId),
    /// What an operation makes of its parts and of its current value.
    Made {
        /// The operation.
        op: OpCode,
        /// Its fields.
        parts: PartSpan,
        /// Its current value.
        input: RecipeId,
        /// Whether it only copies.
        copies: Copies,
    },
}

/// Whether the value of an operation is one that was there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copies {
    /// It is not.
    No,
    /// It is this value, or, where that is a list, some of its items.
    Whole(RecipeId),
    /// It is this value without some of its fields.
    Part(RecipeId),
}

/// All recipes.
#[derive(Debug)]
pub struct Recipes {
    all: Vec<Recipe>,
    parts: Vec<(Option<NameId>, RecipeId)>,
}

/// Maximum number of recipes of which a value is one, and of the items of a list that are told apart.
const MOST_MEMBERS: usize = 8;
/// Maximum number of recipes that are passed on the way to a part.
const MOST_PASSED: usize = 64;

impl Default for Recipes {
    fn default() -> Self {
        let mut all = Vec::with_capacity(64);
        all.extend([Recipe::Nothing, Recipe::Unknown]);
        Recipes {
            all,
            parts: Vec::new(),
        }
    }
}

impl Recipes {
    /// Returns a recipe.
    #[inline]
    pub fn get(&self, id: RecipeId) -> Recipe {
        self.all[id.0 as usize]
    }

    /// Returns the number of recipes.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// Returns parts with their names.
    pub fn parts(&self, span: PartSpan) -> &[(Option<NameId>, RecipeId)] {
        &self.parts[span.start as usize..span.end as usize]
    }

    /// Returns the words that they take.
    pub fn words(&self) -> usize {
        4 * self.all.len() + 2 * self.parts.len()
    }

    /// Adds a recipe.
    pub fn add(&mut self, recipe: Recipe) -> RecipeId {
        let id = RecipeId(self.all.len() as u32);
        self.all.push(recipe);
        id
    }

    /// Adds parts.
    pub fn span(&mut self, parts: &[(Option<NameId>, RecipeId)]) -> PartSpan {
        let start = self.parts.len() as u32;
        self.parts.extend_from_slice(parts);
        let end = self.parts.len() as u32;
        PartSpan { start, end }
    }

    /// Returns an object with these fields and no others.
    pub fn object(&mut self, fields: &[(Option<NameId>, RecipeId)]) -> RecipeId {
        let span = self.span(fields);
        self.add(Recipe::Object(span))
    }

    /// Returns a list of these items.
    pub fn list(&mut self, items: &[RecipeId]) -> RecipeId {
        let items: Vec<_> = items.iter().map(|item| (None, *item)).collect();
        let span = self.span(&items);
        self.add(Recipe::List(span))
    }

    /// Returns one of these; unknown, if there are too many.
    pub fn one_of(&mut self, given: &[RecipeId]) -> RecipeId {
        let mut members = Vec::with_capacity(given.len());
        for id in given.iter().take(MOST_MEMBERS + 1) {
            match self.get(*id) {
                Recipe::OneOf(span) => members.extend_from_slice(self.parts(span)),
                _ => members.push((None, *id)),
            }
        }
        members.sort_unstable();
        members.dedup();
        match &members[..] {
            [] => RecipeId::NOTHING,
            [(_, only)] => *only,
            [..] if members.len() > MOST_MEMBERS || given.len() > MOST_MEMBERS => RecipeId::UNKNOWN,
            all => {
                let span = self.span(all);
                self.add(Recipe::OneOf(span))
            }
        }
    }

    /// Returns the value that others are, as it is.
    pub fn bare(&self, id: RecipeId) -> RecipeId {
        let mut bare = id;
        for _ in 0..MOST_PASSED {
            bare = match self.get(bare) {
                Recipe::Made {
                    copies: Copies::Whole(of),
                    ..
                }
                | Recipe::Group(of) => of,
                _ => return bare,
            };
        }
        bare
    }

    /// Returns an item of a list.
    pub fn item(&mut self, of: RecipeId) -> RecipeId {
        let bare = self.bare(of);
        match self.get(bare) {
            Recipe::Each(_, body) => body,
            Recipe::List(span) if self.parts(span).len() <= MOST_MEMBERS => {
                let items: Vec<_> = self.parts(span).iter().map(|part| part.1).collect();
                self.one_of(&items)
            }
            Recipe::OneOf(span) => {
                let members = self.parts(span).to_vec();
                let items: Vec<_> = { members.iter() }
                    .map(|(_, member)| self.item_of_member(*member))
                    .collect();
                self.one_of(&items)
            }
            Recipe::With(inner, fields) => {
                let inner = self.item_of_member(inner);
                self.add(Recipe::With(inner, fields))
            }
            Recipe::Nothing | Recipe::Unknown => bare,
            _ => self.add(Recipe::Item(of)),
        }
    }

    /// The item of a list in another recipe, whose own members are not looked at.
    fn item_of_member(&mut self, of: RecipeId) -> RecipeId {
        match self.get(self.bare(of)) {
            Recipe::Each(_, body) => body,
            Recipe::Nothing | Recipe::Unknown => of,
            _ => self.add(Recipe::Item(of)),
        }
    }

    /// Returns a field of an object.
    pub fn field(&mut self, of: RecipeId, name: NameId) -> RecipeId {
        match self.get(self.bare(of)) {
            Recipe::OneOf(span) => {
                let members = self.parts(span).to_vec();
                let fields: Vec<_> = { members.iter() }
                    .map(|(_, member)| self.field_of_member(*member, name))
                    .collect();
                self.one_of(&fields)
            }
            _ => self.field_of_member(of, name),
        }
    }

    fn field_of_member(&mut self, of: RecipeId, name: NameId) -> RecipeId {
        let mut at = of;
        for _ in 0..MOST_PASSED {
            let bare = self.bare(at);
            let (span, rest) = match self.get(bare) {
                Recipe::Object(span) => (span, RecipeId::NOTHING),
                Recipe::With(inner, span) => (span, inner),
                Recipe::Nothing | Recipe::Unknown => return bare,
                _ => break,
            };
            let fields = self.parts(span);
            match fields.iter().find(|field| field.0 == Some(name)) {
                Some(field) => return field.1,
                None if rest == RecipeId::NOTHING => return rest,
                None => at = rest,
            }
        }
        self.add(Recipe::Field(at, name))
    }
}
