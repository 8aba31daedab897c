//! From text to value: the first candidate is built while it is read, so a plain answer is read once.

use super::check::{Candidate, LIMITS};
use super::choice::{Choice, Choosing};
use super::recovery::Recovery;
use super::walks::{Journal, Walks};
use ptc_json::{Extent, JsonError, ReadError, Reader, TermBuilder};
use ptc_term::heap::Heap;
use ptc_term::stop::Stop;
use ptc_term::workspace::{unlimited, Workspace};
use std::ops::Range;

/// Why a text contains no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// No bracket, or none that is closed; with the error after the first bracket.
    #[error("no JSON found")]
    NotFound(Option<JsonError>),
    /// Text that should be JSON and is invalid.
    #[error("{0}")]
    Invalid(JsonError),
}

/// The answer that was found.
#[derive(Debug, Clone, Copy)]
pub struct Answer<T> {
    /// The value.
    pub value: T,
    /// Whether a key has a hyphen.
    pub hyphens: bool,
    /// Its offset.
    pub start: usize,
}

impl<T: Copy> Answer<T> {
    /// Takes the value that the builder has.
    pub(super) fn of<H: Heap<Term = T>>(builder: &mut TermBuilder<H>, start: usize) -> Self {
        Answer {
            hyphens: builder.has_hyphens(),
            value: builder.take(),
            start,
        }
    }
}

/// Builds a found answer a second time, with underscores for the hyphens of its keys; `None`
/// if two keys of an object became equal.
pub fn read_underscored<H: Heap>(
    text: &[u8],
    start: usize,
    work: Workspace<H>,
) -> Result<Option<H::Term>, Stop> {
    let mut builder = TermBuilder::underscored(work);
    match Reader::new(start, Extent::Value, LIMITS).read(text, &mut builder) {
        Ok(_) => Ok((!builder.has_repeated()).then(|| builder.finish())),
        Err(ReadError::Json(_)) => Ok(None),
        Err(ReadError::Stop(stop)) => Err(stop),
    }
}

/// Finds the JSON of an answer and builds it. It can be suspended and resumed; it is plain data, while
/// the builder has the terms.
#[derive(Debug, Default)]
pub struct Search {
    stage: SearchStage,
    /// The walks of the stage.
    journal: Journal,
}

#[derive(Debug, Default)]
enum SearchStage {
    #[default]
    Begin,
    /// Building the value that starts here and ends before `end`.
    Build {
        reader: Reader,
        start: usize,
        end: usize,
        part: Part,
    },
    /// The value is built; checking the text after it.
    Behind {
        start: usize,
        end: usize,
        part: Behind,
    },
    /// Choosing the first candidate. The value at the first bracket was already tried: its end, or its
    /// error.
    Choose(Option<(usize, Result<usize, JsonError>)>, Choosing),
    /// Checking whether a bracket with invalid JSON after it is ever closed.
    Closed(usize, JsonError),
    /// Searching for another candidate.
    Recover(NoAnswer, Box<Recovery>),
}

/// The question about the text after a value.
#[derive(Debug, Clone, Copy)]
enum Behind {
    /// Whether there is a marker. No marker precedes the value, and those inside it are in strings.
    Marker,
    /// Whether there is only white space up to this offset, the end of its fence.
    Blanks(usize),
}

/// The candidate that is being built.
#[derive(Debug, Clone, Copy)]
enum Part {
    /// The value at the first bracket, which precedes all markers.
    First,
    /// The content of a fence.
    Fenced,
    /// The value at the first bracket, at any offset.
    Raw,
    /// The candidate that the recovery found.
    Recovered,
}

/// The result of a step.
enum Next {
    SearchStage(SearchStage),
    /// The sink has received the value of this range.
    Found(Range<usize>),
    Nothing(NoAnswer),
}

impl Search {
    /// Continues in `text`, which must be the same each time. Returns the range of the value, which the sink has
    /// received last.
    pub fn resume<'t>(
        &mut self,
        text: &'t [u8],
        sink: &mut impl Candidate<'t>,
    ) -> Result<Result<Range<usize>, NoAnswer>, Stop> {
        loop {
            match self.step(text, sink)? {
                Next::SearchStage(stage) => {
                    self.stage = stage;
                    self.journal.clear();
                }
                Next::Nothing(why) => return Ok(Err(why)),
                Next::Found(range) => return Ok(Ok(range)),
            }
        }
    }

    fn step<'t>(&mut self, text: &'t [u8], sink: &mut impl Candidate<'t>) -> Result<Next, Stop> {
        let Search { stage, journal } = self;
        if let SearchStage::Build {
            reader,
            start,
            end,
            part,
        } = stage
        {
            let (start, part) = (*start, *part);
            let within = text.get(..*end).unwrap_or(text);
            return match reader.read(within, sink) {
                Ok(end) => Ok(built(start, end, within.len(), part)),
                Err(ReadError::Stop(stop)) => Err(stop),
                Err(ReadError::Json(error)) => {
                    sink.clear();
                    Ok(failed(start, error, part))
                }
            };
        }
        let mut count = |units, leave| sink.count(units, leave);
        let mut walks = Walks::new(journal, &mut count);
        Ok(match stage {
            SearchStage::Begin => match walks.landmark(text)? {
                None => Next::Nothing(NoAnswer::NotFound(None)),
                Some(at) if text[at] == b'`' => choosing(None),
                Some(start) => reading(start, text.len(), Part::First),
            },
            SearchStage::Build { .. } => second_look(NoAnswer::NotFound(None)),
            SearchStage::Behind { start, end, part } => match part {
                Behind::Marker => match walks.find_backticks(text, *end)? {
                    Some(_) => choosing(Some((*start, Ok(*end)))),
                    None => Next::Found(*start..*end),
                },
                Behind::Blanks(until) => {
                    let blank = |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
                    match walks.skip(text, *end, *until, blank)? {
                        more if more >= *until => Next::Found(*start..*end),
                        more => second_look(NoAnswer::Invalid(JsonError::UnexpectedToken(more))),
                    }
                }
            },
            SearchStage::Choose(first, choosing) => {
                let first = *first;
                let known = first.and_then(|(start, end)| Some(start..end.ok()?));
                match (choosing.resume(text, known, &mut walks)?, first) {
                    (Choice::Fenced(content), _) => {
                        sink.clear();
                        reading(content.start, content.end, Part::Fenced)
                    }
                    (Choice::Raw, Some((start, Ok(end)))) => Next::Found(start..end),
                    (Choice::Raw, Some((start, Err(error)))) => {
                        Next::SearchStage(SearchStage::Closed(start, error))
                    }
                    (Choice::Raw, None) => match walks.find_bracket(text, 0, text.len())? {
                        Some(start) => reading(start, text.len(), Part::Raw),
                        None => second_look(NoAnswer::NotFound(None)),
                    },
                }
            }
            SearchStage::Closed(start, error) => {
                second_look(match walks.region_end(text, *start)? {
                    Some(_) => NoAnswer::Invalid(*error),
                    None => NoAnswer::NotFound(Some(*error)),
                })
            }
            SearchStage::Recover(refusal, recovery) => {
                let found = recovery.resume(text, &mut walks)?;
                sink.clear();
                match found {
                    Some(range) => reading(range.start, text.len(), Part::Recovered),
                    None => Next::Nothing(*refusal),
                }
            }
        })
    }
}

fn choosing(first: Option<(usize, Result<usize, JsonError>)>) -> Next {
    Next::SearchStage(SearchStage::Choose(first, Choosing::default()))
}

fn second_look(refusal: NoAnswer) -> Next {
    Next::SearchStage(SearchStage::Recover(refusal, Box::default()))
}

fn reading(start: usize, end: usize, part: Part) -> Next {
    Next::SearchStage(SearchStage::Build {
        reader: Reader::new(start, Extent::Value, LIMITS),
        start,
        end,
        part,
    })
}

/// Handles a candidate that was valid, up to `end`.
fn built(start: usize, end: usize, until: usize, part: Part) -> Next {
    let part = match part {
        Part::First => Behind::Marker,
        Part::Fenced => Behind::Blanks(until),
        Part::Raw | Part::Recovered => return Next::Found(start..end),
    };
    Next::SearchStage(SearchStage::Behind { start, end, part })
}

/// Handles a candidate that was invalid.
fn failed(start: usize, error: JsonError, part: Part) -> Next {
    match part {
        Part::First => choosing(Some((start, Err(error)))),
        Part::Fenced => second_look(NoAnswer::Invalid(error)),
        Part::Raw => Next::SearchStage(SearchStage::Closed(start, error)),
        Part::Recovered => Next::Nothing(NoAnswer::Invalid(error)),
    }
}

/// Finds the JSON of an answer and builds it, without limits of time and memory.
pub fn read_answer<H: Heap>(text: &[u8], heap: &mut H) -> Result<Answer<H::Term>, NoAnswer> {
    let mut meter = unlimited();
    let mut builder = TermBuilder::new(Workspace::in_one_go(heap, &mut meter));
    let found = Search::default().resume(text, &mut builder);
    let range = found.unwrap_or(Err(NoAnswer::NotFound(None)))?;
    Ok(Answer::of(&mut builder, range.start))
}

/// Builds the JSON at `start`, without limits of time and memory; returns it and the offset after it.
pub fn build<H: Heap>(
    text: &[u8],
    start: usize,
    heap: &mut H,
) -> Result<(Answer<H::Term>, usize), ReadError> {
    let mut meter = unlimited();
    let mut builder = TermBuilder::new(Workspace::in_one_go(heap, &mut meter));
    let mut reader = Reader::new(start, Extent::Value, LIMITS);
    let end = reader.read(text, &mut builder)?;
    Ok((Answer::of(&mut builder, start), end))
}
