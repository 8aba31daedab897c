//! The states of what the language does with many values: data alone.

use ptc_term::roots::Roots;
use ptc_term::suspend::{Exchange, Rooted};

/// How values are converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// As a result: keywords become texts, through lists and maps.
    Result,
    /// Only functions become data, through lists, maps and sets.
    Functions,
    /// As arguments of a tool: also the keys of maps become texts.
    Arguments,
}

/// A collection whose parts are being converted.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OpenValue<T> {
    pub(super) mode: Mode,
    pub(super) shape: CollectionShape,
    /// The collection itself.
    pub(super) whole: T,
    /// The parts that are still to be converted: a list, or for a map a list of keys and values.
    pub(super) rest: T,
    /// The parts that are converted.
    pub(super) made: Roots<T>,
    /// Whether a part has changed.
    pub(super) changed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CollectionShape {
    List,
    Map,
    Set,
    /// The captured values of a function: the whole is the function.
    Function,
}

impl<T> Rooted for OpenValue<T> {
    type Term = T;
    type With<U> = OpenValue<U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<OpenValue<X::Into>, X::Lost> {
        Ok(OpenValue {
            mode: self.mode,
            shape: self.shape,
            whole: by.term(self.whole)?,
            rest: by.term(self.rest)?,
            made: self.made.exchange(by)?,
            changed: self.changed,
        })
    }
}

/// Values that are being converted, one after another.
#[derive(Debug, Clone, PartialEq)]
pub struct Converting<T> {
    /// The values, as a list.
    pub(super) rest: T,
    /// How each of them is converted.
    pub(super) mode: Mode,
    pub(super) open: Vec<OpenValue<T>>,
    /// The values that are converted.
    pub(super) made: Roots<T>,
}

impl<T> Rooted for Converting<T> {
    type Term = T;
    type With<U> = Converting<U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Converting<X::Into>, X::Lost> {
        Ok(Converting {
            rest: by.term(self.rest)?,
            mode: self.mode,
            open: self.open.exchange(by)?,
            made: self.made.exchange(by)?,
        })
    }
}

/// A list whose items are being pushed.
#[derive(Debug, Clone, PartialEq)]
pub struct Spreading<T> {
    pub(super) rest: T,
    pub(super) pushed: usize,
}

impl<T> Rooted for Spreading<T> {
    type Term = T;
    type With<U> = Spreading<U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Spreading<X::Into>, X::Lost> {
        Ok(Spreading {
            rest: by.term(self.rest)?,
            pushed: self.pushed,
        })
    }
}
