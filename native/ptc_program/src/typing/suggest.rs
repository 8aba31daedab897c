//! "Did you mean": the known name that is most similar to an unknown one.

use crate::analysis::names::{NameId, Names};
use ptc_term::similar::closest;

/// Maximum length of a name that is compared.
const LONGEST: usize = 64;

/// Returns the most similar name, if one is close.
pub fn suggestion(names: &Names, unknown: NameId, known: &[NameId]) -> Option<NameId> {
    let text = |id: &NameId| {
        let bytes = names.get(*id);
        let short = (bytes.len() <= LONGEST).then_some(bytes);
        short.and_then(|bytes| std::str::from_utf8(bytes).ok())
    };
    let unknown = text(&unknown)?;
    let longest = known.iter().filter_map(text).map(str::len).max()?;
    let meant = closest(unknown.as_bytes(), known.iter().filter_map(text), longest)?;
    names.known(meant.as_bytes())
}
