//! The search: strict reading while the text is correct, all likely readings around a fault.

pub(in crate::repair) mod lookahead;
pub(in crate::repair) mod places;
pub(in crate::repair) mod strict;
pub(in crate::repair) mod valid;

use crate::repair::policy::fault::Fault;
use crate::repair::readings::branch::{Branch, Phase, Recent};
use crate::repair::readings::reader::Reader;
use crate::repair::text::scan::{comment, ellipsis, skip_all_blanks};
use crate::repair::Stop;
use ptc_term::heap::Heap;

impl<H: Heap> Reader<'_, '_, H> {
    /// Begins a search.
    pub fn begin_search(&mut self, starts: &[Branch]) {
        self.state.queue.clear();
        self.state.ends.clear();
        let kept = starts.iter().filter(|start| !start.is_refused());
        self.state.queue.extend(kept);
        self.state.horizon = 0;
        self.state.straight = true;
        self.state.running = None;
    }

    /// Advances the readings until none is left; the best ones are among the ends. It can be suspended
    /// and resumed.
    pub fn search(&mut self) -> Result<(), Stop> {
        loop {
            if let Some((branch, recent)) = self.state.running.take() {
                self.run(branch, recent)?;
            }
            self.suspend_if_due()?;
            let Some(branch) = self.take() else {
                return Ok(());
            };
            self.check_memory()?;
            let alone = self.state.queue.is_empty() && self.state.ends.is_empty();
            let certain = self.state.straight || branch.at > self.state.horizon;
            if alone && certain && branch.phase != Phase::Within {
                self.state.straight = false;
                self.run(branch, Recent::new())?;
            } else {
                self.consume_fuel(16)?;
                self.expand(branch)?;
            }
        }
    }

    /// Reads strictly, up to the end or to an error. The fault may begin before the error, so the
    /// reading restarts at an earlier offset.
    fn run(&mut self, mut branch: Branch, mut recent: Recent) -> Result<(), Stop> {
        loop {
            if let Err(stop) = self.suspend_if_due() {
                self.state.running = Some((branch, recent));
                return Err(stop);
            }
            let before = branch.at as usize;
            let is_string = matches!(
                branch.phase,
                Phase::First | Phase::Item | Phase::Member | Phase::FirstKey | Phase::NextKey
            ) && !matches!(self.byte(before), b'{' | b'[');
            if is_string {
                recent.add(&branch);
            }
            if !self.strict(&mut branch) {
                break;
            }
            branch.still = 0;
            self.consume_fuel(branch.at as usize - before)?;
            if self.state.log.len().is_multiple_of(1024) {
                self.check_memory()?;
            }
            if branch.phase == Phase::Done {
                self.proceed(branch);
                return Ok(());
            }
        }
        self.state.horizon = branch.at;
        let from = self.doubtful(&recent, &branch);
        self.state.queue.push(from);
        Ok(())
    }

    /// Returns the state to restart from: the first string that may contain too much, or that may have
    /// ended too early.
    fn doubtful(&self, recent: &Recent, branch: &Branch) -> Branch {
        let mut last = None;
        let byte = self.byte(branch.at as usize);
        let number = match branch.phase {
            Phase::NextKey | Phase::Item => byte.is_ascii_digit(),
            Phase::After => byte.is_ascii_alphabetic() || matches!(byte, b'%' | b'$'),
            _ => false,
        };
        for before in recent.iter() {
            let at = crate::repair::text::scan::skip_blanks(self.text, before.at as usize);
            if number && at < branch.at as usize {
                // `1,234`, `100 km/h"`
                last = Some(before);
            }
            if self.byte(at) != b'"' || at >= branch.at as usize {
                continue;
            }
            if let Some((end, _)) = self.strict_string(at + 1) {
                if is_suspicious(&self.text[at + 1..end]) {
                    return *before;
                }
                let next = crate::repair::text::scan::skip_blanks(self.text, end + 1);
                if next == branch.at as usize || branch.phase == Phase::Colon {
                    last = Some(before);
                }
            }
        }
        *last.unwrap_or(branch)
    }

    /// Advances a reading in all likely ways.
    fn expand(&mut self, mut branch: Branch) -> Result<(), Stop> {
        if branch.phase == Phase::Within {
            return self.within(branch);
        }
        self.skip(&mut branch)?;
        match branch.phase {
            Phase::FirstKey | Phase::NextKey => self.keys(branch),
            Phase::Colon => self.colons(branch),
            Phase::First | Phase::Item | Phase::Member => self.values(branch),
            Phase::After => self.after(branch),
            Phase::Within | Phase::Done => Ok(()),
        }
    }

    /// Returns whether a number or a word ends at an offset: `5//2` is a calculation.
    fn is_after_word(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map(|before| self.byte(before));
        before.is_some_and(|byte| byte.is_ascii_alphanumeric())
            && !self.text[at..].starts_with(b"/*")
    }

    /// Skips blanks, comments and ellipses.
    fn skip(&mut self, branch: &mut Branch) -> Result<(), Stop> {
        loop {
            let start = branch.at as usize;
            let at = skip_all_blanks(self.text, start);
            self.consume_fuel(at - start)?;
            branch.at = at as u32;
            if at > start {
                branch.still = 0;
            }
            let after_word = at == start && branch.phase == Phase::After && self.is_after_word(at);
            if let Some(end) = comment(self.text, at).filter(|_| !after_word) {
                self.repair(branch, Fault::Comment, at, end);
                branch.at = end as u32;
                self.consume_fuel(end - at)?;
                continue;
            }
            let may_be_left_out = !matches!(branch.phase, Phase::Member | Phase::Colon);
            match ellipsis(self.text, at) {
                Some(end) if may_be_left_out => {
                    self.repair(branch, Fault::Ellipsis, at, end);
                    branch.at = end as u32;
                    // In `, ...,` one comma is superfluous.
                    let next = skip_all_blanks(self.text, end);
                    let again = matches!(
                        branch.phase,
                        Phase::Item | Phase::NextKey | Phase::First | Phase::FirstKey
                    );
                    if again && self.byte(next) == b',' {
                        branch.at = next as u32 + 1;
                    }
                }
                _ => return Ok(()),
            }
        }
    }
}

/// Returns whether a string contains characters that also occur between strings.
pub(in crate::repair) fn is_suspicious(content: &[u8]) -> bool {
    let structure = |byte: &u8| matches!(byte, b',' | b':' | b'{' | b'}' | b'[' | b']' | b'=');
    content.iter().any(structure)
}
