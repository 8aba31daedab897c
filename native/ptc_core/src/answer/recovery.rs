//! The second look at a text whose first choice is no JSON: if there is exactly one part that is,
//! and nothing that looks like an answer gone wrong, that part is the answer. Nothing is repaired.

use super::scan::{is_blank, opens, skip_on, BYTES_BETWEEN_LOOKS};
use super::walks::Walks;
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

impl Recovery {
    /// The only JSON of the text. Goes on where it was left.
    pub fn go_on(&mut self, text: &[u8], walks: &mut Walks) -> Result<Option<Range<usize>>, Stop> {
        while let Some(&byte) = text.get(self.at) {
            let at = self.at;
            if at >= self.asked + BYTES_BETWEEN_LOOKS {
                self.asked = at;
                walks.count(BYTES_BETWEEN_LOOKS)?;
            }
            let step = match byte {
                b'`' => match walks.run_length(text, at)? {
                    length @ ..=2 => Step::On(at + length),
                    length => fence(text, at, length, &mut self.runs, walks)?,
                },
                byte if opens(byte) => region(text, at, walks)?,
                _ => {
                    self.at = at + 1;
                    continue;
                }
            };
            walks.next_step();
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

fn region(text: &[u8], at: usize, walks: &mut Walks) -> Result<Step, Stop> {
    if let Some(end) = walks.check(text, at)? {
        return Ok(Step::Candidate(at..end, end));
    }
    // `[Note]`, `{name}`: up to its end nothing that JSON is made of.
    let end = walks.skip(text, at + 1, text.len(), is_of_note)?;
    Ok(match text.get(end) {
        Some(byte) if *byte == text[at] + 2 => Step::On(end + 1),
        _ => Step::Veto,
    })
}

fn is_of_note(byte: u8) -> bool {
    !b"\"':,{}[]\\".contains(&byte)
}

/// A run of `length` backticks at `at`.
fn fence(
    text: &[u8],
    at: usize,
    length: usize,
    runs: &mut Runs,
    walks: &mut Walks,
) -> Result<Step, Stop> {
    let all = text.len();
    let of_line = |byte| matches!(byte, b' ' | b'\t');
    let tag_start = walks.skip(text, at + length, all, of_line)?;
    let of_tag = |byte: u8| byte.is_ascii_alphanumeric() || b"_+.#-".contains(&byte);
    let tag_end = walks.skip(text, tag_start, all, of_tag)?;
    let tag = &text[tag_start..tag_end];
    let is_json = tag.len() >= 4 && tag[..4].eq_ignore_ascii_case(b"json");
    let content = walks.skip(text, tag_end, all, is_blank)?;
    match text.get(content) {
        Some(&byte) if opens(byte) => {
            if let Some(end) = walks.check(text, content)? {
                let closing = walks.skip(text, end, all, is_blank)?;
                let closing_length = walks.run_length(text, closing)?;
                if closing_length >= length {
                    return Ok(Step::Candidate(content..end, closing + closing_length));
                }
            }
            if tag.is_empty() || is_json {
                return Ok(Step::Veto);
            }
        }
        Some(_) if is_json && walks.run_length(text, content)? < length => return Ok(Step::Veto),
        _ => {}
    }
    let after = at + length;
    let next = runs.next(text, after, length, walks)?;
    Ok(Step::On(next.unwrap_or(after)))
}

/// The runs of three backticks and more of a text, so that looking for one of some length is not a walk of
/// its own each time.
#[derive(Debug, Default)]
struct Runs {
    known: Vec<Run>,
    /// Those whose next longer one is not known yet; none is shorter than one after it.
    waiting: Vec<usize>,
    /// All runs that end before this are known, …
    at: usize,
    /// … and one that starts here goes on.
    start: Option<usize>,
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

/// As many backticks are a fence.
const FENCE: usize = 3;

impl Runs {
    /// The end of the first run of that length, which is a fence, or more from `at` on; `at` never goes
    /// back.
    fn next(
        &mut self,
        text: &[u8],
        at: usize,
        length: usize,
        walks: &mut Walks,
    ) -> Result<Option<usize>, Stop> {
        self.find_all(text, walks)?;
        let is_before = |run: &Run| run.start < at;
        while self.known.get(self.passed).is_some_and(is_before) {
            self.passed += 1;
        }
        let mut index = Some(self.passed);
        while let Some(run) = index.and_then(|index| self.known.get(index)) {
            if run.end - run.start >= length {
                return Ok(Some(run.end));
            }
            index = run.longer;
        }
        Ok(None)
    }

    /// Finds them all, once. Goes on where it was left.
    fn find_all(&mut self, text: &[u8], walks: &mut Walks) -> Result<(), Stop> {
        let end = text.len();
        let mut count = |units| walks.count(units);
        while self.at < end {
            let start = match self.start {
                Some(start) => start,
                None => {
                    self.at = skip_on(text, &mut self.at, end, &mut count, |byte| byte != b'`')?;
                    *self.start.insert(self.at)
                }
            };
            self.at = skip_on(text, &mut self.at, end, &mut count, |byte| byte == b'`')?;
            self.start = None;
            if self.at - start >= FENCE {
                self.add(start, self.at);
            }
            count(FUEL_A_RUN)?;
        }
        Ok(())
    }

    fn add(&mut self, start: usize, end: usize) {
        let number = self.known.len();
        while let Some(&index) = self.waiting.last() {
            let run = &mut self.known[index];
            if run.end - run.start >= end - start {
                break;
            }
            run.longer = Some(number);
            self.waiting.pop();
        }
        self.waiting.push(number);
        self.known.push(Run {
            start,
            end,
            longer: None,
        });
    }
}

/// What a run of backticks takes.
const FUEL_A_RUN: usize = 4;
