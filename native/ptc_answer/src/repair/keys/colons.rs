//! Repairs between a key and its value: missing and wrong colons.

use crate::repair::policy::fault::Fault;
use crate::repair::readings::branch::{Branch, Phase, Quote};
use crate::repair::readings::reader::Reader;
use crate::repair::text::scan::quote;
use crate::repair::Stop;
use ptc_term::heap::Heap;

impl<H: Heap> Reader<'_, '_, H> {
    pub(in crate::repair) fn colons(&mut self, branch: Branch) -> Result<(), Stop> {
        let at = branch.at as usize;
        let mut right = branch;
        if self.strict(&mut right) {
            right.still = 0;
            self.admit(right);
            return Ok(());
        }
        let mut next = branch;
        next.phase = Phase::Member;
        let sign: &[u8] = match &self.text[at.min(self.text.len())..] {
            [b'=', b'>', ..] => b"=>",
            [b'-', b'>', ..] => b"->",
            [b'=', ..] => b"=",
            _ => b"",
        };
        if !sign.is_empty() {
            self.repair(&mut next, Fault::NoColon, at, at + sign.len());
            self.moved(next, at + sign.len());
            return Ok(());
        }
        let begins = match self.byte(at) {
            b'{' | b'[' | b'-' | b'+' | b'.' => true,
            byte if byte.is_ascii_alphanumeric() => true,
            _ => quote(self.text, at).is_some_and(|(quote, _)| quote != Quote::Single(b'`')),
        };
        if begins && self.may_insert(&branch) && !self.follows_operator(at) {
            let gap = self.gap(at);
            self.repair(&mut next, Fault::MissingColon, gap, gap);
            next.still += 1;
            self.admit(next);
        }
        self.stray(branch);
        Ok(())
    }

    /// Returns whether the text before an offset ends with a word between two values: `5 or 6` is no field `or`.
    fn follows_operator(&self, at: usize) -> bool {
        let before = self.text[..at].trim_ascii_end();
        ["or", "and", "xor", "not", "nor", "to"].iter().any(|word| {
            let rest = before.len().checked_sub(word.len());
            rest.is_some_and(|rest| {
                before[rest..].eq_ignore_ascii_case(word.as_bytes())
                    && before[..rest].last().is_some_and(u8::is_ascii_whitespace)
            })
        })
    }
}
