//! What a rule finds: wrong kinds of values, fields and names that are not there.

use super::finding::{Detail, FindingCode, Severity, Subject};
use super::rule::Rule;
use super::suggest::suggestion;
use super::ty::{Kinds, Ty, TyId};
use crate::analysis::names::NameId;
use ptc_json::{Node, Shape};

/// Maximum number of names that a suggestion is looked for among, and that a finding shows.
const MOST_NAMES: usize = 200;
const MOST_SHOWN: usize = 20;
/// Maximum number of findings with a suggestion.
const MOST_SUGGESTIONS: u32 = 50;

impl Rule<'_> {
    /// Notes an error.
    pub(crate) fn error(&mut self, code: FindingCode, node: Node, details: Vec<Detail>) {
        let op = self.op();
        self.walk.report(Severity::Error, code, node, op, details);
    }

    /// Notes a warning.
    pub(crate) fn warn(&mut self, code: FindingCode, node: Node, details: Vec<Detail>) {
        let op = self.op();
        self.walk.report(Severity::Warning, code, node, op, details);
    }

    /// Returns the current value, which the operation needs.
    pub(crate) fn input(&mut self) -> TyId {
        if self.current == TyId::NO_INPUT {
            let node = self.node;
            self.error(FindingCode::NoInput, node, vec![]);
            self.current = TyId::UNKNOWN;
        }
        self.current
    }

    /// Returns the type as far as it has these kinds. If it has none of them, the operation fails: an error.
    pub(crate) fn need(&mut self, ty: TyId, kinds: Kinds, subject: Subject, node: Node) -> TyId {
        let got = self.walk.types.kinds(ty);
        if got.within(kinds) || ty == TyId::UNKNOWN {
            return ty;
        }
        // A date or a time is its text where a text is taken.
        let is_text = self.walk.values && kinds.meets(Kinds::TEXT);
        if is_text && self.walk.types.kinds_beside_moments(ty).within(kinds) {
            return ty;
        }
        let details = vec![
            Detail::Subject(subject),
            Detail::Kinds(kinds),
            Detail::KindsOf(ty),
        ];
        match got.meets(kinds) {
            true => self.warn(FindingCode::MaybeWrongKind, node, details),
            false => self.error(FindingCode::WrongKind, node, details),
        }
        match got.meets(kinds) {
            true => self.types().only(ty, kinds),
            false => TyId::UNKNOWN,
        }
    }

    /// Returns the type of the items of the current value, which must be a list.
    pub(crate) fn items(&mut self) -> TyId {
        let input = self.input();
        let node = self.node;
        let list = self.need(input, Kinds::LIST, Subject::Input, node);
        self.types().item(list)
    }

    /// Returns what is read at a key. A field that no object can have is an error, or a warning if `absence` is provided for.
    pub(crate) fn read(&mut self, of: TyId, name: NameId, node: Node, absence: bool) -> TyId {
        if of == TyId::NEVER {
            return TyId::NEVER;
        }
        let read = self.types().at(of, name);
        self.walk.sources.read(read.from);
        if read.missing && !read.found {
            let absence = absence || self.walk.absences > 0;
            self.unknown_field(of, name, node, absence);
        }
        match read.found || read.missing {
            true => read.ty,
            false => TyId::NULL,
        }
    }

    #[cold]
    fn unknown_field(&mut self, of: TyId, name: NameId, node: Node, absence: bool) {
        if self.walk.is_dead() {
            return;
        }
        let mut names = Vec::new();
        for member in self.walk.types.members(&of) {
            if let Ty::Object(span, _) = self.walk.types.get(*member) {
                let fields = self.walk.types.fields(span);
                names.extend(fields.iter().take(MOST_NAMES).map(|field| field.name));
            }
        }
        let details = self.named(name, names);
        match absence {
            true => self.warn(FindingCode::UnknownField, node, details),
            false => self.error(FindingCode::UnknownField, node, details),
        }
    }

    /// Returns the details of a finding about an unknown name: the name, the one that was meant, and the known ones.
    pub(crate) fn named(&mut self, name: NameId, mut names: Vec<NameId>) -> Vec<Detail> {
        names.truncate(MOST_NAMES);
        let known = &self.walk.types.names;
        names.sort_by(|a, b| known.get(*a).cmp(known.get(*b)));
        names.dedup();
        self.walk.suggestions += 1;
        let meant = match self.walk.suggestions {
            ..=MOST_SUGGESTIONS => suggestion(known, name, &names),
            _ => None,
        };
        names.truncate(MOST_SHOWN);
        vec![
            Detail::Name(name),
            meant.map_or(Detail::None, Detail::Name),
            Detail::Names(names),
        ]
    }

    /// Notes that all fields inside a type are read.
    pub(crate) fn read_all(&mut self, ty: TyId) {
        self.walk.types.read_all(ty, &mut self.walk.sources);
    }

    /// Returns whether a field holds nothing to evaluate: `null`.
    pub(crate) fn is_null(&self, node: Node) -> bool {
        self.source.shape(node) == Shape::Null
    }
}
