//! How maps with the same keys are made of others: where each value comes from.

use ptc_term::heap::Heap;

/// The keys of a map that was read.
pub(crate) struct Source<T> {
    pub keys: Vec<T>,
    /// Where they stood in the last map.
    pub address: usize,
}

/// Consecutive values of a map, or consecutive operands, which are consecutive in the new map, too.
pub(crate) struct Run {
    /// The index of the map, or [`OPERANDS`].
    pub from: usize,
    pub first: usize,
    pub count: usize,
}

/// Stands for the operands.
pub(crate) const OPERANDS: usize = 2;

/// Where the values of the maps that an instruction makes come from.
pub(crate) struct Layout<T> {
    pub maker: u32,
    pub sources: Vec<Source<T>>,
    /// Its keys, in the order of the heap.
    pub keys: Vec<T>,
    /// The values of these.
    pub runs: Vec<Run>,
}

/// The keys and the values of a flat map.
pub(crate) type Flat<'t, T> = (&'t [T], &'t [T]);

impl<T: Copy> Layout<T> {
    pub fn fits<H: Heap<Term = T>>(&mut self, heap: &H, maps: &[Flat<'_, T>]) -> bool {
        self.sources.len() == maps.len()
            && self
                .sources
                .iter_mut()
                .zip(maps)
                .all(|(source, (keys, _))| {
                    if keys.len() != source.keys.len() {
                        return false;
                    }
                    let address = keys.as_ptr() as usize;
                    if address == source.address {
                        return true;
                    }
                    let mut pairs = keys.iter().zip(&source.keys);
                    let same = pairs.all(|(a, b)| heap.identical(*a, *b));
                    if same {
                        source.address = address;
                    }
                    same
                })
    }
}
