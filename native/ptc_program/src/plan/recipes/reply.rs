//! Recipes and calls as terms: `{recipes, calls}`, made part by part.
//!
//! `recipes` is a list in the order of the table. A recipe is `:nothing`, `:unknown`, `:now`, `{:constant, term}`,
//! `{:context | :memory | :answer | :error, name}`, `{:accumulated, number}`, `{:item | :group, recipe}`, `{:field, recipe, name}`,
//! `{:object, [{name, recipe}]}`, `{:list | :one_of, [recipe]}`, `{:with, recipe, [{name, recipe}]}`, `{:each, recipe, recipe}`, or
//! `{:made, operation, [{field, recipe}], recipe, copied | nil}`. A recipe in another one is its number.
//!
//! A call is `{tool, least, most, recipe}`.

use super::super::calls::MOST_COUNTED;
use super::super::formula::FormulaId;
use super::super::terms::{formula_term, number_term};
use super::super::walk::PlanWalk;
use super::table::{Copies, PartSpan, Recipe, RecipeId};
use super::walk::RecipeWalk;
use crate::analysis::names::NameId;
use ptc_json::{Document, Node, PartialValue, Replay, TermBuilder};
use ptc_term::heap::Heap;
use ptc_term::meter::Meter;
use ptc_term::named::named;
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;
use ptc_term::workspace::Workspace;
use std::mem::take;

named! {
    /// A kind of recipe; on the BEAM an atom.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RecipeWord {
        /// Null where nothing is given.
        Nothing = "nothing",
        /// Nothing is known.
        Unknown = "unknown",
        /// The time of the run.
        Now = "now",
        /// A constant.
        Constant = "constant",
        /// The data of the run.
        Context = "context",
        /// The memory.
        Memory = "memory",
        /// The answers of a tool.
        Answer = "answer",
        /// The errors of a tool.
        Error = "error",
        /// What a `fold` has accumulated.
        Accumulated = "accumulated",
        /// An item of a list.
        Item = "item",
        /// Some items of a list.
        Group = "group",
        /// A field of an object.
        Field = "field",
        /// An object.
        Object = "object",
        /// A list.
        List = "list",
        /// One of several.
        OneOf = "one_of",
        /// An object with other fields.
        With = "with",
        /// A list that is made item by item.
        Each = "each",
        /// What an operation makes.
        Made = "made",
    }
}

/// Fuel for a recipe and for a call.
const FUEL_PER_RECIPE: usize = 8;
const FUEL_PER_CALL: usize = 16;

/// A reply that is being made.
#[derive(Debug)]
pub struct RecipeReply<T> {
    /// The terms of `RecipeWalk::outside`.
    outside: Roots<T>,
    recipes: Roots<T>,
    calls: Roots<T>,
    /// The constant that is partly built.
    begun: PartialValue<T>,
    replay: Option<Replay>,
}

rooted!(RecipeReply { states: outside, recipes, calls, begun; plain: replay });

impl<T: Copy> RecipeReply<T> {
    /// Begins with the terms of the parts that the program's table does not contain.
    pub fn new(outside: Roots<T>) -> Self {
        RecipeReply {
            outside,
            recipes: Roots::default(),
            calls: Roots::default(),
            begun: PartialValue::default(),
            replay: None,
        }
    }

    /// The reply of a program without calls.
    pub fn nothing<H: Heap<Term = T>>(&self, heap: &mut H) -> T {
        let none = heap.make_list(&[]);
        heap.make_tuple(&[none, none])
    }

    /// Continues until all is made.
    pub fn step<H: Heap<Term = T>>(
        &mut self,
        source: &Document,
        plan: &PlanWalk,
        walk: &RecipeWalk,
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<T, Stop> {
        while self.recipes.len() < walk.recipes.count() {
            let id = RecipeId(self.recipes.len() as u32);
            let before = heap.words_built();
            let term = match walk.recipes.get(id) {
                Recipe::Constant(node) => {
                    let constant = self.constant(node, source, walk, heap, meter)?;
                    let word = heap.word(RecipeWord::Constant);
                    heap.make_tuple(&[word, constant])
                }
                recipe => recipe_term(recipe, walk, heap),
            };
            self.recipes.push(term);
            let cost = FUEL_PER_RECIPE + (heap.words_built() - before) / 2;
            meter.check_heap_limit(walk.words(), heap)?;
            meter.consume_fuel(cost, heap)?;
        }
        // Both domains visit the calls in one order.
        while let Some(call) = walk.calls.get(self.calls.len()) {
            let before = heap.words_built();
            let term = call_term(call.args, self.calls.len(), plan, heap);
            self.calls.push(term);
            meter.consume_fuel(FUEL_PER_CALL + (heap.words_built() - before) / 2, heap)?;
        }
        let lists = [self.recipes.list(heap), self.calls.list(heap)];
        Ok(heap.make_tuple(&lists))
    }

    fn constant<H: Heap<Term = T>>(
        &mut self,
        node: Node,
        source: &Document,
        walk: &RecipeWalk,
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<T, Stop> {
        if let Ok(at) = walk.outside.binary_search(&node) {
            return Ok(self.outside.get(heap, at));
        }
        if let Some(term) = source.build_small(node, heap) {
            return Ok(term);
        }
        let work = Workspace::new(heap, meter);
        let mut builder = TermBuilder::resume(work, take(&mut self.begun));
        let replay = self.replay.take();
        let mut replay = replay.unwrap_or_else(|| Replay::new(source, node));
        if let Err(stop) = replay.run(source, &mut builder) {
            self.begun = builder.into_partial();
            self.replay = Some(replay);
            return Err(stop);
        }
        Ok(builder.finish())
    }
}

fn call_term<H: Heap>(args: RecipeId, at: usize, plan: &PlanWalk, heap: &mut H) -> H::Term {
    let Some(site) = plan.calls.get(at) else {
        return heap.nil();
    };
    let name = heap.make_string(plan.names.get(site.tool));
    let (least, most) = match at {
        ..MOST_COUNTED => (site.least, site.most),
        _ => (FormulaId::ZERO, most_of_tool(site.tool, plan)),
    };
    let least = formula_term(least, plan, heap);
    let most = formula_term(most, plan, heap);
    let args = number_term(u64::from(args.0), heap);
    heap.make_tuple(&[name, least, most, args])
}

fn most_of_tool(tool: NameId, plan: &PlanWalk) -> FormulaId {
    let found = plan
        .effects
        .binary_search_by_key(&tool, |called| called.tool);
    found.map_or(FormulaId::UNKNOWN, |at| plan.effects[at].most)
}

fn recipe_term<H: Heap>(recipe: Recipe, walk: &RecipeWalk, heap: &mut H) -> H::Term {
    let named = |word: RecipeWord, name: NameId, heap: &mut H| {
        let (word, name) = (heap.word(word), heap.make_string(walk.names.get(name)));
        heap.make_tuple(&[word, name])
    };
    let number = |id: RecipeId, heap: &mut H| number_term(u64::from(id.0), heap);
    match recipe {
        Recipe::Nothing => heap.word(RecipeWord::Nothing),
        // A constant has been made.
        Recipe::Unknown | Recipe::Constant(_) => heap.word(RecipeWord::Unknown),
        Recipe::Now => heap.word(RecipeWord::Now),
        Recipe::Context(name) => named(RecipeWord::Context, name, heap),
        Recipe::Memory(name) => named(RecipeWord::Memory, name, heap),
        Recipe::Answer(name) => named(RecipeWord::Answer, name, heap),
        Recipe::Error(name) => named(RecipeWord::Error, name, heap),
        Recipe::Accumulated(folds) => {
            let (word, folds) = (
                heap.word(RecipeWord::Accumulated),
                number_term(u64::from(folds), heap),
            );
            heap.make_tuple(&[word, folds])
        }
        Recipe::Item(of) => {
            let (word, of) = (heap.word(RecipeWord::Item), number(of, heap));
            heap.make_tuple(&[word, of])
        }
        Recipe::Group(of) => {
            let (word, of) = (heap.word(RecipeWord::Group), number(of, heap));
            heap.make_tuple(&[word, of])
        }
        Recipe::Field(of, name) => {
            let (word, of) = (heap.word(RecipeWord::Field), number(of, heap));
            let name = heap.make_string(walk.names.get(name));
            heap.make_tuple(&[word, of, name])
        }
        Recipe::Object(span) => {
            let (word, parts) = (heap.word(RecipeWord::Object), parts_term(span, walk, heap));
            heap.make_tuple(&[word, parts])
        }
        Recipe::List(span) => {
            let (word, parts) = (heap.word(RecipeWord::List), parts_term(span, walk, heap));
            heap.make_tuple(&[word, parts])
        }
        Recipe::OneOf(span) => {
            let (word, parts) = (heap.word(RecipeWord::OneOf), parts_term(span, walk, heap));
            heap.make_tuple(&[word, parts])
        }
        Recipe::With(of, span) => {
            let (word, of) = (heap.word(RecipeWord::With), number(of, heap));
            let parts = parts_term(span, walk, heap);
            heap.make_tuple(&[word, of, parts])
        }
        Recipe::Each(list, body) => {
            let word = heap.word(RecipeWord::Each);
            let both = [list, body].map(|id| number(id, heap));
            heap.make_tuple(&[word, both[0], both[1]])
        }
        Recipe::Made {
            op,
            parts,
            input,
            copies,
        } => {
            let word = heap.word(RecipeWord::Made);
            let op = heap.make_string(op.name().as_bytes());
            let (parts, input) = (parts_term(parts, walk, heap), number(input, heap));
            let copied = match copies {
                Copies::No => heap.nil(),
                Copies::Whole(of) | Copies::Part(of) => number(of, heap),
            };
            heap.make_tuple(&[word, op, parts, input, copied])
        }
    }
}

fn parts_term<H: Heap>(span: PartSpan, walk: &RecipeWalk, heap: &mut H) -> H::Term {
    let mut all = Vec::new();
    for (name, id) in walk.recipes.parts(span) {
        let id = number_term(u64::from(id.0), heap);
        all.push(match name {
            Some(name) => {
                let name = heap.make_string(walk.names.get(*name));
                heap.make_tuple(&[name, id])
            }
            None => id,
        });
    }
    heap.make_list(&all)
}
