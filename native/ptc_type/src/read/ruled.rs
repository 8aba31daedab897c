//! Types that the text of a signature does not have, from terms: rules, unions, names, structs, maps of a type. They are rare,
//! so they are read apart.

use super::*;

impl<'h, H: Values> Reader<'h, H> {
    /// Reads a type that is no word of the grammar, no list, no map and not optional.
    #[cold]
    #[inline(never)]
    pub(super) fn other(&mut self, term: H::Term, parts: Option<&[H::Term]>) -> ReadStep<H::Term> {
        let (heap, type_atoms) = (self.heap, self.type_atoms);
        match parts {
            Some([tag, inner, rules]) if self.is_word(*tag, b"where") => {
                self.open.push(OpenType::Where(term, *rules));
                ReadStep::Read(*inner)
            }
            Some([tag, holds]) if self.is_word(*tag, b"map_of") => {
                self.open.push(OpenType::MapOf(term));
                ReadStep::Read(*holds)
            }
            Some([tag, module, of]) if self.is_word(*tag, b"struct") => match heap.tuple(*of) {
                Some([map, fields])
                    if heap.same(*map, type_atoms.map()) && heap.is_name(*module) =>
                {
                    self.open.push(OpenType::Struct(*module));
                    self.fields(self.map(term, self.reading.closed), *fields)
                }
                _ => self.unknown(term),
            },
            Some([tag, types, field]) if self.is_word(*tag, b"one_of") => {
                let discriminator = match heap.is_nil(*field) {
                    true => None,
                    false => match heap.bytes(*field) {
                        Some(name) => Some(name.into()),
                        None => return self.unknown(term),
                    },
                };
                let open = OneOf {
                    term,
                    list: *types,
                    start: self.inner().members.len(),
                    discriminator,
                };
                self.one_of(open, *types)
            }
            Some([tag, names, around]) if self.is_word(*tag, b"defs") => {
                ReadStep::Defs(term, *names, *around)
            }
            Some([tag, name]) if self.is_word(*tag, b"ref") => {
                let known = heap
                    .bytes(*name)
                    .and_then(|name| self.inner().defined.get(name).copied());
                match known {
                    Some(name) => ReadStep::Complete(self.read.types.add(Type::Ref(name))),
                    None => self.unknown(term),
                }
            }
            _ if self.is_word(term, b"date") => self.scalar(Scalar::Date),
            _ if self.is_word(term, b"decimal") => self.scalar(Scalar::Decimal),
            _ if self.is_word(term, b"number") => self.scalar(Scalar::Number),
            _ => self.unknown(term),
        }
    }

    /// Passes a type to such a type that contains it.
    #[cold]
    #[inline(never)]
    pub(super) fn hand_over_other(
        &mut self,
        open: OpenType<H::Term>,
        id: TypeId,
    ) -> ReadStep<H::Term> {
        match open {
            OpenType::Where(term, rules) => ReadStep::Rules(term, id, rules),
            OpenType::Struct(module) => {
                if matches!(self.read.types.get(id), Type::Map { .. }) {
                    self.read.types.add_struct(id);
                    self.read.rules.push(module);
                }
                ReadStep::Complete(id)
            }
            OpenType::OneOf(rest) => {
                self.inner().members.push(id);
                match self.inner().unions.pop() {
                    Some(open) => self.one_of(open, rest),
                    None => ReadStep::Complete(id),
                }
            }
            OpenType::Defs => match self.inner().defs.pop() {
                Some(mut defs) if defs.next < defs.names.end => {
                    self.read.types.define(defs.next, id);
                    defs.next += 1;
                    self.next_def(defs)
                }
                Some(defs) => {
                    self.inner().leave(defs.names.len());
                    self.known.clear();
                    ReadStep::Complete(self.read.types.add_defs(id, defs.names))
                }
                None => ReadStep::Complete(id),
            },
            OpenType::MapOf(term) => {
                let id = self.read.types.add_map_of(id);
                if id.index() >= FEW {
                    self.known.insert(self.heap.identity(term), id);
                }
                ReadStep::Complete(id)
            }
            OpenType::Optional(_) | OpenType::List(_) | OpenType::Map(..) => ReadStep::Complete(id),
        }
    }

    fn inner(&mut self) -> &mut Inner<'h, H::Term> {
        self.inner.get_or_insert_with(|| {
            Box::new(Inner {
                unions: Vec::new(),
                defs: Vec::new(),
                members: Vec::new(),
                scopes: Vec::new(),
                defined: HashMap::new(),
            })
        })
    }

    /// Reads the next type of a union.
    fn one_of(&mut self, open: OneOf<H::Term>, rest: H::Term) -> ReadStep<H::Term> {
        if let Some((first, rest)) = self.heap.uncons(rest) {
            self.inner().unions.push(open);
            self.open.push(OpenType::OneOf(rest));
            return ReadStep::Read(first);
        }
        let members = self.inner().members.split_off(open.start);
        if !self.heap.is_empty_list(rest) {
            return self.unknown(open.term);
        }
        self.read.rules.push(open.list);
        ReadStep::Complete(self.read.types.add_union(members, open.discriminator))
    }

    /// Begins the definition of names.
    #[cold]
    pub(super) fn defs(
        &mut self,
        term: H::Term,
        names: H::Term,
        around: H::Term,
        meter: &mut Meter,
    ) -> Result<ReadStep<H::Term>, WalkEnd> {
        let heap = self.heap;
        if heap.class(names) != Class::Map {
            return Ok(self.unknown(term));
        }
        let size = heap.map_size(names).unwrap_or(0);
        meter.consume_fuel(FUEL_A_NAME * size, heap)?;
        let (mut rest, mut all) = (Vec::new(), Vec::new());
        for (name, of) in heap.entries(names) {
            let Some(bytes) = heap.bytes(name) else {
                return Ok(self.unknown(term));
            };
            all.push((name, bytes));
            rest.push(of);
        }
        let first = self.read.types.add_names(all.len() as u32);
        for (number, (name, bytes)) in (first..).zip(all) {
            self.read.rules.push(name);
            self.inner().enter(bytes, number);
        }
        rest.reverse();
        let names = first..first + rest.len() as u32;
        let next = first;
        // A term that was read before may mean another type where names are defined.
        self.known.clear();
        Ok(self.next_def(Defs {
            rest,
            names,
            next,
            around,
        }))
    }

    /// Reads the type of the next name, or the type around which the names are defined.
    fn next_def(&mut self, mut defs: Defs<H::Term>) -> ReadStep<H::Term> {
        let next = defs.rest.pop().unwrap_or(defs.around);
        self.inner().defs.push(defs);
        self.open.push(OpenType::Defs);
        ReadStep::Read(next)
    }

    #[cold]
    fn is_word(&self, tag: H::Term, word: &[u8]) -> bool {
        self.heap.is_name(tag) && self.heap.with_name(tag, |name| name == word)
    }

    /// Completes a type with rules. The rules of an optional type are those of the type in it.
    #[cold]
    pub(super) fn rules(
        &mut self,
        term: H::Term,
        id: TypeId,
        rules: H::Term,
        meter: &mut Meter,
    ) -> Result<ReadStep<H::Term>, WalkEnd> {
        let (of, is_optional) = match self.read.types.get(id) {
            Type::Optional(inner) => (inner, true),
            _ => (id, false),
        };
        let read = Constraints::read(self.heap, rules, meter)?;
        let (Some(read), false) = (read, matches!(self.read.types.get(of), Type::Where(..))) else {
            return Ok(self.unknown(term));
        };
        let decimals = self.read.types.get(of) == Type::Scalar(Scalar::Decimal);
        self.read.rules.push(rules);
        let keywords = self.read.types.get(of) == Type::Scalar(Scalar::Keyword);
        let read = Constraints {
            decimals,
            keywords,
            ..read
        };
        let id = self.read.types.add_where(of, read);
        let of = Type::Optional(id);
        if is_optional {
            return Ok(ReadStep::Complete(self.add(term, of)));
        }
        if id.index() >= FEW {
            self.known.insert(self.heap.identity(term), id);
        }
        Ok(ReadStep::Complete(id))
    }
}
