"""How many of the cases json_repair restores: python3 json_repair_baseline.py cases.jsonl"""
import json
import sys

import json_repair


def same(a, b):
    """Equal, with integers, floats and booleans told apart."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def rate(name, cases):
    restored = wrong = 0
    for case in cases:
        value = json_repair.loads(case["text"])
        if same(value, case["expect"]):
            restored += 1
        elif value not in ("", [], {}):
            wrong += 1
    share = lambda count: f"{100 * count / len(cases):.1f} %"
    print(f"{name:28} {len(cases):6} restored {share(restored):>8} wrong {share(wrong):>8}")


cases = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
rate("json_repair, all", cases)
rate("json_repair, faults of syntax", [case for case in cases if case["syntax"]])
