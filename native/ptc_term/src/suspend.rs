//! Suspending and resuming work of any kind: its terms are exchanged, its plain data stay.
//!
//! Work that is suspended outlives the call of the heap that its terms belong to. So the terms are taken out, and the
//! caller holds them in one tuple. A state is generic over its terms: `State<T>` runs, and the same type with `()` in the place of
//! each term, `State<()>`, is what is kept. One function of the state, [`Rooted::exchange`], says where its terms
//! are. It serves both directions, so they cannot differ in the order of the terms.

use crate::heap::Heap;
use std::convert::Infallible;

/// Number of terms in one tuple, where many terms stand in a row.
pub(crate) const CHUNK: usize = 1024;

/// A state that has terms.
pub trait Rooted: Sized {
    /// A term; `()` in a suspended state.
    type Term;
    /// The state with other terms.
    type With<U>;

    /// Gives each term to `by` and puts what it returns in its place.
    fn exchange<X: Exchange<Self::Term>>(self, by: &mut X) -> Result<Self::With<X::Into>, X::Lost>;
}

/// What takes the terms of a state, or returns them.
pub trait Exchange<T> {
    /// What stands in the place of a term afterwards.
    type Into;
    /// Why a term cannot be exchanged.
    type Lost;

    /// Exchanges a term.
    fn term(&mut self, term: T) -> Result<Self::Into, Self::Lost>;

    /// Exchanges a tuple that has this arity. It fails where another term is returned.
    fn chunk(&mut self, tuple: T, arity: usize) -> Result<Self::Into, Self::Lost>;

    /// Makes a tuple of terms, which is exchanged in their place. It fails where terms are returned: they are in
    /// a tuple already.
    fn tuple(&mut self, terms: &[T]) -> Result<T, Self::Lost>;

    /// Makes a list cell, which is exchanged in the place of its parts. It fails like [`Exchange::tuple`].
    fn cons(&mut self, head: T, tail: T) -> Result<T, Self::Lost>;

    /// Exchanges a term that may be missing.
    #[inline]
    fn optional(&mut self, term: Option<T>) -> Result<Option<Self::Into>, Self::Lost> {
        match term {
            None => Ok(None),
            Some(term) => Ok(Some(self.term(term)?)),
        }
    }

    /// Exchanges each of these terms.
    #[inline]
    fn all(&mut self, terms: Vec<T>) -> Result<Vec<Self::Into>, Self::Lost> {
        let mut all = Vec::with_capacity(terms.len());
        for term in terms {
            all.push(self.term(term)?);
        }
        Ok(all)
    }
}

impl<R: Rooted> Rooted for Option<R> {
    type Term = R::Term;
    type With<U> = Option<R::With<U>>;

    #[inline]
    fn exchange<X: Exchange<R::Term>>(self, by: &mut X) -> Result<Self::With<X::Into>, X::Lost> {
        match self {
            None => Ok(None),
            Some(state) => Ok(Some(state.exchange(by)?)),
        }
    }
}

impl<R: Rooted> Rooted for Vec<R> {
    type Term = R::Term;
    type With<U> = Vec<R::With<U>>;

    #[inline]
    fn exchange<X: Exchange<R::Term>>(self, by: &mut X) -> Result<Self::With<X::Into>, X::Lost> {
        let mut all = Vec::with_capacity(self.len());
        for state in self {
            all.push(state.exchange(by)?);
        }
        Ok(all)
    }
}

impl<R: Rooted> Rooted for Box<R> {
    type Term = R::Term;
    type With<U> = Box<R::With<U>>;

    fn exchange<X: Exchange<R::Term>>(self, by: &mut X) -> Result<Self::With<X::Into>, X::Lost> {
        Ok(Box::new((*self).exchange(by)?))
    }
}

/// Implements [`Rooted`] for a struct that is generic over its terms. `terms` are its fields of this type, `optional` those that
/// may be missing, `lists` the vectors of them, `states` the fields that have terms themselves, and `plain` the others.
#[macro_export]
macro_rules! rooted {
    ($state:ident {
        $(terms: $($term:ident),*;)? $(optional: $($optional:ident),*;)? $(lists: $($list:ident),*;)?
        $(states: $($inner:ident),*;)? $(plain: $($plain:ident),*)?
    }) => {
        impl<T> $crate::suspend::Rooted for $state<T> {
            type Term = T;
            type With<U> = $state<U>;

            fn exchange<X: $crate::suspend::Exchange<T>>(
                self,
                by: &mut X,
            ) -> Result<$state<X::Into>, X::Lost> {
                Ok($state {
                    $($($term: by.term(self.$term)?,)*)?
                    $($($optional: by.optional(self.$optional)?,)*)?
                    $($($list: by.all(self.$list)?,)*)?
                    $($($inner: $crate::suspend::Rooted::exchange(self.$inner, by)?,)*)?
                    $($($plain: self.$plain,)*)?
                })
            }
        }
    };
}

/// A single term as a state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct One<T>(pub T);

impl<T> Rooted for One<T> {
    type Term = T;
    type With<U> = One<U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<One<X::Into>, X::Lost> {
        Ok(One(by.term(self.0)?))
    }
}

/// Takes all terms out of a state and adds them to `out`, in order.
pub fn freeze<R: Rooted, H: Heap<Term = R::Term>>(
    state: R,
    heap: &mut H,
    out: &mut Vec<H::Term>,
) -> R::With<()> {
    let Ok(frozen) = state.exchange(&mut Freeze { heap, out });
    frozen
}

/// Puts terms back into a state, in the same order. `None` if there are too few, or if they cannot be those that were
/// taken out.
pub fn thaw<R: Rooted<Term = ()>, H: Heap>(
    state: R,
    heap: &H,
    terms: &mut impl Iterator<Item = H::Term>,
) -> Option<R::With<H::Term>> {
    state.exchange(&mut Thaw { heap, terms }).ok()
}

struct Freeze<'f, H: Heap> {
    heap: &'f mut H,
    out: &'f mut Vec<H::Term>,
}

impl<H: Heap> Exchange<H::Term> for Freeze<'_, H> {
    type Into = ();
    type Lost = Infallible;

    #[inline]
    fn term(&mut self, term: H::Term) -> Result<(), Infallible> {
        self.out.push(term);
        Ok(())
    }

    /// Many terms are copied as tuples, which takes a fraction of the time.
    #[inline]
    fn all(&mut self, terms: Vec<H::Term>) -> Result<Vec<()>, Infallible> {
        let (full, others) = terms.as_chunks::<CHUNK>();
        for chunk in full {
            let tuple = self.heap.make_tuple(chunk);
            self.out.push(tuple);
        }
        self.out.extend_from_slice(others);
        Ok(vec![(); terms.len()])
    }

    #[inline]
    fn chunk(&mut self, tuple: H::Term, _arity: usize) -> Result<(), Infallible> {
        self.term(tuple)
    }

    fn tuple(&mut self, terms: &[H::Term]) -> Result<H::Term, Infallible> {
        Ok(self.heap.make_tuple(terms))
    }

    #[inline]
    fn cons(&mut self, head: H::Term, tail: H::Term) -> Result<H::Term, Infallible> {
        Ok(self.heap.cons(head, tail))
    }
}

struct Thaw<'t, H, I> {
    heap: &'t H,
    terms: &'t mut I,
}

/// A term is missing or another one, or terms were to be put into a tuple or a list again.
struct Missing;

impl<H: Heap, I: Iterator<Item = H::Term>> Exchange<()> for Thaw<'_, H, I> {
    type Into = I::Item;
    type Lost = Missing;

    #[inline]
    fn term(&mut self, (): ()) -> Result<I::Item, Missing> {
        self.terms.next().ok_or(Missing)
    }

    #[inline]
    fn all(&mut self, places: Vec<()>) -> Result<Vec<I::Item>, Missing> {
        let mut all = Vec::with_capacity(places.len());
        for _ in 0..places.len() / CHUNK {
            let tuple = self.terms.next().ok_or(Missing)?;
            let chunk = self.heap.elements(tuple).filter(|it| it.len() == CHUNK);
            all.extend_from_slice(chunk.ok_or(Missing)?);
        }
        for _ in 0..places.len() % CHUNK {
            all.push(self.terms.next().ok_or(Missing)?);
        }
        Ok(all)
    }

    fn chunk(&mut self, (): (), arity: usize) -> Result<I::Item, Missing> {
        let tuple = self.term(())?;
        match self.heap.arity(tuple) == Some(arity) {
            true => Ok(tuple),
            false => Err(Missing),
        }
    }

    fn tuple(&mut self, _terms: &[()]) -> Result<(), Missing> {
        Err(Missing)
    }

    fn cons(&mut self, _head: (), _tail: ()) -> Result<(), Missing> {
        Err(Missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Number;
    use crate::plain::PlainHeap;
    use crate::roots::Roots;

    #[test]
    fn a_state_has_its_terms_again() {
        for count in [0, 1, 1023, 1024, 1025, 5000] {
            let mut heap = PlainHeap::new();
            let numbers: Vec<_> = (0..count)
                .filter_map(|n| heap.make_number(Number::Int(n)))
                .collect();
            let mut roots = Roots::default();
            roots.extend(numbers.iter().copied());
            let state = vec![Some(Box::new(roots)), None];

            // The second time there is nothing to copy: the chunks are tuples.
            let (mut state, mut out) = (state, Vec::new());
            for _ in 0..2 {
                out.clear();
                let frozen = freeze(state, &mut heap, &mut out);
                assert_eq!(out.len() as i64, count / 1024 + count % 1024);
                let mut terms = out.iter().copied();
                state = thaw(frozen, &heap, &mut terms).expect("all terms are there");
                assert!(terms.next().is_none());
            }
            let roots = state[0].take().expect("it was there");
            assert_eq!(roots.into_vec(&heap), numbers);
        }
    }

    #[test]
    fn many_terms_in_a_row_are_few_tuples() {
        for count in [0, 1, 1023, 1024, 1025, 5000] {
            let mut heap = PlainHeap::new();
            let numbers: Vec<_> = (0..count)
                .filter_map(|n| heap.make_number(Number::Int(n)))
                .collect();
            let mut out = Vec::new();
            let frozen = freeze(Row(numbers.clone()), &mut heap, &mut out);
            assert_eq!(out.len() as i64, count / 1024 + count % 1024);
            let mut terms = out.iter().copied();
            let row = thaw(frozen.clone(), &heap, &mut terms).expect("all terms are there");
            assert!(terms.next().is_none() && row.0 == numbers);
            if count >= 1024 {
                out[0] = heap.make_tuple(&[]);
                assert!(thaw(frozen, &heap, &mut out.into_iter()).is_none());
            }
        }
    }

    /// Terms in a row.
    #[derive(Clone)]
    struct Row<T>(Vec<T>);

    impl<T> Rooted for Row<T> {
        type Term = T;
        type With<U> = Row<U>;

        fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Row<X::Into>, X::Lost> {
            Ok(Row(by.all(self.0)?))
        }
    }

    #[test]
    fn a_missing_term_is_found() {
        let mut heap = PlainHeap::new();
        let (state, mut out) = (vec![One(heap.nil()), One(heap.nil())], Vec::new());
        let frozen = freeze(state, &mut heap, &mut out);
        out.pop();
        assert!(thaw(frozen, &heap, &mut out.into_iter()).is_none());
    }

    #[test]
    fn another_chunk_is_found() {
        let mut heap = PlainHeap::new();
        let (mut roots, mut out) = (Roots::default(), Vec::new());
        roots.extend(vec![heap.nil(); 1024]);
        let frozen = freeze(roots, &mut heap, &mut out);
        let shorter = heap.make_tuple(&[heap.nil(); 1023]);
        for wrong in [shorter, heap.nil()] {
            assert!(thaw(frozen.clone(), &heap, &mut [wrong].into_iter()).is_none());
        }
        assert!(thaw(frozen, &heap, &mut out.into_iter()).is_some());
    }
}
