//! Numbers, which are validated without being converted.

use super::classes::Classes;
use super::long::{is_finite, Long};
use super::{after, past, BLOCK};

/// What the blocks before say about the numbers of a block.
#[derive(Debug, Clone, Default)]
pub struct NumberState {
    /// The last byte of the block before was part of a number.
    number: u64,
    /// … a digit of a number.
    digit: u64,
    /// … a sign or a point, after which a digit must follow.
    need: u64,
    /// … a minus at the start of a number.
    minus: u64,
    /// … a zero after which no digit may follow.
    zero: u64,
    /// … a point.
    dot: u64,
    /// … the letter of an exponent.
    e: u64,
    /// … the sign of an exponent.
    sign: u64,
    /// The digits of a fraction, or of an exponent, may continue.
    fraction: u64,
    exponent: u64,
    /// A number that contains a whole block.
    long: Option<Long>,
    /// The bytes of the longest one.
    longest: usize,
}

impl NumberState {
    /// Returns an upper bound of the bytes of the longest number.
    pub fn longest(&self) -> usize {
        self.longest.max(2 * BLOCK)
    }

    /// Returns whether there can be no number in a block without bytes of numbers.
    #[inline(always)]
    pub fn is_quiet(&self) -> bool {
        self.number == 0
    }

    /// Reads the numbers of the block at `at`. `numbers`: their bytes; `starts`: where scalars start. Returns the bytes that
    /// are not valid.
    #[inline(always)]
    pub fn next(
        &mut self,
        text: &[u8],
        at: usize,
        classes: &Classes,
        numbers: u64,
        starts: u64,
    ) -> u64 {
        let digits = classes.digit & numbers;
        let minuses = classes.minus & numbers;
        let dots = classes.dot & numbers;
        let (mut es, mut pluses, mut wrong) = (0, 0, 0);
        let others = numbers & !(digits | minuses | dots);
        if others != 0 {
            (es, pluses, wrong) = letters(text, at, others);
        }

        let first = numbers & !after(numbers, &mut self.number);
        // Something before it that is not a separator: `true1`.
        wrong |= first & !starts;
        wrong |= first & !(digits | minuses);

        let after_digit = after(digits, &mut self.digit);
        wrong |= (dots | es) & !after_digit;

        let after_e = after(es, &mut self.e);
        let signs = (minuses | pluses) & after_e;
        wrong |= minuses & !(first | after_e);
        wrong |= pluses & !after_e;
        wrong |= after_e & !(digits | minuses | pluses);

        let after_need = after(minuses | pluses | dots, &mut self.need);
        wrong |= after_need & !digits;

        let after_minus = after(minuses & first, &mut self.minus);
        let zeros = classes.zero & digits & (first | after_minus);
        wrong |= after(zeros, &mut self.zero) & digits;

        // A second point, and a point or a second exponent after an exponent.
        let after_dot = after(dots, &mut self.dot);
        wrong |= past(digits, after_dot & digits, &mut self.fraction) & dots;
        let after_sign = after(signs, &mut self.sign);
        let begin = (after_e | after_sign) & digits;
        wrong |= past(digits, begin, &mut self.exponent) & (dots | es);

        if es != 0 {
            wrong |= infinite(text, at, es);
        }
        if numbers == u64::MAX || self.long.is_some() {
            wrong |= self.long(text, at, classes, numbers, es);
        }
        wrong
    }

    /// Follows a number that contains a whole block; returns a bit if it ends here and is not valid.
    #[cold]
    fn long(&mut self, text: &[u8], at: usize, classes: &Classes, numbers: u64, es: u64) -> u64 {
        let mut long = match self.long.take() {
            Some(long) => long,
            None => Long::begin(text, at),
        };
        let length = numbers.trailing_ones();
        let within = match length {
            64 => u64::MAX,
            length => (1 << length) - 1,
        };
        long.read(at, classes, within, es);
        if length == 64 {
            self.long = Some(long);
            return 0;
        }
        let end = at + length as usize;
        self.longest = self.longest.max(end - long.start);
        u64::from(!long.is_valid(text, end)) << length
    }
}

/// Returns which of the bytes are `e` or `E`, which are `+`, and which are neither.
#[inline]
fn letters(text: &[u8], at: usize, mut others: u64) -> (u64, u64, u64) {
    let (mut es, mut pluses, mut wrong) = (0, 0, 0);
    while others != 0 {
        let place = others.trailing_zeros();
        let bit = others & others.wrapping_neg();
        others ^= bit;
        match text.get(at + place as usize) {
            Some(b'e' | b'E') => es |= bit,
            Some(b'+') => pluses |= bit,
            _ => wrong |= bit,
        }
    }
    (es, pluses, wrong)
}

/// Returns which of the exponents make a number infinite, long numbers excepted.
#[cold]
fn infinite(text: &[u8], at: usize, mut es: u64) -> u64 {
    let mut infinite = 0;
    while es != 0 {
        let place = es.trailing_zeros();
        let bit = es & es.wrapping_neg();
        es ^= bit;
        if !is_finite(text, at + place as usize) {
            infinite |= bit;
        }
    }
    infinite
}
