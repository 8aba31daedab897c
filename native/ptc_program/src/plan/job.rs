//! A plan as a job: the program is walked, and what is known is returned as a term.

use super::canonical::Canonical;
use super::recipes::reply::RecipeReply;
use super::recipes::walk::RecipeWalk;
use super::reply::PlanReply;
use super::spare;
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
    /// How the arguments of calls are made, if that is wanted.
    recipes: RecipeStage,
    /// What the digest of a program that is a text is made of.
    canonical: Option<Canonical>,
}

/// How the arguments of calls are made.
#[derive(Debug)]
enum RecipeStage {
    /// It is not wanted, or there are no calls.
    None,
    /// The program is not visited yet; its parts that the table does not contain.
    Wanted(Vec<Node>),
    Walk(Box<RecipeWalk>),
    Known(Box<RecipeWalk>),
}

impl<T: Copy> Planning<T> {
    /// Begins with the program whose root is `root`.
    pub fn new(root: Node, edition: Edition) -> Self {
        Planning {
            reply: PlanReply::default(),
            plan: Roots::default(),
            recipes: None,
            state: PlanningState {
                walk: spare::walk(root, edition),
                has_begun: false,
                result: None,
                recipes: RecipeStage::None,
                canonical: None,
            },
        }
    }

    /// Begins a plan whose reply is `{plan, recipes, bytes | nil}`: see [`super::recipes::reply`] and [`super::canonical`]. `outside` are the
    /// parts that the program's table does not contain, in ascending order, with their terms. There are bytes only if the digest of the
    /// program is needed. The plan does not say what the entries of the result are made of, and has names of fields alone.
    pub fn with_recipes(
        root: Node,
        edition: Edition,
        outside: (Vec<Node>, Roots<T>),
        needs_digest: bool,
    ) -> Self {
        let mut planning = Planning::new(root, edition);
        planning.recipes = Some(RecipeReply::new(outside.1));
        planning.state.walk.is_for_people = true;
        planning.state.recipes = RecipeStage::Wanted(outside.0);
        planning.state.canonical = needs_digest.then(|| Canonical::new(root));
        planning
    }

    /// Keeps the memory of a plan that is made.
    pub fn keep_memory(self) {
        spare::keep(self.state.walk);
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
            state.has_begun = true;
        }
        let mut before = state.walk.words();
        let result = loop {
            if let Some(result) = state.result {
                break result;
            }
            state.result = state.walk.step(document);
            let words = state.walk.words();
            let made = words.saturating_sub(before) / WORDS_A_UNIT + state.walk.take_work();
            before = words;
            meter.check_heap_limit(words, heap)?;
            meter.consume_fuel(FUEL_PER_STEP + made, heap)?;
        };
        if self.plan.is_empty() {
            let plan = self.reply.step(result, &mut state.walk, heap, meter)?;
            self.plan.push(plan);
        }
        let Some(reply) = &mut self.recipes else {
            return Ok(self.plan.get(heap, 0));
        };
        if let Some(canonical) = &mut state.canonical {
            canonical.step(document, heap, meter)?;
        }
        state.visit_recipes(document, heap, meter)?;
        let recipes = match &state.recipes {
            RecipeStage::Known(walk) => reply.step(document, &state.walk, walk, heap, meter)?,
            _ => reply.nothing(heap),
        };
        let bytes = state.canonical.as_ref().and_then(Canonical::bytes);
        let bytes = match bytes {
            Some(bytes) => heap.make_string(bytes),
            None => heap.nil(),
        };
        let plan = self.plan.get(heap, 0);
        Ok(heap.make_tuple(&[plan, recipes, bytes]))
    }
}

impl PlanningState {
    /// Finds out how the arguments of calls are made, if there are any.
    fn visit_recipes<H: Heap>(
        &mut self,
        document: &Document,
        heap: &H,
        meter: &mut Meter,
    ) -> Result<(), Stop> {
        if let RecipeStage::Wanted(outside) = &mut self.recipes {
            if self.walk.calls.is_empty() {
                return Ok(());
            }
            let (root, edition) = (self.walk.stack.root, self.walk.stack.edition);
            let mut walk = Box::new(RecipeWalk::new(root, edition, std::mem::take(outside)));
            walk.begin(document);
            self.recipes = RecipeStage::Walk(walk);
        }
        while let RecipeStage::Walk(walk) = &mut self.recipes {
            let before = walk.words();
            let is_known = walk.step(document);
            let words = walk.words();
            let made = words.saturating_sub(before) / WORDS_A_UNIT + walk.take_work();
            if is_known {
                self.recipes = match std::mem::replace(&mut self.recipes, RecipeStage::None) {
                    RecipeStage::Walk(walk) => RecipeStage::Known(walk),
                    other => other,
                };
            }
            meter.check_heap_limit(words + self.walk.words(), heap)?;
            meter.consume_fuel(FUEL_PER_STEP + made, heap)?;
        }
        Ok(())
    }
}
