//! What is kept of a program beside its instructions: the table of its source, which later questions about the program read
//! in the place of the source.

use crate::code::ConstId;
use crate::compile::Options;
use ptc_json::{Document, Entry, Node, Table};
use std::sync::OnceLock;

/// The names that a program uses.
#[derive(Debug, Default)]
pub struct Uses {
    /// The names that it reads of the context.
    pub context: Vec<Node>,
    /// The names that it reads of the memory.
    pub memory: Vec<Node>,
    /// The names of the tools that it calls.
    pub tools: Vec<Node>,
}

/// The table of a program that was compiled or checked, and what the compiler has found in it. It has no terms.
#[derive(Debug)]
pub struct KeptSource {
    pub(crate) table: Table,
    /// The root of the program.
    pub(crate) root: Node,
    /// The first of the entries for omitted parts.
    pub(crate) omitted: Node,
    pub(crate) uses: Uses,
    /// The calls of tools, in the order of the code.
    pub(crate) calls: Vec<Node>,
    /// The bytes of the text; `None` if the program is a term.
    pub(crate) text: Option<usize>,
    /// The entries that the table does not contain, in ascending order: the term of each is one of the program's constants.
    pub(crate) outside: Vec<(Node, ConstId)>,
    /// The options with which the program was compiled.
    pub(crate) options: Options,
    /// The digests of the text and of the program, once a plan was made.
    pub digests: OnceLock<Digests>,
}

/// The digest of a text, and that of the program in it, whose bytes `plan::canonical` makes.
#[derive(Debug)]
pub struct Digests {
    /// The digest of the text.
    pub text: Box<[u8]>,
    /// The digest of the program.
    pub program: Box<[u8]>,
}

impl KeptSource {
    /// Returns the program's table with its text, which is empty for a term.
    pub fn document<'t>(&'t self, text: &'t [u8]) -> Document<'t> {
        Document::new(text, &self.table)
    }

    /// Returns whether this can be the program's text. A program that is a term has none.
    pub fn is_text(&self, text: Option<&[u8]>) -> bool {
        self.text == text.map(<[u8]>::len)
    }

    /// Returns whether the program is a text.
    pub fn has_text(&self) -> bool {
        self.text.is_some()
    }

    /// Returns the values that the table does not contain, with their places among the constants, up to so many.
    pub fn constants_outside(&self, most: usize) -> impl Iterator<Item = (Node, ConstId)> + '_ {
        let is_value = |node| matches!(self.table.entries[node as usize], Entry::Term(_));
        let outside = self.outside.iter().copied();
        outside.filter(move |(node, _)| is_value(*node)).take(most)
    }

    /// Returns the entries that the table does not contain, with their places among the constants, up to so many.
    pub fn outside(&self, most: usize) -> &[(Node, ConstId)] {
        &self.outside[..self.outside.len().min(most)]
    }

    /// Returns the place among the constants of an entry that the table does not contain.
    pub(crate) fn constant_of(&self, node: Node) -> Option<usize> {
        let found = self.outside.binary_search_by_key(&node, |(node, _)| *node);
        found.ok().map(|at| self.outside[at].1 as usize)
    }

    /// Returns whether a plan makes the bytes for the digest of the program: of a text whose digest is not kept.
    pub(crate) fn needs_digest(&self) -> bool {
        self.has_text() && self.digests.get().is_none()
    }

    /// Returns the bytes that it takes.
    pub fn bytes(&self) -> usize {
        let nodes = [
            &self.uses.context,
            &self.uses.memory,
            &self.uses.tools,
            &self.calls,
        ];
        let nodes: usize = nodes.iter().map(|nodes| nodes.capacity()).sum();
        let digests = self.digests.get();
        size_of::<KeptSource>()
            + self.table.entries.capacity() * size_of::<Entry>()
            + self.table.unescaped.capacity()
            + nodes * size_of::<Node>()
            + self.outside.capacity() * size_of::<(Node, ConstId)>()
            + digests.map_or(0, |it| it.text.len() + it.program.len())
    }
}
