//! The places of findings: from the program's root to a part.

use ptc_json::{Document, Entry, Node};

/// One step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartStep {
    /// The value at this key.
    Key(Node),
    /// The element at this index.
    Index(u32),
}

/// An object or a list around the place that is looked at.
struct OpenPath {
    end: Node,
    /// The steps before the one of this container's part.
    depth: usize,
    is_object: bool,
    next: u32,
}

/// Returns the path of each of these parts, which are in ascending order, from `root` down, in one pass.
pub fn paths(source: &Document, root: Node, nodes: &[Node]) -> Vec<Vec<PartStep>> {
    let mut paths = Vec::with_capacity(nodes.len());
    let (mut path, mut open): (Vec<PartStep>, Vec<OpenPath>) = (Vec::new(), Vec::new());
    let mut at = root;
    for node in nodes {
        if *node < root || *node >= source.end(root) {
            paths.push(Vec::new());
            continue;
        }
        // Each part before the next place is passed over, as far as it is not around it.
        while at < *node || (at == root && open.is_empty()) {
            if at == *node {
                break;
            }
            let around = source.end(at) > *node;
            match source.entry(at) {
                Entry::Object(end, _) if around => {
                    open.push(OpenPath {
                        end,
                        depth: path.len(),
                        is_object: true,
                        next: 0,
                    });
                    path.push(PartStep::Key(at + 1));
                    // The key itself may be the place.
                    at += if at + 1 == *node { 1 } else { 2 };
                }
                Entry::List(end, _) if around => {
                    open.push(OpenPath {
                        end,
                        depth: path.len(),
                        is_object: false,
                        next: 0,
                    });
                    path.push(PartStep::Index(0));
                    at += 1;
                }
                _ => at = after(source, at, &mut path, &mut open, *node),
            }
        }
        paths.push(path.clone());
    }
    paths
}

/// Goes on to the part after one that is passed over.
fn after(
    source: &Document,
    at: Node,
    path: &mut Vec<PartStep>,
    open: &mut Vec<OpenPath>,
    target: Node,
) -> Node {
    let mut next = source.end(at);
    while open.last().is_some_and(|last| last.end <= next) {
        if let Some(last) = open.pop() {
            path.truncate(last.depth);
            next = next.max(last.end);
        }
    }
    if let Some(last) = open.last_mut() {
        path.truncate(last.depth);
        last.next += 1;
        match last.is_object {
            true => {
                path.push(PartStep::Key(next));
                next += u32::from(next != target);
            }
            false => path.push(PartStep::Index(last.next)),
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptc_json::JsonLimits;

    fn shown(document: &Document, path: &[PartStep]) -> String {
        let step = |step: &PartStep| match step {
            PartStep::Key(key) => {
                String::from_utf8_lossy(document.text(*key).unwrap()).into_owned()
            }
            PartStep::Index(index) => index.to_string(),
        };
        path.iter().map(step).collect::<Vec<_>>().join("/")
    }

    #[test]
    fn each_part_has_its_path() {
        let text = br#"{"a":[1,{"b":2,"c":[[],{}]}],"d":{"e":3}}"#;
        let document = Document::parse(text, JsonLimits::depth(10)).unwrap();
        let mut values = Vec::new();
        for node in 0..document.end(0) {
            if document.text(node).is_none() {
                values.push(node);
            }
        }
        let found = paths(&document, 0, &values);
        let found: Vec<_> = found.iter().map(|path| shown(&document, path)).collect();
        let wanted = [
            "", "a", "a/0", "a/1", "a/1/b", "a/1/c", "a/1/c/0", "a/1/c/1", "d", "d/e",
        ];
        assert_eq!(found, wanted);
        for (node, wanted) in values.iter().zip(wanted) {
            assert_eq!(shown(&document, &paths(&document, 0, &[*node])[0]), wanted);
        }
    }
}
