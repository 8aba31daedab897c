//! Test of `parse(render(t)) == t` for random types.

use super::render::{render_signature, KeyStyle};
use super::types::{Field, Fields, Scalar, Signature, Type, TypeId, Types};

/// xorshift64*: deterministic, and random enough to pick shapes.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % limit
    }
}

const NAMES: [&[u8]; 8] = [b"id", b"_x", b"a-b", b"_", b"int", b"string", b"A1", b"z-"];

fn fields(random: &mut Random, types: &mut Types, pool: &[TypeId], at_least: u64) -> Fields {
    let count = at_least + random.below(4);
    let field = |_| Field {
        name: NAMES[random.below(8) as usize],
        holds: pool[random.below(pool.len() as u64) as usize],
    };
    let fields: Vec<_> = (0..count).map(field).collect();
    types.add_fields(fields.into_iter())
}

/// Generates a signature with shared parts, so that a few steps make large texts.
fn signature(random: &mut Random) -> Signature {
    let mut types = Types::new();
    let mut pool: Vec<TypeId> = Scalar::WORDS
        .map(|scalar| types.add(Type::Scalar(scalar)))
        .to_vec();
    for _ in 0..random.below(9) {
        let pick = pool[random.below(pool.len() as u64) as usize];
        let made = match random.below(3) {
            0 => Type::List(pick),
            1 if matches!(types.get(pick), Type::Optional(_)) => continue,
            1 => Type::Optional(pick),
            _ => Type::Map {
                fields: fields(random, &mut types, &pool, 0),
                closed: false,
            },
        };
        pool.push(types.add(made));
    }
    let params = fields(random, &mut types, &pool, 1);
    let returns = pool[pool.len() - 1];
    Signature {
        types,
        params,
        returns,
    }
}

/// Compares two tables by walking both: a table may share what a text repeats.
fn same(a: &Signature, b: &Signature) -> bool {
    let mut pairs = vec![(a.returns, b.returns)];
    let both = |x: Fields, y: Fields, pairs: &mut Vec<_>| {
        let fields = || a.types.fields(x).zip(b.types.fields(y));
        pairs.extend(fields().map(|(x, y)| (x.holds, y.holds)));
        x.count == y.count && fields().all(|(x, y)| x.name == y.name)
    };
    if !both(a.params, b.params, &mut pairs) {
        return false;
    }
    while let Some((x, y)) = pairs.pop() {
        let alike = match (a.types.get(x), b.types.get(y)) {
            (Type::Scalar(x), Type::Scalar(y)) => x == y,
            (Type::Optional(x), Type::Optional(y)) | (Type::List(x), Type::List(y)) => {
                pairs.push((x, y));
                true
            }
            (Type::Map { fields: x, .. }, Type::Map { fields: y, .. }) => both(x, y, &mut pairs),
            _ => false,
        };
        if !alike {
            return false;
        }
    }
    true
}

#[test]
fn what_is_rendered_parses_to_what_it_was() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for round in 0..5_000 {
        let made = signature(&mut random);
        let Ok(text) = render_signature(&made, KeyStyle::Declared, 100_000) else {
            continue;
        };
        let parsed = super::parse(&text);
        let alike = parsed.as_ref().is_ok_and(|parsed| same(&made, parsed));
        assert!(alike, "{round}: {}", String::from_utf8_lossy(&text));
    }
}

#[test]
fn any_bytes_give_a_signature_or_a_place_in_the_text() {
    let parts: [&[u8]; 22] = [
        b":int",
        b":string",
        b":boolean",
        b":datetime",
        b"[",
        b"]",
        b"{",
        b"}",
        b"(",
        b")",
        b"->",
        b",",
        b"?",
        b":",
        b"a",
        b"a-b",
        b" ",
        b"\n",
        b";",
        b"\xff",
        b"id ",
        b":map",
    ];
    let mut random = Random(42);
    for _ in 0..50_000 {
        let count = 1 + random.below(12);
        let picked = (0..count).map(|_| parts[random.below(22) as usize]);
        let text: Vec<u8> = picked.flatten().copied().collect();
        match super::parse(&text) {
            Ok(signature) => {
                let style = KeyStyle::Declared;
                let mut rendered = render_signature(&signature, style, usize::MAX).unwrap();
                if signature.params.count == 0 {
                    rendered.drain(..3);
                }
                let again = super::parse(&rendered).unwrap();
                assert!(same(&signature, &again), "{text:?}");
            }
            Err(error) => assert!(error.column <= text.len() && error.deepest <= text.len()),
        }
    }
}
