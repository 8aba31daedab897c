//! The end of a value, and the text after it.

use crate::repair::policy::fault::Fault;
use crate::repair::readings::branch::{Branch, Phase};
use crate::repair::readings::log::Event;
use crate::repair::readings::reader::Reader;
use crate::repair::text::scan::{quote, skip_all_blanks};
use crate::repair::text::start::begins_field;
use ptc_term::heap::Heap;

impl<H: Heap> Reader<'_, '_, H> {
    /// Keeps a reading that may be complete.
    pub(in crate::repair) fn proceed(&mut self, mut branch: Branch) {
        if branch.phase == Phase::Done {
            if self.is_first_of_many(&branch) {
                return;
            }
            match self.leftover(&branch, branch.still == 0) {
                Some(cost) => branch.cost += cost,
                None => return,
            }
        }
        self.admit(branch);
    }

    /// Returns whether the text of the value ends here.
    pub(in crate::repair) fn is_end(&self, at: usize) -> bool {
        at >= self.text.len() || self.text[at..].starts_with(b"```")
    }

    /// Returns whether a list without brackets ends after an object and another object follows, as in
    /// JSON lines.
    fn is_first_of_many(&self, branch: &Branch) -> bool {
        let at = branch.at as usize;
        let next = skip_all_blanks(self.text, at);
        self.text.get(next) == Some(&b'{')
            && self.text[..at].ends_with(b"}")
            && self.state.log.last(branch.node) == Some(Event::Close(false))
    }

    /// Returns whether the text from an offset on closes more brackets than it opens.
    fn unopened(&self, from: usize) -> bool {
        let text = self.text;
        let all = self.state.unopened.get_or_init(|| {
            let mut all = vec![false; text.len()];
            let mut count = 0_usize;
            for (at, byte) in text.iter().enumerate().rev() {
                match byte {
                    b'}' | b']' => count += 1,
                    b'{' | b'[' => count = count.saturating_sub(1),
                    _ => {}
                }
                all[at] = count > 0;
            }
            all
        });
        all.get(from).copied().unwrap_or(false)
    }

    /// Returns the cost of ending the value here; `closed`: with its own bracket. `None` if the text
    /// after it looks like a part of the value.
    fn leftover(&self, branch: &Branch, closed: bool) -> Option<u32> {
        let text = self.text;
        let mut next = skip_all_blanks(text, branch.at as usize);
        let mut cost = 0;
        let first = next;
        for _ in 0..CLOSERS {
            match text.get(next) {
                Some(b'}' | b']') => next = skip_all_blanks(text, next + 1),
                _ => break,
            }
        }
        if next > first {
            cost += match closed {
                true => 2,
                false => 12,
            };
        }
        let lines = text[next..].len().min(TAIL);
        let tail = &text[next..next + lines];
        // The bracket may have been inserted too early: it comes later.
        let unopened = closed && !tail.is_empty() && self.unopened(next);
        let put_in = branch.faults & (1 << Fault::MissingClose as u32) != 0;
        let is_field = quote(text, next).is_some() && begins_field(text, next);
        if unopened && put_in || closed && is_field {
            return None;
        }
        if unopened {
            cost += UNOPENED;
        }
        let more = match tail.first() {
            None => 0,
            Some(b'`') if self.is_end(next) => 0,
            // `const x = {…};`
            Some(b';') if closed && self.is_end(skip_all_blanks(text, next + 1)) => 0,
            Some(b',') if closed && is_prose(&tail[1..]) => 4,
            Some(b',' | b':' | b';' | b'=') => return None,
            Some(b'"' | b'0'..=b'9') if closed => 14,
            Some(_) if closed => 0,
            Some(_) if tail.iter().any(|byte| b"\"{}[]".contains(byte)) => return None,
            Some(_) => 3,
        };
        Some(cost + more)
    }
}

/// Maximum number of superfluous closing brackets that are skipped at once.
const CLOSERS: usize = 256;
/// Maximum length of the text after the value that is examined.
const TAIL: usize = 200;
/// Cost if the text after the value closes brackets that it does not open.
const UNOPENED: u32 = 12;

/// Returns whether the text begins with words.
fn is_prose(tail: &[u8]) -> bool {
    let tail = tail.trim_ascii_start();
    let word = tail
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_');
    let word = word.count();
    let after = tail[word..].trim_ascii_start().first();
    word > 0 && !tail[0].is_ascii_digit() && !matches!(after, Some(b':' | b'"' | b'=' | b'\''))
}
