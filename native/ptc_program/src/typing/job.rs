//! A check as a job: the program is loaded and checked, the types it needs are read, then it is walked, and what was found is
//! returned as a term. A plan begins in the same way.

use super::given::{FieldsGiven, GivenTo, GivenTypes};
use super::infer::{Budget, Sampling};
use super::reply::Reply;
use super::spare;
use super::ty::TyId;
use super::walk::TypeWalk;
use crate::code::ConstId;
use crate::load::{LoadOptions, Loader, Refusal};
use crate::plan::job::Planning;
use crate::source::KeptSource;
use ptc_json::{Document, Node};
use ptc_term::heap::Heap;
use ptc_term::job::Job;
use ptc_term::meter::Meter;
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;
use ptc_vm::explain::Detail;
use std::sync::Arc;

#[derive(Debug, Clone, Copy)]
enum CheckStage {
    Load,
    /// The constants from this one on that the table does not contain.
    Constants(usize),
    Read,
    Walk,
    Reply,
}

/// The plain data of a check.
#[derive(Debug)]
struct CheckState {
    stage: CheckStage,
    options: LoadOptions,
    /// Whether the program is checked a second time, to find the place of its mistake.
    again: bool,
    needs_text: bool,
    /// The program, once it is loaded, or if it was compiled before.
    source: Option<Arc<KeptSource>>,
    /// The parts of the program that are the constants in `outside`.
    outside: Vec<Node>,
    walk: Option<Box<TypeWalk>>,
    result: TyId,
}

/// A check of a program.
pub struct Check<T> {
    loader: Option<Loader<T>>,
    given: FieldsGiven<T>,
    constant: Option<Sampling<T>>,
    /// The constants that the program's table does not contain, see [`KeptSource::constants_outside`].
    outside: Roots<T>,
    reply: Reply<T>,
    /// The plan, if that is wanted in the place of the types.
    plan: Option<Planning<T>>,
    state: CheckState,
}

rooted!(Check { states: loader, given, constant, outside, reply, plan; plain: state });

/// How much is read of a constant that the program's table does not contain.
const CONSTANT: Budget = Budget {
    rows: 100,
    values: 500,
    literals: true,
};
/// Maximum number of such constants.
const MOST_CONSTANTS: usize = 100;
/// Maximum number of parts that the table does not contain and whose terms stand in recipes.
const MOST_OF_RECIPES: usize = 4_096;
/// Fuel for a step of the walk.
const FUEL_PER_STEP: usize = 6;

impl<T: Copy> Check<T> {
    /// Checks a text of this many bytes: `{"program": …}`.
    pub fn of_text(length: usize, options: LoadOptions, given: GivenTypes<T>) -> Self {
        let loader = Loader::of_text(length, unobserved(options));
        Check::new(Some(loader.only_checked()), true, options, given)
    }

    /// Checks a term: the program itself.
    pub fn of_term(program: T, options: LoadOptions, given: GivenTypes<T>) -> Self {
        let loader = Loader::of_term(program, unobserved(options));
        Check::new(Some(loader.only_checked()), false, options, given)
    }

    /// Checks a program that was compiled before. The text is not read again. `constant` gives the constants of the program.
    pub fn of_source(
        source: Arc<KeptSource>,
        constant: impl Fn(usize) -> Option<T>,
        detail: Detail,
        given: GivenTypes<T>,
    ) -> Self {
        let options = LoadOptions {
            options: source.options,
            observed: Some(detail),
        };
        let mut check = Check::new(None, source.text.is_some(), options, given);
        for (node, id) in outside_of(&source, options.observed) {
            if let Some(term) = constant(id as usize) {
                check.outside.push(term);
                check.state.outside.push(node);
            }
        }
        check.state.source = Some(source);
        check
    }

    fn new(
        loader: Option<Loader<T>>,
        needs_text: bool,
        options: LoadOptions,
        given: GivenTypes<T>,
    ) -> Self {
        Check {
            loader,
            given: FieldsGiven::new(given),
            constant: None,
            outside: Roots::default(),
            reply: Reply::default(),
            plan: None,
            state: CheckState {
                stage: CheckStage::Load,
                options,
                again: false,
                needs_text,
                source: None,
                outside: Vec::new(),
                walk: None,
                result: TyId::UNKNOWN,
            },
        }
    }

    /// Returns whether the text is needed.
    pub fn needs_text(&self) -> bool {
        self.state.needs_text
    }

    /// Begins the check of types, or the plan.
    fn begin<H: Heap<Term = T>>(&mut self, source: &KeptSource, heap: &H) {
        let root = source.root;
        let edition = self.state.options.options.edition;
        match self.state.options.observed {
            Some(Detail::Plan) => {
                self.plan = Some(Planning::new(root, edition));
                return;
            }
            Some(Detail::Recipes) => {
                let nodes = std::mem::take(&mut self.state.outside);
                let outside = (nodes, std::mem::take(&mut self.outside));
                let needs_digest = source.needs_digest();
                let plan = Planning::with_recipes(root, edition, outside, needs_digest);
                self.plan = Some(plan);
                return;
            }
            _ => {}
        }
        let mut walk = spare::walk(root, self.state.options.options.edition);
        walk.values = self.state.options.options.values;
        if self.state.options.observed == Some(Detail::All) {
            walk.noted = Some(Vec::new());
        }
        self.given.begin(&source.uses, &mut walk, heap);
        self.state.walk = Some(walk);
        self.state.stage = match self.outside.is_empty() {
            true => CheckStage::Read,
            false => CheckStage::Constants(0),
        };
    }

    /// Continues with the stage; returns the reply when it is made.
    fn go_on<H: Heap<Term = T>>(
        &mut self,
        (document, text): (&Document, &[u8]),
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<Option<T>, Stop> {
        if let Some(plan) = &mut self.plan {
            return plan.step(document, heap, meter).map(Some);
        }
        let Some(walk) = self.state.walk.as_deref_mut() else {
            return Err(Stop::Abandoned);
        };
        self.state.stage = match self.state.stage {
            CheckStage::Load => return Err(Stop::Abandoned),
            CheckStage::Constants(at) => match self.state.outside.get(at).copied() {
                None => CheckStage::Read,
                Some(node) => {
                    let term = self.outside.get(heap, at);
                    let sampling = self
                        .constant
                        .get_or_insert_with(|| Sampling::new(term, CONSTANT, heap));
                    let ty = sampling.step(&mut walk.types, heap, meter)?;
                    self.constant = None;
                    walk.known.outside.insert(node, ty);
                    CheckStage::Constants(at + 1)
                }
            },
            CheckStage::Read => {
                let mut into = GivenTo {
                    walk,
                    terms: &mut self.reply.types,
                    values: self.state.options.options.values,
                };
                self.given.read(&mut into, document, heap, meter)?;
                walk.begin(document);
                CheckStage::Walk
            }
            CheckStage::Walk => {
                self.state.result = walked(walk, document, heap, meter)?;
                CheckStage::Reply
            }
            CheckStage::Reply => {
                let (reply, result) = (&mut self.reply, self.state.result);
                return reply
                    .step(result, walk, (document, text), heap, meter)
                    .map(Some);
            }
        };
        Ok(None)
    }
}

/// Returns the parts that the table does not contain and that are looked at.
fn outside_of(source: &KeptSource, detail: Option<Detail>) -> Vec<(Node, ConstId)> {
    match detail {
        Some(Detail::Recipes) => source.outside(MOST_OF_RECIPES).to_vec(),
        _ => source.constants_outside(MOST_CONSTANTS).collect(),
    }
}

/// The options for loading a program. What is needed for the place of a mistake is only made once there is one.
fn unobserved(options: LoadOptions) -> LoadOptions {
    LoadOptions {
        observed: None,
        ..options
    }
}

fn walked<H: Heap>(
    walk: &mut TypeWalk,
    document: &Document,
    heap: &H,
    meter: &mut Meter,
) -> Result<TyId, Stop> {
    let mut before = walk.words();
    loop {
        if let Some(ty) = walk.step(document) {
            return Ok(walk.returned(ty));
        }
        // The work of a step is what it makes: it is counted afterwards, when the walk can be suspended.
        let words = walk.words();
        let made = words.saturating_sub(before) / 8;
        before = words;
        meter.check_heap_limit(words, heap)?;
        meter.consume_fuel(FUEL_PER_STEP + made, heap)?;
    }
}

impl<H: Heap> Job<H> for Check<H::Term> {
    /// `{type, reads, tools, findings}`, or why it is no program.
    type Out = Result<H::Term, Refusal<H::Term>>;

    fn step(&mut self, text: &[u8], heap: &mut H, meter: &mut Meter) -> Result<Self::Out, Stop> {
        while let Some(loader) = &mut self.loader {
            match loader.step(text, heap, meter)? {
                Err(Refusal::Rejected(_, None))
                    if !matches!(
                        self.state.options.observed,
                        None | Some(Detail::Plan | Detail::Recipes)
                    ) && !self.state.again =>
                {
                    self.state.again = true;
                    loader.again(self.state.options.observed.unwrap_or_default());
                    // What its error is made of was made in one go; from here on the work can be suspended.
                    meter.advanced();
                }
                Err(refusal) => return Ok(Err(refusal)),
                Ok(()) => {
                    let loaded = self.loader.take().and_then(Loader::into_source);
                    let Some((source, terms)) = loaded else {
                        return Err(Stop::Abandoned);
                    };
                    for (node, id) in outside_of(&source, self.state.options.observed) {
                        self.outside.push(terms.get(heap, id as usize));
                        self.state.outside.push(node);
                    }
                    self.state.source = Some(source);
                }
            }
        }
        let Some(source) = self.state.source.clone() else {
            return Err(Stop::Abandoned);
        };
        if matches!(self.state.stage, CheckStage::Load) && self.plan.is_none() {
            self.begin(&source, heap);
        }
        let document = source.document(text);
        loop {
            if let Some(reply) = self.go_on((&document, text), heap, meter)? {
                if let Some(walk) = self.state.walk.take() {
                    spare::keep(walk);
                }
                if let Some(plan) = self.plan.take() {
                    plan.keep_memory();
                }
                return Ok(Ok(reply));
            }
        }
    }
}
