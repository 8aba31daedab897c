"""Checks that programs fit JSON schemas; see bin/schema-check."""

import json
import sys

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError

sys.setrecursionlimit(20_000)


def resolved(schema, root):
    """The schema that a reference means."""
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    return schema


def may_be(schema, instance):
    """Whether an object has a name under "op" that a schema for operations allows."""
    op = schema.get("properties", {}).get("op", {})
    names = op.get("enum", [op["const"]] if "const" in op else None)
    return names is None or not isinstance(instance, dict) or instance.get("op") in names


def any_of(validator, schemas, instance, _schema):
    """`anyOf` that leaves out operations of another name: the validator looks at the fields of each, at each level."""
    root = validator.root
    for schema in schemas:
        if may_be(resolved(schema, root), instance) and validator.evolve(schema=schema).is_valid(instance):
            return
    yield ValidationError(f"{instance!r} fits none of {len(schemas)} schemas")


Validator = validators.extend(Draft202012Validator, {"anyOf": any_of})

with open(sys.argv[1], encoding="utf-8") as file:
    written = json.load(file)

wrong = 0

for name, key in [("json", "program"), ("llm", "llm"), ("nulls", "nulls")]:
    schema = written[name]
    Draft202012Validator.check_schema(schema)
    Validator.root = schema
    validator = Validator(schema)

    for program in written["programs"]:
        if program[key] is not None and not validator.is_valid(program[key]):
            wrong += 1
            print(f"{name}: {program['id']} does not fit: {json.dumps(program[key])}")

    # Mistakes that a schema must refuse.
    for mistake in [
        {"op": "fliter", "where": {"op": "count"}},
        {"op": "load"},
        {"op": "load", "name": 1},
        {"op": "sort_by", "field": "n", "order": "up"},
        {"op": "pipe", "steps": [5]},
        5,
    ]:
        if validator.is_valid({"program": mistake}):
            wrong += 1
            print(f"{name}: {json.dumps(mistake)} fits")

count = len(written["programs"])
print(f"{count} programs, {wrong} of them wrong" if wrong else f"{count} programs fit the schemas")
sys.exit(1 if wrong or count == 0 else 0)
