//! Where a container ends: the bracket depths of the text in chunks, and in chunks of chunks.
//!
//! For each chunk it is known how much deeper its end is than its start, and how deep its lowest point is. So a search for the end
//! of a container passes over all chunks in which it cannot be, 64 at a time on each level. The size depends on the length of the
//! text only. (The structure is known as a range min-max tree over balanced parentheses.)

use super::CHUNK;

/// Chunks that are one chunk of the next level.
const GROUP: usize = 64;
/// Levels: a chunk of the last one has 128 MiB.
const LEVELS: usize = 4;

/// The bracket depth of a chunk, relative to its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Excess {
    /// The depth at the end.
    pub delta: i32,
    /// The smallest depth, which is at most 0.
    pub least: i32,
}

impl Excess {
    fn sum(chunks: &[Excess]) -> Excess {
        chunks.iter().fold(Excess::default(), |sum, chunk| Excess {
            delta: sum.delta + chunk.delta,
            least: sum.least.min(sum.delta + chunk.least),
        })
    }
}

/// The depths of all chunks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Directory {
    levels: [Vec<Excess>; LEVELS],
}

impl Directory {
    /// An empty directory with room for a text of this many bytes.
    pub fn for_text(length: usize) -> Self {
        let mut chunk = CHUNK;
        Directory {
            levels: std::array::from_fn(|_| {
                let level = Vec::with_capacity(length / chunk + 1);
                chunk = chunk.saturating_mul(GROUP);
                level
            }),
        }
    }

    /// Adds the next chunk.
    pub fn push(&mut self, chunk: Excess) {
        self.levels[0].push(chunk);
        self.add_groups(false);
    }

    /// Adds the groups that are not full.
    pub fn finish(&mut self) {
        self.add_groups(true);
    }

    fn add_groups(&mut self, partial: bool) {
        let mut levels = self.levels.iter_mut();
        let Some(mut below) = levels.next() else {
            return;
        };
        for above in levels {
            let rest = below.get(above.len() * GROUP..).unwrap_or_default();
            if rest.is_empty() || (rest.len() < GROUP && !partial) {
                return;
            }
            above.push(Excess::sum(rest));
            below = above;
        }
    }

    /// Passes over chunks from the one at index `from` on, to the first one in which `depth` containers can be closed. Returns its
    /// index, and how many containers are open at its start.
    pub fn find(&self, from: usize, mut depth: i64) -> Option<(usize, i64)> {
        let (mut level, mut at) = (0, from);
        loop {
            let chunks = self.levels.get(level)?;
            let chunk = chunks.get(at)?;
            if depth + i64::from(chunk.least) <= 0 {
                if level == 0 {
                    return Some((at, depth));
                }
                (level, at) = (level - 1, at * GROUP);
                continue;
            }
            depth += i64::from(chunk.delta);
            at += 1;
            if at % GROUP == 0 && level + 1 < LEVELS {
                (level, at) = (level + 1, at / GROUP);
            }
        }
    }

    /// Returns the memory in bytes.
    pub fn bytes(&self) -> usize {
        let entries: usize = self.levels.iter().map(Vec::capacity).sum();
        entries * size_of::<Excess>()
    }
}
