//! Texts, and values as texts.
//!
//! * this file: which function evaluates which built-in; states; texts as arguments
//! * `text`: the text of any value, for `str`, `pr-str`, `println`, `join`
//! * `form`: case, white space; `places`: graphemes as indices, searches; `parts`: `subs` and what else makes a part of a text
//! * `split`, `replace`: with plain texts; with regular expressions they are asked for, see [`is_asked`]
//! * `names`: names and keywords; `methods`: the methods of texts
//!
//! A binary that is not UTF-8 is a text whose invalid bytes stay as they are, as in Elixir's `String`.

mod form;
mod joined;
mod methods;
mod names;
mod parts;
mod places;
mod replace;
mod split;
pub(crate) mod text;

use crate::code::{Eval, Halt, Machine};
use crate::exec::checks::invalid_types;
use crate::table::Builtin;
use crate::values::{class, Class};
use ptc_kernels::SHORT_TEXT;
use ptc_term::heap::{Heap, Kind};
use ptc_term::stop::Stop;
use ptc_term::suspend::{Exchange, Rooted};
use ptc_text::Ongoing;
use ptc_vm::Resumable;

pub use joined::joined;

/// A state of an evaluation that has begun.
#[derive(Debug, Clone, PartialEq)]
pub enum TextWork<T> {
    /// Values are written.
    Writing(text::Writing<T>),
    /// A text is searched, counted or changed.
    Scan(Scan),
    /// A text is split.
    Splitting(split::Splitting<T>),
}

impl<T> Rooted for TextWork<T> {
    type Term = T;
    type With<U> = TextWork<U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<TextWork<X::Into>, X::Lost> {
        Ok(match self {
            TextWork::Writing(state) => TextWork::Writing(state.exchange(by)?),
            TextWork::Scan(state) => TextWork::Scan(state),
            TextWork::Splitting(state) => TextWork::Splitting(state.exchange(by)?),
        })
    }
}

/// How far work on a long text is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scan {
    /// Whether the state is kept when the work is interrupted.
    is_kept: bool,
    /// Which part of the work is done.
    stage: u8,
    /// What is left to count.
    left: usize,
    /// Where the part begins that the work is about.
    start: usize,
    /// A place that was found.
    place: usize,
    /// The current part of the work.
    ongoing: Ongoing,
}

/// Evaluates a built-in of the family.
pub fn eval<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, arguments: &[H::Term]) -> Eval<H> {
    use Builtin as B;
    match (builtin, arguments) {
        (B::Str | B::PrStr | B::Println, _) => text::eval(m, builtin, arguments),
        (B::Join, _) => text::join(m, arguments),
        (B::Subs, [text, range @ ..]) => parts::subs(m, arguments, *text, range),
        (B::Split, [text, by]) => split::split(m, arguments, *text, *by),
        (B::SplitLines, [text]) => split::lines(m, *text),
        (B::Replace, [text, what, with]) => replace::replace(m, arguments, [*text, *what, *with]),
        (B::Trim | B::Triml | B::Trimr | B::TrimNewline | B::IsBlank, [text]) => {
            form::trimmed(m, builtin, *text)
        }
        (B::Upcase | B::UpperCase | B::Downcase | B::LowerCase, [text]) => {
            form::in_case(m, builtin, *text)
        }
        (B::IsStartsWith | B::IsEndsWith | B::IsIncludes, [text, part]) => {
            match (string(m, *text)?, string(m, *part)?) {
                (Some(text), Some(part)) => places::has(m, builtin, text, part),
                _ => Err(invalid_types(builtin, arguments)),
            }
        }
        (B::IndexOf | B::LastIndexOf, [text, part, from @ ..]) => {
            places::index(m, builtin, arguments, (*text, *part), from.first().copied())
        }
        (B::Name, [value]) => names::name(m, *value),
        (B::Keyword, [value]) => names::keyword(m, *value),
        (B::IsChar, [value]) => {
            let is_one = is_one_character(m, *value)?;
            Ok(m.heap.boolean(is_one))
        }
        _ => methods::eval(m, builtin, arguments),
    }
}

/// Whether a call of a built-in of texts is asked for: where it is given a regular expression.
pub fn is_asked<H: Heap>(m: &Machine<'_, H>, builtin: Builtin, arguments: &[H::Term]) -> bool {
    match (builtin, arguments) {
        (Builtin::Split, [_, by]) => is_regex(m, *by),
        (Builtin::Replace, [_, what, _]) => is_regex(m, *what),
        _ => false,
    }
}

fn is_regex<H: Heap>(m: &Machine<'_, H>, term: H::Term) -> bool {
    m.heap.kind(term) == Kind::Map && class(m, term) == Class::Regex
}

/// Returns the string that a term is, whose bytes can be read without being counted; `None` if it is none.
#[inline]
fn string<H: Heap>(m: &mut Machine<'_, H>, term: H::Term) -> Result<Option<H::Term>, Stop> {
    if m.heap.kind(term) != Kind::String {
        return Ok(None);
    }
    if m.heap.bytes_to_copy(term) == 0 {
        return Ok(Some(term));
    }
    m.consume_fuel_to_copy(term)?;
    Ok(Some(m.heap.aligned(term)))
}

/// The only argument of a built-in, which must be a string.
#[inline]
fn only_string<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, term: H::Term) -> Eval<H> {
    match string(m, term)? {
        Some(text) => Ok(text),
        None => Err(invalid_types(builtin, &[term])),
    }
}

/// Works on a text: a short one at once, a long one with a state. All work that follows must be done here, too: it would lose what was
/// done before when it is interrupted.
fn scanned<H: Heap, R>(
    m: &mut Machine<'_, H>,
    length: usize,
    evaluate: impl FnOnce(&mut Machine<'_, H>, &mut Scan) -> Result<R, Halt<H>>,
) -> Result<R, Halt<H>> {
    if length <= SHORT_TEXT {
        return evaluate(m, &mut Scan::default());
    }
    let begin = |_: &mut Machine<'_, H>| Scan {
        is_kept: true,
        ..Scan::default()
    };
    m.resumable(begin, evaluate)
}

impl<T> From<Scan> for crate::work::Work<T> {
    fn from(scan: Scan) -> Self {
        TextWork::Scan(scan).into()
    }
}

impl<T> Resumable<crate::work::Work<T>> for Scan {
    fn of_work(work: crate::work::Work<T>) -> Option<Self> {
        match work {
            crate::work::Work::Strings(state) => match *state {
                TextWork::Scan(scan) => Some(scan),
                _ => None,
            },
            _ => None,
        }
    }
}

macro_rules! states {
    ($($variant:ident($state:ty);)+) => {
        $(
            impl<T> From<$state> for crate::work::Work<T> {
                fn from(state: $state) -> Self {
                    TextWork::$variant(state).into()
                }
            }

            impl<T> Resumable<crate::work::Work<T>> for $state {
                fn of_work(work: crate::work::Work<T>) -> Option<Self> {
                    match work {
                        crate::work::Work::Strings(state) => match *state {
                            TextWork::$variant(state) => Some(state),
                            _ => None,
                        },
                        _ => None,
                    }
                }
            }
        )+
    };
}

states! {
    Writing(text::Writing<T>);
    Splitting(split::Splitting<T>);
}

/// Bytes of the longest text that is looked at to see whether it is one character.
const LONGEST_CHARACTER: usize = 4_096;

/// Returns whether a value is a text of one grapheme.
fn is_one_character<H: Heap>(m: &mut Machine<'_, H>, term: H::Term) -> Result<bool, Stop> {
    if !matches!(m.heap.byte_length(term), Some(1..=LONGEST_CHARACTER)) {
        return Ok(false);
    }
    m.consume_fuel_to_copy(term)?;
    let (heap, meter) = m.heap_and_meter();
    let bytes = heap.bytes(term).unwrap_or_default();
    if bytes.len() == 1 {
        return Ok(true);
    }
    let (mut at, mut left, mut piece) = (0, 1, 0);
    ptc_text::skip(bytes, &mut at, &mut left, &mut piece, |cost| {
        meter.consume_fuel(cost, heap)
    })?;
    Ok(at == bytes.len())
}
