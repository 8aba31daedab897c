//! The search for another candidate if the first one is not JSON. If exactly one part of the text is
//! JSON, and nothing looks like a broken answer, that part is the answer. Nothing is repaired.

use super::scan::{is_blank, opens, skip_on, BYTES_BETWEEN_LOOKS};
use super::walks::Walks;
use ptc_term::stop::Stop;
use std::ops::Range;

/// The state of the search; it can be suspended and resumed.
#[derive(Debug, Default)]
pub struct Recovery {
    runs: Runs,
    /// The JSON that was found.
    only: Option<Range<usize>>,
    /// The current offset, and the offset of the last check of the limits.
    at: usize,
    asked: usize,
}

impl Recovery {
    /// Returns the only JSON of the text. Resumes where it was suspended.
    pub fn resume(&mut self, text: &[u8], walks: &mut Walks) -> Result<Option<Range<usize>>, Stop> {
        while let Some(&byte) = text.get(self.at) {
            let at = self.at;
            if at >= self.asked + BYTES_BETWEEN_LOOKS {
                self.asked = at;
                walks.count(BYTES_BETWEEN_LOOKS)?;
            }
            let step = match byte {
                b'`' => match walks.run_length(text, at)? {
                    length @ ..=2 => RecoveryStep::On(at + length),
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
                RecoveryStep::On(next) => self.at = next,
                RecoveryStep::Veto => return Ok(None),
                RecoveryStep::Candidate(..) if self.only.is_some() => return Ok(None),
                RecoveryStep::Candidate(range, next) => {
                    self.only = Some(range);
                    self.at = next;
                }
            }
        }
        Ok(self.only.clone())
    }
}

enum RecoveryStep {
    /// No JSON here; continue at this offset.
    On(usize),
    /// JSON; continue at this offset.
    Candidate(Range<usize>, usize),
    /// It looks like a broken answer.
    Veto,
}

fn region(text: &[u8], at: usize, walks: &mut Walks) -> Result<RecoveryStep, Stop> {
    if let Some(end) = walks.check(text, at)? {
        return Ok(RecoveryStep::Candidate(at..end, end));
    }
    // `[Note]`, `{name}`: up to its end it has no characters of a JSON value.
    let end = walks.skip(text, at + 1, text.len(), is_of_note)?;
    Ok(match text.get(end) {
        Some(byte) if *byte == text[at] + 2 => RecoveryStep::On(end + 1),
        _ => RecoveryStep::Veto,
    })
}

fn is_of_note(byte: u8) -> bool {
    !b"\"':,{}[]\\".contains(&byte)
}

/// Examines a run of `length` backticks at `at`.
fn fence(
    text: &[u8],
    at: usize,
    length: usize,
    runs: &mut Runs,
    walks: &mut Walks,
) -> Result<RecoveryStep, Stop> {
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
                    return Ok(RecoveryStep::Candidate(
                        content..end,
                        closing + closing_length,
                    ));
                }
            }
            if tag.is_empty() || is_json {
                return Ok(RecoveryStep::Veto);
            }
        }
        Some(_) if is_json && walks.run_length(text, content)? < length => {
            return Ok(RecoveryStep::Veto)
        }
        _ => {}
    }
    let after = at + length;
    let next = runs.next(text, after, length, walks)?;
    Ok(RecoveryStep::On(next.unwrap_or(after)))
}

/// The runs of three or more backticks of a text; finding a run of some length needs no scan of the
/// text.
#[derive(Debug, Default)]
struct Runs {
    known: Vec<Run>,
    /// Runs whose next longer one is not known yet; none is shorter than a later one.
    waiting: Vec<usize>,
    /// All runs that end before this offset are known.
    at: usize,
    /// A run that starts here is not complete yet.
    start: Option<usize>,
    /// Number of runs that start before the last offset asked for.
    passed: usize,
}

#[derive(Debug)]
struct Run {
    start: usize,
    end: usize,
    /// The index of the next longer run.
    longer: Option<usize>,
}

/// Minimum number of backticks of a fence.
const FENCE: usize = 3;

impl Runs {
    /// Returns the end of the first run of at least that length, which is a fence, from `at` on; `at`
    /// must not decrease.
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

    /// Finds all runs, once. Resumes where it was suspended.
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

/// Fuel for a run of backticks.
const FUEL_A_RUN: usize = 4;
