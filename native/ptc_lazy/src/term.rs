//! The terms of a lazy heap.

/// A value of a text: the number of the text, and the offset of the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    /// The number of the text in its run.
    pub text: u32,
    /// The offset of the first byte.
    pub at: u32,
}

/// A term of the inner heap, or a number, a string, a list or an object of a text. `null`, `true`, `false` and empty rests
/// are always terms of the inner heap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Term<T> {
    /// A term of the inner heap.
    Real(T),
    /// A value of a text.
    Node(Place),
    /// The elements of a list of a text from this one on.
    Rest(Place),
}

/// The key and the value of an entry.
pub(crate) type Pair<T> = (Term<T>, Term<T>);

/// Bits of an offset, and of what stands before the number of the text.
const OFFSET: u32 = 32;
const BEFORE_TEXT: u32 = OFFSET + 1;

/// In the place of an offset: the whole value of the text. No text is so long.
pub(crate) const WHOLE: u32 = u32::MAX;

/// Returns the number that stands for the whole value of a text in a tuple with the marker.
pub fn whole(text: u32) -> i64 {
    i64::from(text) << BEFORE_TEXT | i64::from(WHOLE)
}

impl<T> Term<T> {
    /// Returns a number for a value of a text, which [`Term::unpacked`] reads; `None` for a term of the inner heap.
    #[inline]
    pub(crate) fn packed(&self) -> Option<i64> {
        let (place, rest) = match self {
            Term::Real(_) => return None,
            Term::Node(place) => (place, 0),
            Term::Rest(place) => (place, 1),
        };
        Some(i64::from(place.text) << BEFORE_TEXT | rest << OFFSET | i64::from(place.at))
    }

    /// Returns the value of a text for its number.
    #[inline]
    pub(crate) fn unpacked(number: i64) -> Option<Self> {
        let text = u32::try_from(number >> BEFORE_TEXT).ok()?;
        let place = Place {
            text,
            at: number as u32,
        };
        Some(match number >> OFFSET & 1 {
            0 => Term::Node(place),
            _ => Term::Rest(place),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_same_value() {
        for text in [0, 1, (1 << 26) - 1] {
            for at in [0, 1, u32::MAX] {
                let place = Place { text, at };
                for term in [Term::Node(place), Term::<()>::Rest(place)] {
                    let number = term.packed().unwrap();
                    // It fits the integers that take no memory on the BEAM.
                    assert!((0..1 << 59).contains(&number));
                    assert_eq!(Term::unpacked(number), Some(term));
                }
            }
        }
    }
}
