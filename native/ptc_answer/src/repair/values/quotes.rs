//! The beginning of a string: the kind of its quote.

use crate::repair::policy::fault::Fault;
use crate::repair::readings::branch::{Branch, Phase, Quote, Token};
use crate::repair::readings::reader::Reader;
use crate::repair::Stop;
use ptc_term::heap::Heap;

impl<H: Heap> Reader<'_, '_, H> {
    /// Begins a string, as a key or as a value.
    pub(in crate::repair) fn quoted(
        &mut self,
        branch: Branch,
        quote: Quote,
        length: usize,
        key: bool,
    ) -> Result<(), Stop> {
        let at = branch.at as usize;
        if let Quote::Triple(byte) = quote {
            // The first two quotes may be an empty string.
            let mut empty = branch;
            let single = match byte {
                b'"' => Quote::Double,
                byte => Quote::Single(byte),
            };
            self.begin_string(&mut empty, single, 1, key);
            self.within(empty)?;
            if key {
                return Ok(());
            }
        }
        let mut inside = branch;
        self.begin_string(&mut inside, quote, length, key);
        debug_assert!(inside.at as usize > at);
        self.within(inside)
    }

    fn begin_string(&mut self, branch: &mut Branch, quote: Quote, length: usize, key: bool) {
        let at = branch.at as usize;
        match quote {
            Quote::Double => {}
            Quote::Single(_) | Quote::SmartSingle if quote != Quote::SmartSingle => {
                self.repair(branch, Fault::SingleQuotes, at, at + length)
            }
            Quote::Triple(_) => self.repair(branch, Fault::TripleQuotes, at, at + length),
            _ => self.repair(branch, Fault::SmartQuotes, at, at + length),
        }
        branch.at += length as u32;
        branch.still = 0;
        branch.phase = Phase::Within;
        branch.token = Token {
            start: branch.at,
            quote,
            key,
            ..Token::NONE
        };
    }
}
