use ptc_core::answer::{read_answer, LIMITS};
use ptc_core::json::{read_value, Sink, Text};
use ptc_core::meter::{Deadline, Limits, Meter, Pace};
use ptc_core::plain::PlainHeap;
use ptc_core::repair::{is_part, repair, Fits, Refusal, Wanted};
use ptc_core::signature::parse;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

#[derive(Default)]
struct V {
    stack: Vec<(bool, Vec<Value>, Vec<String>)>,
    out: Option<Value>,
}
impl V {
    fn put(&mut self, v: Value) {
        match self.stack.last_mut() {
            Some(f) => f.1.push(v),
            None => self.out = Some(v),
        }
    }
}
impl<'t> Sink<'t> for V {
    fn null(&mut self) {
        self.put(Value::Null)
    }
    fn boolean(&mut self, v: bool) {
        self.put(Value::Bool(v))
    }
    fn integer(&mut self, v: i64) {
        self.put(v.into())
    }
    fn big_integer(&mut self, d: &'t str) {
        self.put(Value::String(d.into()))
    }
    fn float(&mut self, v: f64) {
        self.put(v.into())
    }
    fn string(&mut self, t: Text<'t, '_>) {
        let s = String::from_utf8_lossy(t.bytes()).into_owned();
        self.put(Value::String(s))
    }
    fn key(&mut self, t: Text<'t, '_>) {
        let s = String::from_utf8_lossy(t.bytes()).into_owned();
        self.stack.last_mut().unwrap().2.push(s)
    }
    fn open(&mut self, o: bool) {
        self.stack.push((o, vec![], vec![]))
    }
    fn close(&mut self, _o: bool) {
        let (o, vs, ks) = self.stack.pop().unwrap();
        let v = if o {
            let mut m = Map::new();
            for (k, v) in ks.into_iter().zip(vs) {
                m.entry(k).or_insert(v);
            }
            Value::Object(m)
        } else {
            Value::Array(vs)
        };
        self.put(v)
    }
}

pub fn attempt(text: &[u8], wanted: &Wanted, show: bool) -> Result<Value, String> {
    let mut heap = PlainHeap::new();
    let mut plain = None;
    if let Ok(a) = read_answer(text, &mut heap) {
        let mut v = V::default();
        read_value(text, a.start, LIMITS, &mut v).unwrap();
        let mut f = Fits::new(wanted, wanted_root(wanted));
        read_value(text, a.start, LIMITS, &mut f).unwrap();
        let part = is_part(text);
        if f.fits() && !part {
            return Ok(v.out.unwrap());
        }
        plain = v.out;
    }
    let limits = Limits {
        deadline: Deadline::Never,
        words: usize::MAX,
    };
    let mut meter = Meter::new(limits, Pace::Quantum);
    match repair(text, wanted, &mut meter, &heap) {
        Ok(r) => {
            if show {
                for x in r.repairs() {
                    println!("      {:?} {}:{} {:?}", x.fault, x.line, x.column, x.path);
                }
            }
            let mut v = V::default();
            r.replay(&mut v);
            Ok(v.out.unwrap())
        }
        Err(Refusal::Ambiguous(p)) => plain.ok_or(format!("ambiguous {p:?}")),
        Err(e) => plain.ok_or(format!("{e:?}")),
    }
}
fn wanted_root(w: &Wanted) -> u32 {
    w.root()
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args.len() == 2 && args[1] == "perf" {
        return perf();
    }
    if args.len() > 2 {
        let sig = args[2].clone();
        let s = parse(sig.as_bytes()).ok();
        let w = match &s {
            Some(s) if sig != "-" => Wanted::new(&s.types, s.returns, false),
            _ => Wanted::anything(),
        };
        let text = args[3].clone();
        println!("{:?}", attempt(text.as_bytes(), &w, true));
        return;
    }
    let file = std::fs::read_to_string("/tmp/rep/v.jsonl").unwrap();
    let which = args.get(1).map(|s| s.as_str()).unwrap_or("");
    for typed in [true, false] {
        let mut per: BTreeMap<String, [usize; 4]> = BTreeMap::new();
        let mut total = [0usize; 4];
        let mut syntax = [0usize; 4];
        for (i, line) in file.lines().enumerate() {
            let c: Value = serde_json::from_str(line).unwrap();
            let held = i % 3 == 0;
            if (which == "tune" && held) || (which == "held" && !held) {
                continue;
            }
            let sig = c["signature"].as_str().unwrap();
            let s = parse(sig.as_bytes()).unwrap();
            let w = if typed {
                Wanted::new(&s.types, s.returns, false)
            } else {
                Wanted::anything()
            };
            let kind = c["kind"].as_str().unwrap().to_string();
            let text = c["text"].as_str().unwrap();
            let got = attempt(text.as_bytes(), &w, false);
            let k = match &got {
                Ok(v) if *v == c["expect"] => 0,
                Ok(_) => 1,
                Err(e) if e.starts_with("amb") => 3,
                Err(_) => 2,
            };
            per.entry(kind.clone()).or_default()[k] += 1;
            total[k] += 1;
            let sem = [
                "camel_keys",
                "bare_element",
                "stringified",
                "quoted_scalars",
            ]
            .iter()
            .any(|s| kind.contains(s));
            if !sem {
                syntax[k] += 1;
            }
            if k != 0 && (typed || !sem) && which != "held" {
                println!(
                    "{} {} {:?}\n   {}\n   {}\n  got {}",
                    if typed { "T" } else { "U" },
                    c["id"],
                    ["", "WRONG", "none", "ambig"][k],
                    text.replace('\n', "\\n"),
                    sig,
                    match got {
                        Ok(v) => v.to_string(),
                        Err(e) => e,
                    }
                );
            }
        }
        println!(
            "== typed {typed}: total {total:?} of {}; syntax {syntax:?}",
            total.iter().sum::<usize>()
        );
        for (k, v) in per {
            if v[1] + v[2] + v[3] > 0 {
                println!("{k:32} {v:?}");
            }
        }
    }
}

fn perf() {
    use std::time::Instant;
    let rows: Vec<String> = (0..10_000)
        .map(|i| {
            let comma = if i % 10 == 5 { "" } else { "," };
            format!(
                "{{\"id\": {i}, \"score\": {}.5{comma} \"name\": \"row {i}\"}}",
                i % 100
            )
        })
        .collect();
    let broken = format!("{{\"results\": [{}]}}", rows.join(", "));
    let right = broken.replace("5 \"name", "5, \"name");
    let s = parse(b"{results [{id :int, score :float, name :string}]}").unwrap();
    let w = Wanted::new(&s.types, s.returns, false);
    for _ in 0..5 {
        let t = Instant::now();
        let mut heap = PlainHeap::new();
        read_answer(right.as_bytes(), &mut heap).unwrap();
        let plain = t.elapsed();
        let t = Instant::now();
        let limits = Limits {
            deadline: Deadline::Never,
            words: usize::MAX,
        };
        let mut meter = Meter::new(limits, Pace::Quantum);
        let h = PlainHeap::new();
        let r = repair(right.as_bytes(), &w, &mut meter, &h).unwrap();
        let straight = t.elapsed();
        let _ = r;
        let t = Instant::now();
        let mut meter = Meter::new(limits, Pace::Quantum);
        for ww in [&w, &Wanted::anything()] {
            let t = Instant::now();
            let r = repair(
                broken.as_bytes(),
                ww,
                &mut Meter::new(limits, Pace::Quantum),
                &h,
            )
            .unwrap();
            let a = t.elapsed();
            let n = r.repairs().len();
            let b = t.elapsed() - a;
            let mut heap = PlainHeap::new();
            let mut bld = ptc_core::json::TermBuilder::new(&mut heap);
            r.replay(&mut bld);
            bld.finish();
            println!(
                "  broken {a:?}, {n} repairs {b:?}, build {:?}",
                t.elapsed() - a - b
            );
        }
        let _ = (&mut meter, t);
        println!(
            "plain {plain:?} straight {straight:?} bytes {}",
            right.len()
        );
    }
}
