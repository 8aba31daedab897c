//! The search: straight on while the text is right, in all likely ways at once around a fault.

use super::branch::{Branch, Phase};
use super::fault::Fault;
use super::reader::Reader;
use super::scan::{comment, ellipsis, skip_all_blanks};
use super::Stop;
use crate::heap::Heap;

/// So many strings are looked at again when something is wrong after them.
const LOOK_BACK: usize = 6;

/// The last strings of a reading, each as it stood before it.
struct Recent {
    strings: [Option<Branch>; LOOK_BACK],
    next: usize,
}

impl Recent {
    fn new() -> Self {
        Recent {
            strings: [None; LOOK_BACK],
            next: 0,
        }
    }

    fn add(&mut self, branch: &Branch) {
        self.strings[self.next] = Some(*branch);
        self.next = (self.next + 1) % LOOK_BACK;
    }

    /// Oldest first.
    fn iter(&self) -> impl Iterator<Item = &Branch> {
        let (late, early) = self.strings.split_at(self.next);
        early.iter().chain(late).flatten()
    }
}

impl<H: Heap> Reader<'_, '_, H> {
    /// Reads on until no reading is left; the best ones are among the ends.
    pub fn search(&mut self, starts: &[Branch]) -> Result<(), Stop> {
        self.queue.clear();
        self.ends.clear();
        self.queue.extend_from_slice(starts);
        self.horizon = 0;
        let mut straight = true;
        while let Some(branch) = self.take() {
            self.check_memory()?;
            let alone = self.queue.is_empty() && self.ends.is_empty();
            let certain = straight || branch.at > self.horizon;
            if alone && certain && branch.phase != Phase::Within {
                straight = false;
                self.run(branch)?;
            } else {
                self.spend(16)?;
                self.expand(branch)?;
            }
        }
        Ok(())
    }

    /// Reads straight on, up to the end or to where the text is wrong. What was wrong may have begun
    /// before that, so the reading starts again from there.
    fn run(&mut self, mut branch: Branch) -> Result<(), Stop> {
        let mut recent = Recent::new();
        loop {
            let before = branch.at as usize;
            let is_string = matches!(
                branch.phase,
                Phase::First | Phase::Item | Phase::Member | Phase::FirstKey | Phase::NextKey
            ) && self.byte(before) != b'{';
            if is_string {
                recent.add(&branch);
            }
            if !self.strict(&mut branch) {
                break;
            }
            branch.still = 0;
            self.spend(branch.at as usize - before)?;
            if branch.phase == Phase::Done {
                branch.cost += self.leftover(branch.at as usize, true);
                self.admit(branch);
                return Ok(());
            }
        }
        self.horizon = branch.at;
        let from = self.doubtful(&recent, &branch);
        self.queue.push(from);
        Ok(())
    }

    /// Where to start again: at the first string that may hold more than it should, or that should
    /// have gone on.
    fn doubtful(&self, recent: &Recent, branch: &Branch) -> Branch {
        let mut last = None;
        for before in recent.iter() {
            let at = super::scan::skip_blanks(self.text, before.at as usize);
            if self.byte(at) != b'"' || at >= branch.at as usize {
                continue;
            }
            if let Some((end, _)) = self.strict_string(at + 1) {
                if is_suspicious(&self.text[at + 1..end]) {
                    return *before;
                }
                let next = super::scan::skip_blanks(self.text, end + 1);
                last = (next == branch.at as usize || branch.phase == Phase::Colon).then_some(before);
            }
        }
        *last.unwrap_or(branch)
    }

    /// Goes on in all likely ways.
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

    /// Skips blanks and comments, and dots that stand for what is left out.
    fn skip(&mut self, branch: &mut Branch) -> Result<(), Stop> {
        loop {
            let start = branch.at as usize;
            let at = skip_all_blanks(self.text, start);
            self.spend(at - start)?;
            branch.at = at as u32;
            if at > start {
                branch.still = 0;
            }
            if let Some(end) = comment(self.text, at) {
                self.repair(branch, Fault::Comment, at, end);
                branch.at = end as u32;
                self.spend(end - at)?;
                continue;
            }
            let may_be_left_out = !matches!(branch.phase, Phase::Member | Phase::Colon);
            match ellipsis(self.text, at) {
                Some(end) if may_be_left_out => {
                    self.repair(branch, Fault::Ellipsis, at, end);
                    branch.at = end as u32;
                    // `, ...,` leaves one comma too many.
                    let next = skip_all_blanks(self.text, end);
                    let again = matches!(branch.phase, Phase::Item | Phase::NextKey | Phase::First | Phase::FirstKey);
                    if again && self.byte(next) == b',' {
                        branch.at = next as u32 + 1;
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    /// Keeps a reading that may have come to its end.
    pub(super) fn proceed(&mut self, mut branch: Branch) {
        if branch.phase == Phase::Done {
            branch.cost += self.leftover(branch.at as usize, branch.still == 0);
        }
        self.admit(branch);
    }

    /// Whether nothing more of the value can come from here on.
    pub(super) fn is_end(&self, at: usize) -> bool {
        at >= self.text.len() || self.text[at..].starts_with(b"```")
    }

    /// What it costs that the value ends here; `closed`: with its own bracket.
    fn leftover(&self, at: usize, closed: bool) -> u32 {
        let mut next = skip_all_blanks(self.text, at);
        let mut cost = 0;
        let mut brackets = 0;
        while let Some(b'}' | b']') = self.text.get(next) {
            brackets += 1;
            next = skip_all_blanks(self.text, next + 1);
        }
        if brackets > 0 {
            cost += match closed {
                true => 2,
                false => 12,
            };
        }
        cost + match self.text.get(next) {
            None => 0,
            Some(b',' | b':' | b'=') => 14,
            Some(b'"' | b'0'..=b'9') => 10,
            Some(b'`') if self.is_end(next) => 0,
            Some(b'{' | b'[') if !closed => 14,
            _ if closed => 0,
            _ => 3,
        }
    }
}

/// Whether a string holds what may stand outside of one.
pub(super) fn is_suspicious(content: &[u8]) -> bool {
    let structure = |byte: &u8| matches!(byte, b',' | b':' | b'{' | b'}' | b'[' | b']' | b'=');
    content.iter().any(structure)
}
