// How many of the cases jsonrepair restores: node jsonrepair_baseline.mjs cases.jsonl
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { jsonrepair } from "jsonrepair";

function rate(name, cases) {
  let restored = 0;
  let wrong = 0;
  for (const { text, expect } of cases) {
    let value;
    try {
      value = JSON.parse(jsonrepair(text));
    } catch {
      continue;
    }
    if (isDeepStrictEqual(value, expect)) restored += 1;
    else wrong += 1;
  }
  const share = (count) => `${((100 * count) / cases.length).toFixed(1)} %`;
  console.log(name, cases.length, "restored", share(restored), "wrong", share(wrong));
}

const lines = readFileSync(process.argv[2], "utf8").trim().split("\n");
const cases = lines.map((line) => JSON.parse(line));
rate("jsonrepair, all", cases);
rate("jsonrepair, faults of syntax", cases.filter(({ syntax }) => syntax));
