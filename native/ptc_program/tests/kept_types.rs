//! The types that a thread keeps: a check finds the same with them as without.

mod common;

use common::types::{check, Outcome, World};
use common::STRICT;

const PROGRAM: &str = r#"{"op":"object","fields":{
  "rows":{"op":"pipe","steps":[{"op":"load","name":"rows"},{"op":"filter","where":{"op":"gt","field":"amount","value":1}},
    {"op":"set","fields":{"city":{"op":"get","path":["to","city"]}}},{"op":"map","expr":{"op":"get","field":"note"}}]},
  "all":{"op":"load","name":"rows"},
  "open":{"op":"pipe","steps":[{"op":"load","name":"rows"},{"op":"count"}]},
  "n":{"op":"add","left":{"op":"load","name":"n"},"right":{"op":"var","name":"kept"}},
  "sent":{"op":"call","tool":"send","args":{"id":{"op":"load","name":"n"}}}}}"#;

const WORLD: World = World {
    types: r#"{"rows":[{"amount":"number","id":"int","note":{"?":"string"},"status":{"|":[{"=":"open"},{"=":3},"bool"]},"to":{"city":"string"}}],"n":"int"}"#,
    memory: r#"{"kept":"int"}"#,
    tools: r#"{"send":[{"id":"int","to":{"?":"string"}},{"ok":"bool"}]}"#,
    returns: r#"{"n":"string","open":"int"}"#,
};

/// A check on a thread of its own, which has kept nothing.
fn alone(program: &str, world: World, units: Option<usize>) -> Outcome {
    std::thread::scope(|scope| {
        let checked = scope.spawn(|| check(program, world, STRICT, units));
        checked.join().expect("it ends").expect("it is a program")
    })
}

/// Checks of this thread, of which the last ones have kept types.
fn here(program: &str, world: World, units: Option<usize>) -> Outcome {
    for _ in 0..3 {
        check(program, world, STRICT, units);
    }
    check(program, world, STRICT, units).expect("it is a program")
}

#[test]
fn equal_types_are_read_once() {
    let all = alone(PROGRAM, WORLD, None);
    assert!(!all.findings.is_empty() && !all.reads.is_empty());
    assert_eq!(here(PROGRAM, WORLD, None), all);
    assert_eq!(here(PROGRAM, WORLD, Some(20)), all);
}

#[test]
fn other_types_are_read_again() {
    let changes = [
        ("amount", "amounts"),
        (r#""number""#, r#""string""#),
        (r#"{"?":"string"}"#, r#""string""#),
        ("open\"},", "paid\"},"),
        (r#"{"=":3}"#, r#"{"=":4}"#),
        (r#"{"=":3}"#, r#"{"=":1.5}"#),
        (r#",{"=":3}"#, ""),
        (r#","to":{"city":"string"}"#, ""),
        (r#"{"city":"string"}"#, r#"["string"]"#),
        (r#","n":"int""#, ""),
        ("\"n\"", "\"m\""),
        ("int", "float"),
        ("kept", "other"),
        ("send", "sent"),
        ("\"ok\"", "\"no\""),
    ];
    for (from, to) in changes {
        let [types, memory, tools, returns] =
            [WORLD.types, WORLD.memory, WORLD.tools, WORLD.returns].map(|it| it.replace(from, to));
        let parts = [
            World {
                types: &types,
                ..WORLD
            },
            World {
                memory: &memory,
                ..WORLD
            },
            World {
                tools: &tools,
                ..WORLD
            },
            World {
                returns: &returns,
                ..WORLD
            },
        ];
        for world in parts {
            let program = PROGRAM.replace(r#""op":"count""#, r#""op":"first""#);
            here(PROGRAM, WORLD, None);
            for program in [PROGRAM, &program] {
                assert_eq!(
                    check(program, world, STRICT, None),
                    Some(alone(program, world, None)),
                    "{from} {to}"
                );
            }
            assert_eq!(
                here(&program, world, Some(50)),
                alone(&program, world, None),
                "{from} {to}"
            );
        }
    }
}

#[test]
fn what_is_not_given_is_not_kept() {
    let none = World {
        types: "null",
        memory: "null",
        tools: "null",
        returns: "null",
    };
    let number = r#"{"op":"object","fields":{"n":{"op":"literal","value":1}}}"#;
    for program in [PROGRAM, number] {
        for world in [
            none,
            World {
                types: "{}",
                ..none
            },
            World {
                tools: WORLD.tools,
                ..none
            },
        ] {
            here(PROGRAM, WORLD, None);
            assert_eq!(here(program, world, None), alone(program, world, None));
        }
    }
}
