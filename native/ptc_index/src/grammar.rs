//! Which token may follow which.
//!
//! For each kind of token, the first byte after it that is not white space is found for all tokens of a block at once. What may be
//! there depends on the token alone, except after a comma: in an object a key follows, in a list a value.

use super::brackets::Containers;
use super::classes::Classes;
use super::strings::Strings;
use super::{after, past};

/// What the blocks before say about the tokens of a block.
#[derive(Debug, Clone, Copy, Default)]
pub struct GrammarState {
    /// The carries of [`past`]: after a value, after a key, after `{`, after a comma in an object, after a colon or a comma in a list.
    value: u64,
    key: u64,
    brace: u64,
    member: u64,
    item: u64,
    /// The last byte was part of a scalar.
    scalar: u64,
    /// A key continues.
    within_key: u64,
}

/// The tokens of a block.
#[derive(Debug, Clone, Copy)]
pub struct Tokens {
    /// The bytes of numbers and words, and of what is neither.
    pub scalars: u64,
    /// Their first bytes.
    pub starts: u64,
    /// The bytes that are not expected where they are.
    pub wrong: u64,
    /// The bytes of keys, without the closing quotes.
    pub keys: u64,
}

impl GrammarState {
    /// Returns whether the last token was the end of a value.
    pub fn is_after_value(&self) -> bool {
        self.value != 0
    }

    /// Returns the tokens of the next block.
    #[inline(always)]
    pub fn next(&mut self, classes: &Classes, strings: &Strings, inside: &Containers) -> Tokens {
        let outside = !(strings.inside | strings.close);
        let blank = classes.blank & outside;
        let open = classes.open & outside;
        let close = classes.close & outside;
        let comma = classes.comma & outside;
        let colon = classes.colon & outside;
        let scalars = outside & !(blank | open | close | comma | colon);
        let after_scalars = after(scalars, &mut self.scalar);
        let starts = scalars & !after_scalars;
        let values = open | strings.open | starts;

        let next = |ends: u64, carry: &mut u64| {
            // A token that ends the block, or white space that continues.
            let first = ends << 1 | *carry;
            let (sum, over) = blank.overflowing_add(first);
            *carry = ends >> 63 | u64::from(over);
            sum & !blank
        };
        let after_brace = next(inside.braces, &mut self.brace);
        let after_member = next(comma & inside.object, &mut self.member);
        let after_item = next(comma & !inside.object | colon, &mut self.item);
        let mut wrong = after_brace & !(strings.open | close);
        wrong |= after_member & !strings.open;
        wrong |= after_item & !values;

        let keys = (after_brace | after_member) & strings.open;
        let within = self.within_key;
        let key_ends = past(strings.inside, keys, &mut self.within_key);
        // The bits that the sum has cleared.
        let in_keys = strings.inside & !strings.inside.wrapping_add(keys | within);
        let after_key = next(key_ends, &mut self.key);
        wrong |= after_key ^ colon;

        let ends = strings.close & !key_ends | close;
        let scalar_ends = after_scalars & !scalars;
        let first = ends << 1 | self.value | scalar_ends;
        let (sum, over) = blank.overflowing_add(first);
        self.value = ends >> 63 | u64::from(over);
        let after_value = sum & !blank;
        wrong |= comma & (!after_value | inside.top);
        wrong |= after_value & values;

        Tokens {
            scalars,
            starts,
            wrong,
            keys: in_keys,
        }
    }
}
