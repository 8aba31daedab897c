"""Checks that programs fit JSON schemas; see bin/schema-check."""

import json
import sys

from jsonschema import Draft202012Validator

sys.setrecursionlimit(20_000)

with open(sys.argv[1], encoding="utf-8") as file:
    written = json.load(file)

wrong = 0

for name, key in [("json", "program"), ("llm", "program"), ("nulls", "nulls")]:
    schema = written[name]
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)

    for program in written["programs"]:
        if not validator.is_valid(program[key]):
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
