//! A plan as a job: the program is walked, and what is known is returned as a term.

use super::recipes::reply::RecipeReply;
use super::recipes::walk::RecipeWalk;
use super::reply::PlanReply;
use super::value::ValueId;
use super::walk::PlanWalk;
use crate::edition::Edition;
use ptc_json::{Document, Node};
use ptc_term::heap::Heap;
use ptc_term::meter::Meter;
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;

/// Fuel for a step of the walk, and the words that cost one unit.
const FUEL_PER_STEP: usize = 6;
const WORDS_A_UNIT: usize = 8;

/// A plan of a program that was loaded.
#[derive(Debug)]
pub struct Planning<T> {
    reply: PlanReply<T>,
    /// The plan, once it is made, if recipes are wanted too.
    plan: Roots<T>,
    recipes: Option<RecipeReply<T>>,
    state: PlanningState,
}

rooted!(Planning { states: reply, plan, recipes; plain: state });

#[derive(Debug)]
struct PlanningState {
    walk: Box<PlanWalk>,
    has_begun: bool,
    result: Option<ValueId>,
    /// How the arguments of calls are made, if that is wanted, and whether it is known.
    recipes: Option<(Box<RecipeWalk>, bool)>,
}

impl<T: Copy> Planning<T> {
    /// Begins with the program whose root is `root`.
    pub fn new(root: Node, edition: Edition) -> Self {
        Planning {
            reply: PlanReply::default(),
            plan: Roots::default(),
            recipes: None,
            state: PlanningState {
                walk: Box::new(PlanWalk::new(root, edition)),
                has_begun: false,
                result: None,
                recipes: None,
            },
        }
    }

    /// Begins a plan whose reply is `{plan, recipes}`: see [`super::recipes::reply`]. `outside` are the parts that the program's table does
    /// not contain, in ascending order, with their terms.
    pub fn with_recipes(root: Node, edition: Edition, outside: (Vec<Node>, Roots<T>)) -> Self {
        let mut planning = Planning::new(root, edition);
        let walk = Box::new(RecipeWalk::new(root, edition, outside.0));
        planning.recipes = Some(RecipeReply::new(outside.1));
        planning.state.recipes = Some((walk, false));
        planning
    }

    /// Continues until the reply is made.
    pub fn step<H: Heap<Term = T>>(
        &mut self,
        document: &Document,
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<T, Stop> {
        let state = &mut self.state;
        if !state.has_begun {
            state.walk.begin(document);
            if let Some((recipes, _)) = &mut state.recipes {
                recipes.begin(document);
            }
            state.has_begun = true;
        }
        let result = loop {
            if let Some(result) = state.result {
                break result;
            }
            let before = state.walk.words();
            state.result = state.walk.step(document);
            let words = state.walk.words();
            let made = words.saturating_sub(before) / WORDS_A_UNIT + state.walk.take_work();
            meter.check_heap_limit(words, heap)?;
            meter.consume_fuel(FUEL_PER_STEP + made, heap)?;
        };
        if self.plan.is_empty() {
            let plan = self.reply.step(result, &mut state.walk, heap, meter)?;
            self.plan.push(plan);
        }
        let (Some((walk, is_known)), Some(reply)) = (&mut state.recipes, &mut self.recipes) else {
            return Ok(self.plan.get(heap, 0));
        };
        while !*is_known {
            let before = walk.words();
            *is_known = walk.step(document);
            let words = walk.words();
            let made = words.saturating_sub(before) / WORDS_A_UNIT + walk.take_work();
            meter.check_heap_limit(words + state.walk.words(), heap)?;
            meter.consume_fuel(FUEL_PER_STEP + made, heap)?;
        }
        let recipes = reply.step(document, &state.walk, walk, heap, meter)?;
        let plan = self.plan.get(heap, 0);
        Ok(heap.make_tuple(&[plan, recipes]))
    }
}
