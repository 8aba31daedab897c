//! The second look at a text whose first choice is no JSON: if there is exactly one part that is,
//! and nothing that looks like an answer gone wrong, that part is the answer. Nothing is repaired.

use super::check::check;
use super::scan::{is_blank, opens, skip, Count, BYTES_BETWEEN_LOOKS};
use crate::stop::Stop;
use std::ops::Range;

/// A second look, which can be left and resumed.
#[derive(Debug, Default)]
pub struct Recovery {
    runs: Runs,
    /// The JSON that was found.
    only: Option<Range<usize>>,
    /// How far it is, and where it asked last whether to go on.
    at: usize,
    asked: usize,
}

/// A way to count; if the flag is set, the work may be left there and goes on later.
pub type CountOrLeave<'c> = dyn FnMut(usize, bool) -> Result<(), Stop> + 'c;

impl Recovery {
    /// The only JSON of the text. Goes on where it was left.
    pub fn go_on(
        &mut self,
        text: &[u8],
        count: &mut CountOrLeave,
    ) -> Result<Option<Range<usize>>, Stop> {
        while let Some(&byte) = text.get(self.at) {
            let at = self.at;
            if at >= self.asked + BYTES_BETWEEN_LOOKS {
                self.asked = at;
                count(BYTES_BETWEEN_LOOKS, true)?;
            }
            let mut count = |units| count(units, false);
            let step = match byte {
                b'`' => match run_length(text, at, &mut count)? {
                    length @ ..=2 => Step::On(at + length),
                    length => fence(text, at, length, &mut self.runs, &mut count)?,
                },
                byte if opens(byte) => region(text, at, &mut count)?,
                _ => Step::On(at + 1),
            };
            match step {
                Step::On(next) => self.at = next,
                Step::Veto => return Ok(None),
                Step::Candidate(..) if self.only.is_some() => return Ok(None),
                Step::Candidate(range, next) => {
                    self.only = Some(range);
                    self.at = next;
                }
            }
        }
        Ok(self.only.clone())
    }
}

enum Step {
    /// Nothing here: go on from there.
    On(usize),
    /// JSON; go on from there.
    Candidate(Range<usize>, usize),
    /// It looks as if this was meant to be the answer.
    Veto,
}

fn region(text: &[u8], at: usize, count: &mut Count) -> Result<Step, Stop> {
    if let Some(end) = check(text, at, count)? {
        return Ok(Step::Candidate(at..end, end));
    }
    // `[Note]`, `{name}`: up to its end nothing that JSON is made of.
    let end = skip(text, at + 1, text.len(), count, is_of_note)?;
    Ok(match text.get(end) {
        Some(byte) if *byte == text[at] + 2 => Step::On(end + 1),
        _ => Step::Veto,
    })
}

fn is_of_note(byte: u8) -> bool {
    !b"\"':,{}[]\\".contains(&byte)
}

/// How many backticks stand at `at`.
fn run_length(text: &[u8], at: usize, count: &mut Count) -> Result<usize, Stop> {
    Ok(skip(text, at, text.len(), count, |byte| byte == b'`')? - at)
}

/// A run of `length` backticks at `at`.
fn fence(
    text: &[u8],
    at: usize,
    length: usize,
    runs: &mut Runs,
    count: &mut Count,
) -> Result<Step, Stop> {
    let all = text.len();
    let of_line = |byte| matches!(byte, b' ' | b'\t');
    let tag_start = skip(text, at + length, all, count, of_line)?;
    let of_tag = |byte: u8| byte.is_ascii_alphanumeric() || b"_+.#-".contains(&byte);
    let tag_end = skip(text, tag_start, all, count, of_tag)?;
    let tag = &text[tag_start..tag_end];
    let is_json = tag.len() >= 4 && tag[..4].eq_ignore_ascii_case(b"json");
    let content = skip(text, tag_end, all, count, is_blank)?;
    match text.get(content) {
        Some(&byte) if opens(byte) => {
            if let Some(end) = check(text, content, count)? {
                let closing = skip(text, end, all, count, is_blank)?;
                let closing_length = run_length(text, closing, count)?;
                if closing_length >= length {
                    return Ok(Step::Candidate(content..end, closing + closing_length));
                }
            }
            if tag.is_empty() || is_json {
                return Ok(Step::Veto);
            }
        }
        Some(_) if is_json && run_length(text, content, count)? < length => return Ok(Step::Veto),
        _ => {}
    }
    let after = at + length;
    let next = runs.next(text, after, length, count)?;
    Ok(Step::On(next.unwrap_or(after)))
}

/// The runs of backticks of a text, so that looking for one of some length is not a walk of its own
/// each time.
#[derive(Debug, Default)]
struct Runs {
    known: Option<Vec<Run>>,
    /// How many of them start before the last offset asked for.
    passed: usize,
}

#[derive(Debug)]
struct Run {
    start: usize,
    end: usize,
    /// The index of the next longer run.
    longer: Option<usize>,
}

impl Runs {
    /// The end of the first run of that length or more from `at` on; `at` never goes back.
    fn next(
        &mut self,
        text: &[u8],
        at: usize,
        length: usize,
        count: &mut Count,
    ) -> Result<Option<usize>, Stop> {
        let known = match &mut self.known {
            Some(known) => known,
            None => self.known.insert(all_runs(text, count)?),
        };
        while known.get(self.passed).is_some_and(|run| run.start < at) {
            self.passed += 1;
        }
        let mut index = Some(self.passed);
        while let Some(run) = index.and_then(|index| known.get(index)) {
            if run.end - run.start >= length {
                return Ok(Some(run.end));
            }
            index = run.longer;
        }
        Ok(None)
    }
}

fn all_runs(text: &[u8], count: &mut Count) -> Result<Vec<Run>, Stop> {
    let mut runs: Vec<Run> = Vec::new();
    // Those whose next longer one is not known yet; none is shorter than one after it.
    let mut waiting: Vec<usize> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        at = skip(text, at, text.len(), count, |byte| byte != b'`')?;
        let length = run_length(text, at, count)?;
        if length == 0 {
            break;
        }
        count(FUEL_A_RUN)?;
        while let Some(&index) = waiting.last() {
            if runs[index].end - runs[index].start >= length {
                break;
            }
            runs[index].longer = Some(runs.len());
            waiting.pop();
        }
        waiting.push(runs.len());
        runs.push(Run {
            start: at,
            end: at + length,
            longer: None,
        });
        at += length;
    }
    Ok(runs)
}

/// What a run of backticks takes that is remembered.
const FUEL_A_RUN: usize = 4;
