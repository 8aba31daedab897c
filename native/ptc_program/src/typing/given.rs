//! What a check is given: the types that the program needs of it are read before the walk.

use super::known::{KnownScope, Tool};
use super::read::{Target, TypeReader};
use super::terms::TypeTerms;
use super::ty::TyId;
use super::type_words::{name_of, LONGEST_NAME};
use super::walk::TypeWalk;
use crate::analysis::names::NameId;
use crate::compile::INPUT_NAME;
use crate::source::Uses;
use ptc_json::{Document, Node};
use ptc_term::heap::{Heap, Kind, Lookup};
use ptc_term::meter::Meter;
use ptc_term::rooted;
use ptc_term::stop::Stop;

/// What a check is given, as terms; nil where nothing is known.
#[derive(Debug, Clone, Copy)]
pub struct GivenTypes<T> {
    /// A map of the context's names to types.
    pub types: T,
    /// A map of the memory's names to types.
    pub memory: T,
    /// A map of the tools' names to signatures, or nil.
    pub tools: T,
    /// The type of the result.
    pub returns: T,
}

rooted!(GivenTypes { terms: types, memory, tools, returns; });

/// A type that is read before the walk.
#[derive(Debug, Clone, Copy)]
enum Want {
    Context(Node),
    Memory(Node),
    /// A tool's parameters.
    Params(Node),
    /// A tool's answer, whose parameters have been read.
    Output(Node, TyId),
    Input,
    Returns,
}

/// The types that the program needs, while they are read.
#[derive(Debug)]
pub(super) struct FieldsGiven<T> {
    given: GivenTypes<T>,
    reader: TypeReader<T>,
    /// The types that are read next, the last one first.
    wants: Vec<Want>,
}

rooted!(FieldsGiven { states: given, reader; plain: wants });

/// Maximum number of names that are looked at for a suggestion.
const MOST_NAMES: usize = 500;
/// Fuel for a type without its parts, and for a name that is noted; and the bytes of a name that cost one unit.
const FUEL_PER_TYPE: usize = 10;
const FUEL_PER_NAME: usize = 8;
const BYTES_A_UNIT: usize = 16;

impl<T: Copy> FieldsGiven<T> {
    pub fn new(given: GivenTypes<T>) -> Self {
        FieldsGiven {
            given,
            reader: TypeReader::default(),
            wants: Vec::new(),
        }
    }

    /// Begins with the names that a program uses.
    pub fn begin<H: Heap<Term = T>>(&mut self, uses: &Uses, walk: &mut TypeWalk, heap: &H) {
        let is_given = |term| heap.kind(term) != Kind::Nil;
        let wants = &mut self.wants;
        if is_given(self.given.returns) {
            wants.push(Want::Returns);
        }
        let add = |wants: &mut Vec<Want>, nodes: &[Node], want: fn(Node) -> Want| {
            wants.extend(nodes.iter().rev().map(|node| want(*node)));
        };
        if is_given(self.given.tools) {
            walk.known.tools = Some(KnownScope::default());
            add(wants, &uses.tools, Want::Params);
        }
        if is_given(self.given.memory) {
            walk.known.memory = Some(KnownScope::default());
            add(wants, &uses.memory, Want::Memory);
            wants.push(Want::Input);
        }
        if is_given(self.given.types) {
            walk.known.context = Some(KnownScope::default());
            add(wants, &uses.context, Want::Context);
        }
    }

    /// Reads the types.
    pub fn read<H: Heap<Term = T>>(
        &mut self,
        into: &mut GivenTo<T>,
        document: &Document,
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<(), Stop> {
        while let Some(want) = self.wants.last().copied() {
            let name = match want {
                Want::Context(node)
                | Want::Memory(node)
                | Want::Params(node)
                | Want::Output(node, _) => document.text(node).unwrap_or_default(),
                Want::Input | Want::Returns => INPUT_NAME.as_bytes(),
            };
            let name_id = into.walk.types.names.id(name);
            let (mut next, mut cost) = (None, FUEL_PER_TYPE + name.len() / BYTES_A_UNIT);
            if name.len() > LONGEST_NAME {
                nothing_known(into.walk, want, name_id);
            } else if !is_known(into.walk, want, name_id) {
                match self.find(want, name, heap) {
                    Some(term) => next = self.read_one(want, term, name_id, into, heap, meter)?,
                    None => cost += missing(into.walk, want, self.map(want), heap),
                }
            }
            self.wants.pop();
            self.wants.extend(next);
            meter.consume_fuel(cost, heap)?;
        }
        Ok(())
    }

    /// Returns the map that a type is in; for that of the result the type itself.
    fn map(&self, want: Want) -> T {
        match want {
            Want::Context(_) => self.given.types,
            Want::Memory(_) | Want::Input => self.given.memory,
            Want::Params(_) | Want::Output(..) => self.given.tools,
            Want::Returns => self.given.returns,
        }
    }

    fn find<H: Heap<Term = T>>(&self, want: Want, name: &[u8], heap: &mut H) -> Option<T> {
        let map = self.map(want);
        if let Want::Returns = want {
            return Some(map);
        }
        let key = heap.make_string(name);
        match heap.lookup(map, key, &mut H::KeyCache::default()) {
            Lookup::Found(term) => Some(term),
            _ => None,
        }
    }

    /// Reads a type and notes it; returns what is read after it.
    fn read_one<H: Heap<Term = T>>(
        &mut self,
        want: Want,
        term: T,
        name: NameId,
        into: &mut GivenTo<T>,
        heap: &H,
        meter: &mut Meter,
    ) -> Result<Option<Want>, Stop> {
        let is_context = matches!(want, Want::Context(_));
        let walk = &mut *into.walk;
        let from = if is_context { walk.source_of(name) } else { 0 };
        let mut target = Target {
            types: &mut walk.types,
            sources: is_context.then_some(&mut walk.sources),
            terms: into.terms,
            values: into.values,
        };
        let reader = &mut self.reader;
        let ty = match (want, heap.elements(term)) {
            // A list of fields, or the type of an object.
            (Want::Params(_), Some(&[_, params, _] | &[_, params, _, _])) => {
                match heap.elements(params) {
                    Some(_) => reader.read(params, 0, &mut target, heap, meter)?,
                    None => reader.read_fields(params, &mut target, heap, meter)?,
                }
            }
            (Want::Params(_), _) => {
                nothing_known(walk, want, name);
                return Ok(None);
            }
            (Want::Output(..), elements) => {
                let output = elements.and_then(|all| all.get(2).copied());
                reader.read(output.unwrap_or(heap.nil()), 0, &mut target, heap, meter)?
            }
            _ => reader.read(term, from, &mut target, heap, meter)?,
        };
        match want {
            Want::Params(node) => return Ok(Some(Want::Output(node, ty))),
            Want::Output(_, params) => {
                let tool = Tool {
                    params: Some(params),
                    output: ty,
                    ruled: heap.elements(term).is_some_and(|all| all.len() == 4),
                };
                walk.know_tool(name, tool);
            }
            Want::Context(_) => know(&mut walk.known.context, name, ty),
            Want::Memory(_) => know(&mut walk.known.memory, name, ty),
            Want::Input => walk.known.input = ty,
            Want::Returns => walk.known.returns = Some(ty),
        }
        Ok(None)
    }
}

/// Where what is given is noted.
pub(super) struct GivenTo<'g, T> {
    pub walk: &'g mut TypeWalk,
    pub terms: &'g mut TypeTerms<T>,
    /// Whether structs count as values.
    pub values: bool,
}

fn is_known(walk: &TypeWalk, want: Want, name: NameId) -> bool {
    let known = &walk.known;
    let in_scope = |scope: &Option<KnownScope<TyId>>| {
        scope.as_ref().is_some_and(|it| it.used.contains_key(&name))
    };
    match want {
        Want::Context(_) => in_scope(&known.context),
        Want::Memory(_) => in_scope(&known.memory),
        Want::Params(_) | Want::Output(..) => known
            .tools
            .as_ref()
            .is_some_and(|it| it.used.contains_key(&name)),
        Want::Input | Want::Returns => false,
    }
}

/// Notes a name that has a value of which nothing is known.
fn nothing_known(walk: &mut TypeWalk, want: Want, name: NameId) {
    let (params, output) = (None, TyId::UNKNOWN);
    match want {
        Want::Context(_) => know(&mut walk.known.context, name, TyId::UNKNOWN),
        Want::Memory(_) => know(&mut walk.known.memory, name, TyId::UNKNOWN),
        Want::Params(_) | Want::Output(..) => {
            let ruled = false;
            walk.know_tool(
                name,
                Tool {
                    params,
                    output,
                    ruled,
                },
            );
        }
        Want::Input | Want::Returns => {}
    }
}

fn know(scope: &mut Option<KnownScope<TyId>>, name: NameId, ty: TyId) {
    if let Some(scope) = scope {
        scope.used.insert(name, ty);
    }
}

/// Notes all names, for the finding about one that is not there; returns the fuel.
fn missing<H: Heap>(walk: &mut TypeWalk, want: Want, map: H::Term, heap: &H) -> usize {
    let known = &walk.known;
    let is_noted = match want {
        Want::Context(_) => known.context.as_ref().is_some_and(|it| !it.all.is_empty()),
        Want::Memory(_) => known.memory.as_ref().is_some_and(|it| !it.all.is_empty()),
        Want::Input => true,
        _ => known.tools.as_ref().is_some_and(|it| !it.all.is_empty()),
    };
    if is_noted || heap.map_size(map).is_none_or(|size| size > MOST_NAMES) {
        return 0;
    }
    let (mut all, entries) = (Vec::new(), heap.entries(map));
    for (key, _) in &entries {
        all.extend(name_of(*key, &mut walk.types, heap));
    }
    let known = &mut walk.known;
    let place = match want {
        Want::Context(_) => known.context.as_mut().map(|it| &mut it.all),
        Want::Memory(_) => known.memory.as_mut().map(|it| &mut it.all),
        _ => known.tools.as_mut().map(|it| &mut it.all),
    };
    if let Some(place) = place {
        *place = all;
    }
    FUEL_PER_NAME * entries.len()
}

impl TypeWalk {
    /// Returns where a value of the context comes from.
    fn source_of(&mut self, name: NameId) -> u32 {
        let at = name.0 as usize;
        if self.roots.len() <= at {
            self.roots.resize(at + 1, 0);
        }
        if self.roots[at] == 0 {
            self.roots[at] = self.sources.add(0, name);
        }
        self.roots[at]
    }

    /// Notes that the values that are loaded are read.
    pub(super) fn read_loaded(&mut self) {
        for name in std::mem::take(&mut self.loaded) {
            let from = self.source_of(name);
            self.sources.read(from);
        }
    }

    fn know_tool(&mut self, name: NameId, tool: Tool) {
        if let Some(tools) = &mut self.known.tools {
            tools.used.insert(name, tool);
        }
    }
}
