//! From text to value: the first choice is built as it is read, so that a plain answer is read once.

use super::check::LIMITS;
use super::choice::{Choice, Choosing};
use super::recovery::Recovery;
use super::walks::{Journal, Walks};
use crate::heap::Heap;
use crate::json::{Extent, JsonError, ReadError, Reader, Sink, TermBuilder};
use crate::stop::Stop;
use crate::workspace::{unlimited, Workspace};

/// Why a text has no answer in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// No bracket, or none that is closed; what is missing after the first one.
    #[error("no JSON found")]
    NotFound(Option<JsonError>),
    /// Something that should be JSON and is not.
    #[error("{0}")]
    Invalid(JsonError),
}

/// What was found.
#[derive(Debug, Clone, Copy)]
pub struct Answer<T> {
    /// The value.
    pub value: T,
    /// Some key has a hyphen.
    pub hyphens: bool,
    /// Where it begins.
    pub start: usize,
}

/// Builds an answer that was found once more, with underscores for the hyphens of its keys; `None`
/// if two keys of an object became one.
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

/// Finds the JSON of an answer and builds it. Where it was stopped it can go on; it is plain data
/// then, while the builder has the terms.
#[derive(Debug, Default)]
pub struct Search {
    stage: Stage,
    /// The walks of the stage.
    journal: Journal,
}

#[derive(Debug, Default)]
enum Stage {
    #[default]
    Begin,
    /// Building what starts here and ends before `end`.
    Build {
        reader: Reader,
        start: usize,
        end: usize,
        part: Part,
    },
    /// What was built starts and ends here: looking at what stands behind it.
    Behind {
        start: usize,
        end: usize,
        part: Behind,
    },
    /// Choosing the part that is tried first. What the first bracket opens was tried already: it
    /// ends there, or is no JSON.
    Choose(Option<(usize, Result<usize, JsonError>)>, Choosing),
    /// Looking whether a bracket is ever closed, behind which there is no JSON.
    Closed(usize, JsonError),
    /// The second look.
    Recover(NoAnswer, Box<Recovery>),
}

/// What is asked about the text behind a value.
#[derive(Debug, Clone, Copy)]
enum Behind {
    /// Whether there is a marker. No marker comes before the value, and those within stand in strings.
    Marker,
    /// Whether there is anything but blanks up to here, where its fence ends.
    Blanks(usize),
}

/// Which part of the text is built.
#[derive(Debug, Clone, Copy)]
enum Part {
    /// What the first bracket opens, if it comes before all markers.
    First,
    /// The content of a fence.
    Fenced,
    /// What the first bracket opens, wherever it stands.
    Raw,
    /// What the second look found.
    Recovered,
}

/// What a step comes to.
enum Next {
    Stage(Stage),
    /// The builder has the value, which starts here.
    Found(usize),
    Nothing(NoAnswer),
}

impl Search {
    /// Goes on in `text`, which is the same each time.
    pub fn go_on<'t, H: Heap>(
        &mut self,
        text: &'t [u8],
        builder: &mut TermBuilder<'_, 't, H>,
    ) -> Result<Result<Answer<H::Term>, NoAnswer>, Stop> {
        loop {
            match self.step(text, builder)? {
                Next::Stage(stage) => {
                    self.stage = stage;
                    self.journal.clear();
                }
                Next::Nothing(why) => return Ok(Err(why)),
                Next::Found(start) => {
                    return Ok(Ok(Answer {
                        hyphens: builder.has_hyphens(),
                        value: builder.take(),
                        start,
                    }))
                }
            }
        }
    }

    fn step<'t, H: Heap>(
        &mut self,
        text: &'t [u8],
        builder: &mut TermBuilder<'_, 't, H>,
    ) -> Result<Next, Stop> {
        let Search { stage, journal } = self;
        if let Stage::Build {
            reader,
            start,
            end,
            part,
        } = stage
        {
            let (start, part) = (*start, *part);
            let within = text.get(..*end).unwrap_or(text);
            return match reader.read(within, builder) {
                Ok(end) => Ok(built(start, end, within.len(), part)),
                Err(ReadError::Stop(stop)) => Err(stop),
                Err(ReadError::Json(error)) => {
                    builder.clear();
                    Ok(failed(start, error, part))
                }
            };
        }
        let mut count = |units, leave| match leave {
            true => builder.count_or_leave(units),
            false => builder.count(units),
        };
        let mut walks = Walks::new(journal, &mut count);
        Ok(match stage {
            Stage::Begin => match walks.landmark(text)? {
                None => Next::Nothing(NoAnswer::NotFound(None)),
                Some(at) if text[at] == b'`' => choosing(None),
                Some(start) => reading(start, text.len(), Part::First),
            },
            Stage::Build { .. } => second_look(NoAnswer::NotFound(None)),
            Stage::Behind { start, end, part } => match part {
                Behind::Marker => match walks.find_backticks(text, *end)? {
                    Some(_) => choosing(Some((*start, Ok(*end)))),
                    None => Next::Found(*start),
                },
                Behind::Blanks(until) => {
                    let blank = |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
                    match walks.skip(text, *end, *until, blank)? {
                        more if more >= *until => Next::Found(*start),
                        more => second_look(NoAnswer::Invalid(JsonError::UnexpectedToken(more))),
                    }
                }
            },
            Stage::Choose(first, choosing) => {
                let first = *first;
                let known = first.and_then(|(start, end)| Some(start..end.ok()?));
                match (choosing.go_on(text, known, &mut walks)?, first) {
                    (Choice::Fenced(content), _) => {
                        builder.clear();
                        reading(content.start, content.end, Part::Fenced)
                    }
                    (Choice::Raw, Some((start, Ok(_)))) => Next::Found(start),
                    (Choice::Raw, Some((start, Err(error)))) => {
                        Next::Stage(Stage::Closed(start, error))
                    }
                    (Choice::Raw, None) => match walks.find_bracket(text, 0, text.len())? {
                        Some(start) => reading(start, text.len(), Part::Raw),
                        None => second_look(NoAnswer::NotFound(None)),
                    },
                }
            }
            Stage::Closed(start, error) => second_look(match walks.region_end(text, *start)? {
                Some(_) => NoAnswer::Invalid(*error),
                None => NoAnswer::NotFound(Some(*error)),
            }),
            Stage::Recover(refusal, recovery) => {
                let found = recovery.go_on(text, &mut walks)?;
                builder.clear();
                match found {
                    Some(range) => reading(range.start, text.len(), Part::Recovered),
                    None => Next::Nothing(*refusal),
                }
            }
        })
    }
}

fn choosing(first: Option<(usize, Result<usize, JsonError>)>) -> Next {
    Next::Stage(Stage::Choose(first, Choosing::default()))
}

fn second_look(refusal: NoAnswer) -> Next {
    Next::Stage(Stage::Recover(refusal, Box::default()))
}

fn reading(start: usize, end: usize, part: Part) -> Next {
    Next::Stage(Stage::Build {
        reader: Reader::new(start, Extent::Value, LIMITS),
        start,
        end,
        part,
    })
}

/// A part was JSON, up to `end`.
fn built(start: usize, end: usize, until: usize, part: Part) -> Next {
    let part = match part {
        Part::First => Behind::Marker,
        Part::Fenced => Behind::Blanks(until),
        Part::Raw | Part::Recovered => return Next::Found(start),
    };
    Next::Stage(Stage::Behind { start, end, part })
}

/// A part was no JSON.
fn failed(start: usize, error: JsonError, part: Part) -> Next {
    match part {
        Part::First => choosing(Some((start, Err(error)))),
        Part::Fenced => second_look(NoAnswer::Invalid(error)),
        Part::Raw => Next::Stage(Stage::Closed(start, error)),
        Part::Recovered => Next::Nothing(NoAnswer::Invalid(error)),
    }
}

/// Finds the JSON of an answer and builds it, without limits of time and memory.
pub fn read_answer<H: Heap>(text: &[u8], heap: &mut H) -> Result<Answer<H::Term>, NoAnswer> {
    let mut meter = unlimited();
    let mut builder = TermBuilder::new(Workspace::in_one_go(heap, &mut meter));
    let found = Search::default().go_on(text, &mut builder);
    found.unwrap_or(Err(NoAnswer::NotFound(None)))
}

/// Builds the JSON at `start`, without limits of time and memory; gives it and the offset after it.
pub fn build<H: Heap>(
    text: &[u8],
    start: usize,
    heap: &mut H,
) -> Result<(Answer<H::Term>, usize), ReadError> {
    let mut meter = unlimited();
    let mut builder = TermBuilder::new(Workspace::in_one_go(heap, &mut meter));
    let mut reader = Reader::new(start, Extent::Value, LIMITS);
    let end = reader.read(text, &mut builder)?;
    let answer = Answer {
        hyphens: builder.has_hyphens(),
        value: builder.take(),
        start,
    };
    Ok((answer, end))
}
