//! The states of what the language does with many values: data alone.

use ptc_term::rooted;
use ptc_term::roots::Roots;

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

/// A collection whose parts are being converted: what is plain of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OpenLevel {
    pub(super) mode: Mode,
    pub(super) shape: CollectionShape,
    /// Where its converted parts begin among all of them.
    pub(super) start: usize,
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

/// Values that are being converted, one after another.
///
/// The terms of all open collections stand in three stores, however deep they are: so a slice costs no more than what it converts.
#[derive(Debug, Clone, PartialEq)]
pub struct Converting<T> {
    /// The values, as a list.
    pub(super) rest: T,
    /// How each of them is converted.
    pub(super) mode: Mode,
    /// The open collections, innermost last.
    pub(super) levels: Vec<OpenLevel>,
    /// The collections themselves.
    pub(super) wholes: Roots<T>,
    /// The parts of each that are still to be converted: a list, or for a map a list of keys and values.
    pub(super) rests: Roots<T>,
    /// The values that are converted, and after them the converted parts of the open collections.
    pub(super) made: Roots<T>,
}

rooted!(Converting { terms: rest; states: wholes, rests, made; plain: mode, levels });

/// A list whose items are being pushed.
#[derive(Debug, Clone, PartialEq)]
pub struct Spreading<T> {
    pub(super) rest: T,
    pub(super) pushed: usize,
}

rooted!(Spreading { terms: rest; plain: pushed });
