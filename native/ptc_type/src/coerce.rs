//! Coercion: a walk over a value that rebuilds only what must change.
//!
//! Whatever needs no change remains the same term: a whole value, a field, an element, and the rest of
//! a list after its last changed element. Small maps share their keys with the original.
//!
//! This file combines coerced parts into their containers; `convert` has the conversions.

use super::values::{Found, Rows, Values};
use super::walk::frame::{Frame, ListFrame, OpenMap};
use super::walk::{Open, Place, Task, Walk, WalkEnd};
use super::Scalar;
use ptc_term::heap::Heap;
use ptc_term::names::Matching;
use ptc_term::roots::Roots;
use ptc_term::suspend::{Exchange, Rooted};

/// The purpose of a coercion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To get the value: keys are as declared, and the first failure ends the coercion.
    Coerce,
    /// To get a value that is valid, but cannot be coerced with keys as declared: keys are matched as in validation, except for
    /// atoms with hyphens.
    Spelled,
    /// To check the arguments of a tool: keys are matched as in validation, and all findings have
    /// paths.
    Input,
    /// To check data of a JSON Schema: keys are as declared, other keys of open maps stay, and all findings have paths. They are
    /// of JSON.
    Data,
}

/// A conversion that only Elixir can do: of a date, or of a text that may be one.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    /// The wanted type.
    pub scalar: Scalar,
    /// Whether the value is in a firewalled field: the answer must not show it.
    pub hidden: bool,
}

/// The coercion of a value.
#[derive(Debug)]
pub struct Coerce<T> {
    purpose: Purpose,
    /// The value is of JSON: null, true and false are no texts, as other atoms are.
    of_json: bool,
    /// The warnings about coerced values, as texts.
    pub warnings: Roots<T>,
    pub(super) questions: Vec<Question>,
    pub(super) asked: Roots<T>,
    /// The remaining answers, if this is the second walk.
    pub(super) answers: Option<T>,
    outputs: Roots<T>,
    /// A struct was accepted as a map, which validation does not.
    pub(super) took_struct: bool,
    pub(super) scratch: Scratch<T>,
}

/// Terms that are made only once, and a buffer for texts.
#[derive(Debug)]
pub(super) struct Scratch<T> {
    pub keyword_to_string: Option<T>,
    /// The smallest integers, in magnitude, that are too large for a float.
    pub beyond_floats: Option<(T, T)>,
    pub text: Vec<u8>,
}

impl<T> Default for Scratch<T> {
    fn default() -> Self {
        Scratch {
            keyword_to_string: None,
            beyond_floats: None,
            text: Vec::new(),
        }
    }
}

/// The state of a coercion at the start of a list or map.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    outputs: usize,
    warnings: usize,
    asked: usize,
    /// For a list, the number of elements up to the last changed one: if it is not 0, the outputs
    /// contain all elements so far. For a flat map, 1 after a field has changed: then the outputs
    /// contain all its values.
    changed: usize,
}

impl<T> Rooted for Coerce<T> {
    type Term = T;
    type With<U> = Coerce<U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Coerce<X::Into>, X::Lost> {
        Ok(Coerce {
            purpose: self.purpose,
            of_json: self.of_json,
            warnings: self.warnings.exchange(by)?,
            questions: self.questions,
            asked: self.asked.exchange(by)?,
            answers: by.optional(self.answers)?,
            outputs: self.outputs.exchange(by)?,
            took_struct: self.took_struct,
            scratch: Scratch::default(),
        })
    }
}

impl<T: Copy> Coerce<T> {
    /// Creates a coercion; `answers` are the answers to the questions of the first walk.
    pub fn new(purpose: Purpose, answers: Option<T>) -> Self {
        Coerce {
            purpose,
            of_json: purpose == Purpose::Data,
            warnings: Roots::default(),
            questions: Vec::new(),
            asked: Roots::default(),
            answers,
            outputs: Roots::default(),
            took_struct: false,
            scratch: Scratch::default(),
        }
    }

    /// Returns the coercion of a value that is of JSON.
    pub fn of_json(self) -> Self {
        Coerce {
            of_json: true,
            ..self
        }
    }

    /// Returns whether null, true and false are no texts.
    pub(super) fn is_of_json(&self) -> bool {
        self.of_json
    }

    /// Returns whether a struct was accepted as a `:map`, which validation does not.
    pub fn took_struct(&self) -> bool {
        self.took_struct
    }

    /// Returns the purpose.
    pub fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Returns whether the walk must be repeated with answers.
    pub fn asks(&self) -> bool {
        self.answers.is_none() && !self.questions.is_empty()
    }

    /// Returns the questions for Elixir, with their values.
    pub fn questions<H: Heap<Term = T>>(&mut self, heap: &H) -> (&[Question], &[T]) {
        (&self.questions, self.asked.since(0, heap))
    }

    /// Returns the values that only Elixir can convert, as a list of `{type, value, hidden?}`.
    pub fn asked<H: Heap<Term = T>>(&mut self, heap: &mut H) -> T {
        let (questions, values) = self.questions(heap);
        let asked = questions.iter().zip(values).map(|(question, value)| {
            let (scalar, hidden) = (heap.word(question.scalar), heap.boolean(question.hidden));
            heap.make_tuple(&[scalar, *value, hidden])
        });
        let asked: Vec<T> = asked.collect();
        heap.make_list(&asked)
    }
}

impl<H: Values> Task<H> for Coerce<H::Term> {
    /// The new term, if the part changed.
    type Done = Option<H::Term>;
    type Mark = Mark;

    const SAME: Self::Done = None;

    fn matching(&self) -> Matching {
        match self.purpose {
            Purpose::Coerce | Purpose::Data => Matching::Exact,
            Purpose::Spelled => Matching::Spelled,
            Purpose::Input => Matching::Lenient,
        }
    }

    #[inline]
    fn takes_structs(&self) -> bool {
        self.purpose == Purpose::Coerce
    }

    #[inline]
    fn ends_at_first(&self) -> bool {
        !matches!(self.purpose, Purpose::Input | Purpose::Data)
    }

    fn reset(&mut self, mark: &Mark, heap: &H) {
        self.outputs.truncate(mark.outputs, heap);
        self.warnings.truncate(mark.warnings, heap);
    }

    #[inline]
    fn mark(&self) -> Mark {
        Mark {
            outputs: self.outputs.len(),
            warnings: self.warnings.len(),
            asked: self.questions.len(),
            changed: 0,
        }
    }

    fn is_silent_since(&self, mark: &Mark) -> bool {
        (self.warnings.len(), self.questions.len()) == (mark.warnings, mark.asked)
    }

    #[inline]
    fn scalar(
        walk: &mut Walk<H, Self>,
        scalar: Scalar,
        value: H::Term,
        place: Option<Place>,
    ) -> Result<Option<H::Term>, WalkEnd> {
        walk.converted(scalar, value, place)
    }

    #[inline]
    fn value(done: Option<H::Term>, was: H::Term) -> H::Term {
        done.unwrap_or(was)
    }

    #[inline]
    fn unanswered(&self) -> usize {
        self.questions.len()
    }

    fn by_rules(
        walk: &mut Walk<H, Self>,
        scalar: Scalar,
        rules: u32,
        value: H::Term,
        place: Option<Place>,
    ) -> Result<Option<H::Term>, WalkEnd> {
        walk.converted_by_rules(scalar, rules, value, place)
    }

    #[inline]
    fn made(value: H::Term) -> Option<H::Term> {
        Some(value)
    }

    #[inline]
    fn found(walk: &mut Walk<H, Self>, open: Open<H>, found: &Found<H::Term>) {
        if !H::Rows::is_flat(open) {
            walk.state.task.outputs.push(found.key);
            walk.state.task.outputs.push(found.value);
        }
    }

    #[inline(always)]
    fn field(
        walk: &mut Walk<H, Self>,
        map: &mut OpenMap<H::Term, Open<H>, Mark>,
        found: &Found<H::Term>,
        done: Option<H::Term>,
    ) {
        // Another field may have changed the same value.
        if done.is_some() || map.frame.mark.changed != 0 || !H::Rows::is_flat(map.open) {
            changed(walk, map, found, done);
        }
    }

    #[inline]
    fn passes(list: &Mark) -> bool {
        list.changed == 0
    }

    #[inline(always)]
    fn element(walk: &mut Walk<H, Self>, was: H::Term, done: Option<H::Term>) {
        let changed =
            |frame: &mut Frame<Mark>| matches!(frame, Frame::List(list) if list.mark.changed != 0);
        if done.is_some() || walk.state.stack.top().is_some_and(changed) {
            put_element(walk, was, done);
        }
    }

    fn list_end(
        walk: &mut Walk<H, Self>,
        value: H::Term,
        list: &ListFrame<Mark>,
        is_proper: bool,
    ) -> Result<Option<H::Term>, WalkEnd> {
        let (mark, task) = (&list.mark, &mut walk.state.task);
        if !is_proper {
            task.warnings.truncate(mark.warnings, &*walk.heap);
            task.outputs.truncate(mark.outputs, &*walk.heap);
            return Ok(None);
        }
        if mark.changed == 0 {
            walk.remember(value, list.id, list.findings, mark);
            return Ok(None);
        }
        let outputs = &task.outputs.since(mark.outputs, &*walk.heap)[..mark.changed];
        let made = match mark.changed == list.taken as usize {
            true => walk.heap.make_list(outputs),
            false => {
                let heap = &mut *walk.heap;
                let mut tail = value;
                for _ in 0..mark.changed {
                    tail = heap.uncons(tail).map_or(tail, |(_, tail)| tail);
                }
                let cons = |tail, element: &H::Term| heap.cons(*element, tail);
                outputs.iter().rev().fold(tail, cons)
            }
        };
        task.outputs.truncate(mark.outputs, &*walk.heap);
        Ok(Some(made))
    }

    fn map_end<const RARE: bool>(
        walk: &mut Walk<H, Self>,
        map: &OpenMap<H::Term, Open<H>, Mark>,
    ) -> Result<Option<H::Term>, WalkEnd> {
        let is_flat = H::Rows::is_flat(map.open);
        let changed = !is_flat || map.frame.mark.changed > 0;
        if !is_flat {
            walk.consume_fuel(walk.state.task.outputs.len() - map.frame.mark.outputs)?;
        }
        if walk.state.task.purpose == Purpose::Data {
            return all_keys::<H, RARE>(walk, map, changed);
        }
        let (heap, outputs) = (&mut *walk.heap, &mut walk.state.task.outputs);
        let (types, frame) = (walk.types, &map.frame);
        let made = {
            let outputs = match changed {
                true => Some(&*outputs.since(frame.mark.outputs, heap)),
                false => None,
            };
            let value = (map.value, map.open);
            let rows = &mut walk.rows;
            rows.remake(heap, types, frame.id, frame.fields, value, outputs)
        };
        if changed {
            outputs.truncate(frame.mark.outputs, heap);
        }
        if RARE && types.makes() {
            return walk.completed(map, made);
        }
        if walk.heap.same(made, map.value) {
            walk.remember(map.value, frame.id, frame.findings, &frame.mark);
            return Ok(None);
        }
        walk.consume_fuel(5)?;
        Ok(Some(made))
    }
}

/// Ends a map whose undeclared keys stay: it has the fields that have changed.
#[inline(never)]
fn all_keys<H: Values, const RARE: bool>(
    walk: &mut Walk<H, Coerce<H::Term>>,
    map: &OpenMap<H::Term, Open<H>, Mark>,
    changed: bool,
) -> Result<Option<H::Term>, WalkEnd> {
    let mut made = map.value;
    if changed {
        let (heap, task) = (&mut *walk.heap, &mut walk.state.task);
        let outputs = task.outputs.since(map.frame.mark.outputs, heap).to_vec();
        match (H::Rows::is_flat(map.open), heap.flat(made)) {
            (true, Some((keys, values))) => {
                let (keys, values) = (keys.to_vec(), values.to_vec());
                made = heap.remake_map(made, &keys, &values, &outputs);
            }
            _ => {
                for field in outputs.chunks_exact(3) {
                    if !heap.same(field[1], field[2]) {
                        made = heap.with_value(made, field[0], field[2]);
                    }
                }
            }
        }
        let task = &mut walk.state.task;
        task.outputs.truncate(map.frame.mark.outputs, &*walk.heap);
    }
    if RARE && walk.types.makes() {
        return walk.completed(map, made);
    }
    if walk.heap.same(made, map.value) {
        walk.remember(map.value, map.frame.id, map.frame.findings, &map.frame.mark);
        return Ok(None);
    }
    walk.consume_fuel(5)?;
    Ok(Some(made))
}

/// Adds an element that has changed, or another one of the same list, to the outputs.
#[inline(never)]
fn put_element<H: Values>(
    walk: &mut Walk<H, Coerce<H::Term>>,
    was: H::Term,
    done: Option<H::Term>,
) {
    let (heap, stack) = (&*walk.heap, &mut walk.state.stack);
    let Some(Frame::List(list)) = stack.top() else {
        return;
    };
    let (is_first, taken) = (list.mark.changed == 0, list.taken);
    if done.is_some() {
        list.mark.changed = taken as usize;
    }
    let outputs = &mut walk.state.task.outputs;
    if is_first {
        let mut rest = stack.top_list(heap);
        for _ in 1..taken {
            if let Some((element, tail)) = heap.uncons(rest) {
                outputs.push(element);
                rest = tail;
            }
        }
    }
    outputs.push(done.unwrap_or(was));
}

/// Adds the value of a field that has changed, or of another field of the same map, to the outputs.
#[inline(never)]
fn changed<H: Values>(
    walk: &mut Walk<H, Coerce<H::Term>>,
    map: &mut OpenMap<H::Term, Open<H>, Mark>,
    found: &Found<H::Term>,
    done: Option<H::Term>,
) {
    let value = done.unwrap_or(found.value);
    if !H::Rows::is_flat(map.open) {
        return walk.state.task.outputs.push(value);
    }
    let outputs = &mut walk.state.task.outputs;
    if map.frame.mark.changed == 0 {
        map.frame.mark.changed = 1;
        let rows = &walk.rows;
        rows.each_value(&*walk.heap, map.open, |value| outputs.push(value));
    }
    outputs.since(map.frame.mark.outputs, &*walk.heap)[found.slot as usize] = value;
}
