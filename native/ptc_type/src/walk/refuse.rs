//! Errors in the value, with their paths.

use super::super::findings::{PathStep, TooMany, Wrong};
use super::super::mismatch::{Got, Mismatch, Target};
use super::super::values::{Class, Rows, Values};
use super::super::{Type, TypeId};
use super::frame::{ListFrame, OpenMap};
use super::{Open, Place, Task, Walk, WalkEnd};
use ptc_term::names::is_firewalled;

/// Fuel for a finding, and for each step of its path.
const FINDING: usize = 8;

impl From<TooMany> for WalkEnd {
    fn from(_: TooMany) -> Self {
        WalkEnd::TooMuch
    }
}

impl<H: Values, K: Task<H>> Walk<'_, H, K> {
    /// Reports a value of the wrong type.
    #[cold]
    pub(in super::super) fn refuse(
        &mut self,
        place: Option<Place>,
        expected: Target,
        value: H::Term,
    ) -> Result<(), WalkEnd> {
        let got = self.got(value);
        self.report(
            place,
            Wrong::Mismatch(Mismatch { expected, got }),
            Some(value),
        )
    }

    /// Reports any other error in the current part; `value` is the value to show.
    #[cold]
    pub(in super::super) fn report(
        &mut self,
        place: Option<Place>,
        wrong: Wrong,
        value: Option<H::Term>,
    ) -> Result<(), WalkEnd> {
        if self.state.trials > 0 {
            return Err(WalkEnd::Refuted);
        }
        self.consume_fuel(FINDING + self.state.stack.depth())?;
        let hidden = self.is_hidden(place);
        let shown = match wrong {
            Wrong::Mismatch(mismatch) => {
                self.state.task.ends_at_first() || mismatch.got == Got::Other
            }
            _ => true,
        };
        let step = place.map(|place| PathStep::Field(place.field as u32));
        let value = value.filter(|_| shown);
        match self.types.has_maps_of() {
            false => {
                let path = self.state.stack.path().chain(step);
                self.state.findings.add(wrong, hidden, path, value)?;
            }
            true => {
                let keys = self.state.stack.keys(&*self.heap);
                let findings = &mut self.state.findings;
                let mut keys = keys.into_iter().map(|key| findings.add_key(key));
                let with_key = |step| match step {
                    PathStep::Key(_) => keys.next().unwrap_or(step),
                    step => step,
                };
                let path: Vec<PathStep> = self.state.stack.path().map(with_key).collect();
                findings.add(wrong, hidden, path.into_iter().chain(step), value)?;
            }
        }
        match self.state.task.ends_at_first() {
            true => self.fail(),
            false => Ok(()),
        }
    }

    /// Returns whether the current part is in a firewalled field.
    pub(in super::super) fn is_hidden(&self, place: Option<Place>) -> bool {
        match place {
            Some(place) => place.hidden || is_firewalled(self.types.field(place.field).name),
            None => self.state.stack.hides_part(self.types, &*self.heap),
        }
    }

    fn got(&self, value: H::Term) -> Got {
        match self.heap.class(value) {
            Class::Bitstring if self.heap.is_binary(value) => Got::String,
            Class::Integer => Got::Int,
            Class::Float => Got::Float,
            Class::Atom if self.heap.is_bool(value) => Got::Bool,
            Class::Atom => Got::Keyword,
            Class::Map if !self.heap.is_struct(value) => Got::Map,
            Class::Map if self.heap.keyword_name(value).is_some() => Got::Keyword,
            Class::Map if self.state.task.calls_structs_maps() => Got::Map,
            Class::List => Got::List,
            _ => Got::Other,
        }
    }

    /// Handles a value that could not be opened as a map: it is not a map, or it is in the memo.
    #[cold]
    pub(super) fn no_map(&mut self, value: H::Term, id: TypeId) -> Result<K::Done, WalkEnd> {
        if !self.memo.has(|| self.heap.identity(value), id) {
            self.refuse(None, Target::Map, value)?;
        }
        Ok(K::SAME)
    }

    #[cold]
    pub(super) fn absent(
        &mut self,
        field: usize,
        hidden: bool,
        holds: TypeId,
    ) -> Result<(), WalkEnd> {
        self.state.task.absent();
        let is_filled = || self.types.has_defaults() && self.types.default_of(field).is_some();
        if matches!(self.types.get(holds), Type::Optional(_)) || is_filled() {
            return Ok(());
        }
        let place = Some(Place { field, hidden });
        self.report(place, Wrong::Mismatch(Mismatch::MISSING), None)
    }

    /// Reports a list that turns out to be improper. Its findings so far are removed, since they are
    /// about elements of a list that is invalid.
    #[cold]
    pub(super) fn improper(
        &mut self,
        value: H::Term,
        list: &ListFrame<K::Mark>,
    ) -> Result<(), WalkEnd> {
        self.state.findings.truncate(list.findings, &*self.heap);
        let mismatch = Mismatch {
            expected: Target::List,
            got: Got::ImproperList,
        };
        self.report(None, Wrong::Mismatch(mismatch), Some(value))
    }

    pub(super) fn closed_end(
        &mut self,
        map: &OpenMap<H::Term, Open<H>, K::Mark>,
    ) -> Result<(), WalkEnd> {
        if !H::Rows::is_flat(map.open) {
            self.consume_fuel(self.heap.map_size(map.value).unwrap_or(0))?;
        }
        let (heap, rows) = (&*self.heap, &mut self.rows);
        let keys = rows.undeclared(heap, self.types, map.frame.id, map.frame.fields, map.open);
        if keys.is_empty() {
            return Ok(());
        }
        self.state.findings.report(keys.len())?;
        let keys = self.heap.make_list(&keys);
        self.report(None, Wrong::Unexpected, Some(keys))
    }

    #[cold]
    pub(super) fn unknown(&mut self, number: u32) -> WalkEnd {
        if !self.state.task.ends_at_first() {
            return WalkEnd::Unknown(number);
        }
        match self.report(None, Wrong::Unsupported, None) {
            Err(stop) => stop,
            Ok(()) => WalkEnd::Failed,
        }
    }

    /// Ends the walk. If an enclosing list is improper, that is the reason, and not an error in its
    /// elements.
    fn fail(&mut self) -> Result<(), WalkEnd> {
        for (value, rest) in self.state.stack.lists(&*self.heap) {
            let mut rest = rest;
            while let Some((_, tail)) = self.heap.uncons(rest) {
                self.consume_fuel(1)?;
                rest = tail;
            }
            if !self.heap.is_empty_list(rest) {
                self.state.findings.truncate(0, &*self.heap);
                let wrong = Wrong::Mismatch(Mismatch {
                    expected: Target::List,
                    got: Got::ImproperList,
                });
                // The path of the list would need another pass over the frames. `hidden` makes no
                // difference here: lists are not shown.
                self.state
                    .findings
                    .add(wrong, true, std::iter::empty(), Some(value))?;
                break;
            }
        }
        Err(WalkEnd::Failed)
    }
}
