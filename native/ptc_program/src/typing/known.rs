//! What a check knows besides the program: the types of the data, of the memory, of the tools and of the result.

use super::ty::TyId;
use crate::analysis::names::{ByNumber, NameId};
use ptc_json::Node;
use std::collections::HashMap;

/// What is known.
#[derive(Debug)]
pub struct Known {
    /// The types of the context's values; `None` if nothing is known of them.
    pub context: Option<KnownScope<TyId>>,
    /// The types of the memory's values; `None` if nothing is known of them.
    pub memory: Option<KnownScope<TyId>>,
    /// The tools.
    pub tools: Option<KnownScope<Tool>>,
    /// The type that the result must have.
    pub returns: Option<TyId>,
    /// The current value at the program's root.
    pub input: TyId,
    /// The types of parts that the program's table does not contain.
    pub outside: HashMap<Node, TyId, ByNumber>,
}

impl Default for Known {
    fn default() -> Self {
        Known {
            context: None,
            memory: None,
            tools: None,
            returns: None,
            input: TyId::NO_INPUT,
            outside: HashMap::default(),
        }
    }
}

/// Names with what they stand for.
#[derive(Debug)]
pub struct KnownScope<V> {
    /// The names that the program uses.
    pub used: HashMap<NameId, V, ByNumber>,
    /// All names, if the program uses one that is not there.
    pub all: Vec<NameId>,
}

impl<V> Default for KnownScope<V> {
    fn default() -> Self {
        KnownScope {
            used: HashMap::default(),
            all: Vec::new(),
        }
    }
}

/// A tool.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// The object of its arguments, if it has a signature.
    pub params: Option<TyId>,
    /// The type of its answer.
    pub output: TyId,
    /// Whether its arguments have rules that types cannot say: then its calls are noted.
    pub ruled: bool,
}
