//! Texts in one buffer, to be sorted.

/// Some texts.
#[derive(Debug, Default)]
pub(super) struct Texts {
    bytes: Vec<u8>,
    places: Vec<TextPlace>,
}

#[derive(Debug, Clone, Copy)]
struct TextPlace {
    /// The first eight bytes: most texts differ in them.
    prefix: u64,
    start: u32,
    end: u32,
}

impl Texts {
    /// Adds the text that `write` adds to the buffer, if it says that there is one.
    pub fn add(&mut self, write: impl FnOnce(&mut Vec<u8>) -> bool) {
        let start = self.bytes.len();
        if !write(&mut self.bytes) {
            return;
        }
        let text = &self.bytes[start..];
        let mut prefix = [0; 8];
        let length = text.len().min(8);
        prefix[..length].copy_from_slice(&text[..length]);
        self.places.push(TextPlace {
            prefix: u64::from_be_bytes(prefix),
            start: start as u32,
            end: self.bytes.len() as u32,
        });
    }

    /// Returns the number of texts.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// Puts the texts in order, without repetitions, and keeps the first ones.
    pub fn sort(&mut self, most: usize) {
        let bytes = &self.bytes;
        let text = |place: &TextPlace| &bytes[place.start as usize..place.end as usize];
        let order = |a: &TextPlace, b: &TextPlace| {
            let by_prefix = a.prefix.cmp(&b.prefix);
            by_prefix.then_with(|| text(a).cmp(text(b)))
        };
        self.places.sort_unstable_by(order);
        self.places.dedup_by(|a, b| text(a) == text(b));
        self.places.truncate(most);
    }

    /// Returns the texts.
    pub fn all(&self) -> impl Iterator<Item = &[u8]> {
        let text = |place: &TextPlace| &self.bytes[place.start as usize..place.end as usize];
        self.places.iter().map(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_sorted_by_their_bytes() {
        let mut all: Vec<String> = (0..500)
            .map(|n| format!("row.field{}", n * 7 % 250))
            .collect();
        all.extend(["", "a", "a\0", "a\0\0\0\0\0\0\0\0", "row", "ä"].map(String::from));
        let mut texts = Texts::default();
        for text in &all {
            texts.add(|bytes| {
                bytes.extend_from_slice(text.as_bytes());
                true
            });
        }
        texts.add(|_| false);
        assert_eq!(texts.count(), all.len());
        texts.sort(usize::MAX);
        all.sort();
        all.dedup();
        let found: Vec<&[u8]> = texts.all().collect();
        assert_eq!(
            found,
            all.iter().map(|it| it.as_bytes()).collect::<Vec<_>>()
        );
        texts.sort(3);
        assert_eq!(texts.count(), 3);
    }
}
