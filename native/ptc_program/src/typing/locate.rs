//! Lines and columns of the places of findings in a program's text.

use super::job::PathStep;
use ptc_json::{Document, Node, Shape};

/// Returns the part at the end of a path from `root`.
pub fn node_at(source: &Document, root: Node, path: &[PathStep]) -> Option<Node> {
    path.iter().try_fold(root, |node, step| match step {
        PathStep::Key(key) => {
            let is_it = |pair: &(Node, Node)| source.text(pair.0) == Some(key);
            source.pairs(node).find(is_it).map(|(_, value)| value)
        }
        PathStep::Index(index) if source.shape(node) == Shape::List => {
            source.elements(node).nth(*index as usize)
        }
        PathStep::Index(_) => None,
    })
}

/// Returns line and column of these parts of a text that was read into a table, in one pass. The parts are in ascending
/// order. Both count from 1, columns in characters.
pub fn places(text: &[u8], nodes: &[Node]) -> Vec<(usize, usize)> {
    let (mut places, mut wanted) = (Vec::with_capacity(nodes.len()), nodes.iter().peekable());
    let (mut line, mut column, mut at, mut token) = (1, 1, 0, 0);
    while let Some(byte) = text.get(at) {
        let end = match byte {
            b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' | b']' | b'}' => None,
            b'[' | b'{' => Some(at + 1),
            b'"' => Some(end_of_string(text, at)),
            _ => {
                let is_end = |byte: &u8| b" \t\r\n,:]}[{\"".contains(byte);
                let length = text[at..].iter().position(is_end);
                Some(length.map_or(text.len(), |length| at + length))
            }
        };
        if let Some(end) = end {
            while wanted.next_if(|node| **node == token).is_some() {
                places.push((line, column));
            }
            if wanted.peek().is_none() {
                break;
            }
            token += 1;
            // A character is counted at its first byte; a text has no line breaks.
            column += text[at..end]
                .iter()
                .filter(|byte| **byte & 0xc0 != 0x80)
                .count();
            at = end;
            continue;
        }
        (line, column) = match byte {
            b'\n' => (line + 1, 1),
            _ => (line, column + 1),
        };
        at += 1;
    }
    places
}

fn end_of_string(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptc_json::JsonLimits;

    #[test]
    fn each_token_has_its_place() {
        let text = "{\n \"ä\\\"b\": [1, {\"c\":\tnull}],\r\n  \"d\": \"x\"}";
        let document = Document::parse(text.as_bytes(), JsonLimits::depth(10)).unwrap();
        let nodes: Vec<Node> = (0..document.end(0)).collect();
        let places = places(text.as_bytes(), &nodes);
        let wanted = [
            (1, 1),
            (2, 2),
            (2, 10),
            (2, 11),
            (2, 14),
            (2, 15),
            (2, 20),
            (3, 3),
            (3, 8),
        ];
        assert_eq!(places, wanted);
    }

    #[test]
    fn a_path_leads_to_a_part() {
        let text = br#"{"a":[1,{"b":2}]}"#;
        let document = Document::parse(text, JsonLimits::depth(10)).unwrap();
        let key = |name: &str| PathStep::Key(name.into());
        let at = |path: &[PathStep]| node_at(&document, 0, path);
        assert_eq!(at(&[key("a"), PathStep::Index(1), key("b")]), Some(6));
        assert_eq!(at(&[]), Some(0));
        assert_eq!(at(&[key("a"), key("b")]), None);
        assert_eq!(at(&[PathStep::Index(0)]), None);
    }
}
