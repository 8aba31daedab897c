//! Values that are not as they should be: converted, asked for, or refused.

use super::super::budget::Stop;
use super::super::convert::Converted;
use super::super::errors::Wanted;
use super::frame::{path, Frame};
use super::{Failure, Purpose, Rebuild, MOST_WARNINGS};
use crate::raw::Raw;
use ptc_core::signature::{Scalar, Type, TypeId};

impl<'a> Rebuild<'a, '_> {
    #[cold]
    pub(super) fn no_map(&mut self, value: Raw<'a>, id: TypeId) -> Result<Raw<'a>, Stop> {
        match self.seen.has(self.budget, value, id) {
            true => Ok(value),
            false => self.refuse(None, Wanted::Map, value),
        }
    }

    #[cold]
    pub(super) fn unknown(&mut self, number: u32) -> Stop {
        match self.purpose {
            Purpose::Coerce => self.fail(Failure::Unsupported),
            Purpose::Input => Stop::Unknown(number),
        }
    }

    /// A value that is not as it should be.
    pub(super) fn converted(
        &mut self,
        converted: Converted<'a>,
        scalar: Scalar,
        value: Raw<'a>,
        name: Option<Raw<'a>>,
    ) -> Result<Raw<'a>, Stop> {
        match converted {
            Converted::Same => Ok(value),
            Converted::Silent(other) => {
                self.budget.spend(self.terms, 10)?;
                Ok(other)
            }
            Converted::Warned(other) => {
                let length = self.terms.bytes(value).map_or(0, <[u8]>::len);
                self.budget.spend(self.terms, 25 + length / 8)?;
                match self.converter.warnings.len() > MOST_WARNINGS {
                    true => Err(Stop::TooMuch),
                    false => Ok(other),
                }
            }
            Converted::Ask => self.ask(scalar, value, name),
            Converted::Refused => self.refuse(name, Wanted::Scalar(scalar), value),
        }
    }

    #[cold]
    pub(super) fn ask(
        &mut self,
        scalar: Scalar,
        value: Raw<'a>,
        name: Option<Raw<'a>>,
    ) -> Result<Raw<'a>, Stop> {
        self.budget.spend(self.terms, 20)?;
        let Some((answer, more)) = self.answers.and_then(|answers| self.terms.uncons(answers))
        else {
            let wanted = self.words.scalar_word(scalar);
            self.asked.push(self.terms.make_tuple(&[wanted, value]));
            return Ok(value);
        };
        self.answers = Some(more);
        match self.terms.tuple(answer) {
            Some([_, other, warnings]) => {
                let mut rest = *warnings;
                while let Some((warning, tail)) = self.terms.uncons(rest) {
                    self.converter.warnings.push(warning);
                    rest = tail;
                }
                Ok(*other)
            }
            Some([_, reason]) if self.purpose == Purpose::Coerce => {
                Err(self.fail(Failure::Answered(*reason)))
            }
            _ => self.refuse(name, Wanted::Scalar(scalar), value),
        }
    }

    #[cold]
    pub(super) fn absent(&mut self, index: usize, holds: TypeId) -> Result<(), Stop> {
        if matches!(self.read.types.get(holds), Type::Optional(_)) {
            return Ok(());
        }
        let name = self.read.names[index];
        if self.purpose == Purpose::Coerce {
            return Err(self.fail(Failure::Missing(name)));
        }
        self.budget.spend(self.terms, 20)?;
        self.errors
            .missing(path(self.terms, self.read, &self.stack, Some(name)))
    }

    #[cold]
    pub(super) fn refuse(
        &mut self,
        name: Option<Raw<'a>>,
        wanted: Wanted,
        value: Raw<'a>,
    ) -> Result<Raw<'a>, Stop> {
        if self.purpose == Purpose::Coerce {
            return Err(self.fail(Failure::Refused(wanted, value)));
        }
        self.budget.spend(self.terms, 20 + self.stack.len())?;
        let path = path(self.terms, self.read, &self.stack, name);
        self.errors.refused(self.words, path, wanted, value)?;
        Ok(value)
    }

    /// Ends the walk. A list that turns out to be none is the reason before all its elements.
    #[cold]
    pub(super) fn fail(&mut self, failure: Failure<'a>) -> Stop {
        self.failure = Some(failure);
        for frame in &self.stack {
            let Frame::List(list) = frame else { continue };
            let mut rest = list.rest;
            while let Some((_, tail)) = self.terms.uncons(rest) {
                if let Err(stop) = self.budget.spend(self.terms, 1) {
                    return stop;
                }
                rest = tail;
            }
            if !self.terms.is_empty_list(rest) {
                self.failure = Some(Failure::Refused(Wanted::List, list.value));
                break;
            }
        }
        Stop::Failed
    }
}
