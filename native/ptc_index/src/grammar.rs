//! Which token may follow which.
//!
//! For each kind of token, the first byte after it that is not white space is found for all tokens of a block at once. What may be
//! there depends on the token alone, except after a comma: in an object a key follows, in a list a value.

use super::brackets::Containers;
use super::classes::Classes;
use super::strings::Strings;
use super::{after, past, PerBlock};

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
#[derive(Debug, Clone, Copy, Default)]
pub struct Tokens {
    /// The bytes of numbers and words, and of what is neither.
    pub scalars: u64,
    /// Their first bytes.
    pub starts: u64,
    /// The bytes of keys, without the closing quotes.
    pub keys: u64,
}

impl GrammarState {
    /// Returns whether the last token was the end of a value.
    pub fn is_after_value(&self) -> bool {
        self.value != 0
    }

    /// Finds the tokens of the next chunk; returns 0 if they are in order.
    #[inline(never)]
    pub fn next(
        &mut self,
        classes: &PerBlock<Classes>,
        strings: &PerBlock<Strings>,
        containers: &PerBlock<Containers>,
        tokens: &mut PerBlock<Tokens>,
    ) -> u64 {
        let mut wrong = 0;
        let mut state = *self;
        for (((tokens, classes), strings), inside) in
            tokens.iter_mut().zip(classes).zip(strings).zip(containers)
        {
            *tokens = state.block(classes, strings, inside, &mut wrong);
        }
        *self = state;
        wrong
    }

    #[inline(always)]
    fn block(
        &mut self,
        classes: &Classes,
        strings: &Strings,
        inside: &Containers,
        wrong: &mut u64,
    ) -> Tokens {
        let outside = !(strings.inside | strings.quotes);
        let blank = classes.blank & outside;
        let comma = classes.comma & outside;
        let colon = classes.colon & outside;
        let quote = strings.quotes & strings.inside;
        let scalars = outside & !(blank | inside.open | inside.close | comma | colon);
        let after_scalars = after(scalars, &mut self.scalar);
        let starts = scalars & !after_scalars;
        let values = inside.open | quote | starts;

        // The first byte after each of these that is not white space.
        let next = |ends: u64, also: u64, carry: &mut u64| {
            let (sum, over) = blank.overflowing_add(ends << 1 | also | *carry);
            *carry = ends >> 63 | u64::from(over);
            sum & !blank
        };
        let after_brace = next(inside.braces, 0, &mut self.brace);
        let after_member = next(comma & inside.object, 0, &mut self.member);
        let after_item = next(comma & !inside.object | colon, 0, &mut self.item);
        *wrong |= after_brace & !(quote | inside.close);
        *wrong |= after_member & !quote;
        *wrong |= after_item & !values;

        let keys = (after_brace | after_member) & quote;
        let within = self.within_key;
        let key_ends = past(strings.inside, keys, &mut self.within_key);
        // The bits that the sum has cleared.
        let in_keys = strings.inside & !strings.inside.wrapping_add(keys | within);
        let after_key = next(key_ends, 0, &mut self.key);
        *wrong |= after_key ^ colon;

        let ends = (strings.quotes & !strings.inside & !key_ends) | inside.close;
        let after_value = next(ends, after_scalars & !scalars, &mut self.value);
        *wrong |= comma & (!after_value | inside.top);
        *wrong |= after_value & values;

        Tokens {
            scalars,
            starts,
            keys: in_keys,
        }
    }
}
