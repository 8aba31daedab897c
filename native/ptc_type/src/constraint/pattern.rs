//! The compiled patterns of types. Types are read in each call, so patterns that are in use stay compiled.

use ptc_text::{Pattern, Source};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

/// Maximum number of patterns that are kept, and of words of each.
const MOST: usize = 64;
const LARGEST: usize = 32_768;
/// Fuel to look for a pattern.
const LOOK: usize = 10;

type Kept = HashMap<Box<str>, Arc<Pattern>>;

fn kept() -> &'static Mutex<Kept> {
    static KEPT: OnceLock<Mutex<Kept>> = OnceLock::new();
    KEPT.get_or_init(Mutex::default)
}

/// Returns the compiled pattern; `None` if the text is none. Does not wait for other threads. Calls `count` with the
/// cost of the next step.
pub(super) fn compiled<E>(
    text: &str,
    mut count: impl FnMut(usize) -> Result<(), E>,
) -> Result<Option<Arc<Pattern>>, E> {
    count(LOOK + text.len() / LOOK)?;
    let known = kept()
        .try_lock()
        .ok()
        .and_then(|kept| kept.get(text).cloned());
    if known.is_some() {
        return Ok(known);
    }
    count(Source::cost_to_read(text))?;
    let Ok(source) = Source::read(text) else {
        return Ok(None);
    };
    count(source.cost_to_compile())?;
    let Ok(pattern) = source.compile() else {
        return Ok(None);
    };
    let pattern = Arc::new(pattern);
    if pattern.words() <= LARGEST {
        if let Ok(mut kept) = kept().try_lock() {
            if kept.len() >= MOST {
                kept.clear();
            }
            kept.insert(text.into(), pattern.clone());
        }
    }
    Ok(Some(pattern))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn read(text: &str) -> Option<Arc<Pattern>> {
        compiled(text, |_| Ok::<(), Infallible>(())).unwrap()
    }

    #[test]
    fn a_pattern_is_compiled_once_and_few_are_kept() {
        assert_eq!(read("(a"), None);
        for number in 0..200 {
            let text = format!("^a{number}$");
            assert_eq!(read(&text), read(&text));
        }
        assert!(kept().lock().unwrap().len() <= MOST);
    }
}
