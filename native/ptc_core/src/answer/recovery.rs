//! The second look at a text whose first choice is no JSON: if there is exactly one part that is,
//! and nothing that looks like an answer gone wrong, that part is the answer. Nothing is repaired.

use super::check::check;
use super::scan::{opens, region_end, run_length, skip_blanks, Count, BYTES_BETWEEN_LOOKS};
use crate::stop::Stop;
use std::ops::Range;

/// The only JSON of the text.
pub fn recover(text: &[u8], count: &mut Count) -> Result<Option<Range<usize>>, Stop> {
    let mut runs = Runs::default();
    let mut only = None;
    let mut at = 0;
    let mut next_look = BYTES_BETWEEN_LOOKS;
    while at < text.len() {
        if at >= next_look {
            next_look = at + BYTES_BETWEEN_LOOKS;
            count(BYTES_BETWEEN_LOOKS)?;
        }
        let step = match text[at] {
            b'`' => match run_length(text, at) {
                length @ ..=2 => Step::On(at + length),
                length => fence(text, at, length, &mut runs, count)?,
            },
            byte if opens(byte) => region(text, at, count)?,
            _ => Step::On(at + 1),
        };
        match step {
            Step::On(next) => at = next,
            Step::Veto => return Ok(None),
            Step::Candidate(..) if only.is_some() => return Ok(None),
            Step::Candidate(range, next) => {
                only = Some(range);
                at = next;
            }
        }
    }
    Ok(only)
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
    Ok(match region_end(text, at, count)? {
        // `[Note]`, `{name}`
        Some(end) if !text[at + 1..end - 1].iter().any(is_of_json) => Step::On(end),
        _ => Step::Veto,
    })
}

fn is_of_json(byte: &u8) -> bool {
    b"\"':,{}[]\\".contains(byte)
}

/// A run of `length` backticks at `at`.
fn fence(
    text: &[u8],
    at: usize,
    length: usize,
    runs: &mut Runs,
    count: &mut Count,
) -> Result<Step, Stop> {
    let rest = &text[at + length..];
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t'));
    let tag_start = at + length + blanks.count();
    let of_tag = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_+.#-".contains(byte);
    let tag = text[tag_start..].iter().take_while(of_tag).count();
    let tag = &text[tag_start..tag_start + tag];
    let is_json = tag.len() >= 4 && tag[..4].eq_ignore_ascii_case(b"json");
    let content = skip_blanks(text, tag_start + tag.len());
    match text.get(content) {
        Some(&byte) if opens(byte) => {
            if let Some(end) = check(text, content, count)? {
                let closing = skip_blanks(text, end);
                let closing_length = run_length(text, closing);
                if closing_length >= length {
                    return Ok(Step::Candidate(content..end, closing + closing_length));
                }
            }
            if tag.is_empty() || is_json {
                return Ok(Step::Veto);
            }
        }
        Some(_) if run_length(text, content) < length && is_json => return Ok(Step::Veto),
        _ => {}
    }
    let after = at + length;
    Ok(Step::On(runs.next(text, after, length).unwrap_or(after)))
}

/// The runs of backticks of a text, so that looking for one of some length is not a walk of its own
/// each time.
#[derive(Default)]
struct Runs {
    known: Option<Vec<Run>>,
    /// How many of them start before the last offset asked for.
    passed: usize,
}

struct Run {
    start: usize,
    end: usize,
    /// The index of the next longer run.
    longer: Option<usize>,
}

impl Runs {
    /// The end of the first run of that length or more from `at` on; `at` never goes back.
    fn next(&mut self, text: &[u8], at: usize, length: usize) -> Option<usize> {
        let known = self.known.get_or_insert_with(|| all_runs(text));
        while known.get(self.passed).is_some_and(|run| run.start < at) {
            self.passed += 1;
        }
        let mut index = self.passed;
        loop {
            let run = known.get(index)?;
            if run.end - run.start >= length {
                return Some(run.end);
            }
            index = run.longer?;
        }
    }
}

fn all_runs(text: &[u8]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    // Those whose next longer one is not known yet; none is shorter than one after it.
    let mut waiting: Vec<usize> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let length = run_length(text, at);
        if length == 0 {
            at += 1;
            continue;
        }
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
    runs
}
