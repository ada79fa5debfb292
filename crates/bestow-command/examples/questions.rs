//! Counts the questions that a person is asked on a day of agents' commands, if the person answers "always" wherever
//! that is offered.
//!
//! ```text
//! cargo run --release -p bestow-command --example questions < commands.jsonl
//! ```
//!
//! The input has one `{"command":"…"}` per line. Each command is counted once as it is written. A second count is of
//! 1000 commands that are drawn from the input: a few commands often and most of them rarely, as agents do. A drawn
//! command that is not safe stands alone or among the other parts of another line of the input, as often as there. The
//! draws are the same in every run.

use std::{collections::HashSet, io::BufRead};

use bestow_command::{Classification, Classifier, Shape, Tier};

/// The number of drawn commands.
const DAY: usize = 1000;

/// The shapes that count.
#[derive(Clone, Copy)]
enum Offered {
    /// A person answers each line.
    Nothing,
    /// Single commands have a shape.
    Alone,
    /// Single commands have a shape, and those among parts that only read.
    Beside,
}

fn main() {
    let rows = std::io::stdin().lock().lines().map_while(Result::ok);
    let rows = rows.filter_map(|row| serde_json::from_str::<serde_json::Value>(&row).ok());
    let lines: Vec<String> = rows.filter_map(|row| Some(row.get("command")?.as_str()?.to_owned())).collect();
    count("as written", &lines);
    count("a day", &day(&lines));
}

fn count(name: &str, lines: &[String]) {
    let classifier = Classifier::default();
    let found: Vec<Classification> = lines.iter().map(|line| classifier.classify(line)).collect();
    let of = |tier| found.iter().filter(|found| found.tier == tier).count();
    let [safe, dangerous, destructive] = [Tier::Safe, Tier::Dangerous, Tier::Destructive].map(of);
    println!("{name}: {} lines, {safe} safe, {dangerous} dangerous, {destructive} destructive", lines.len());
    let with_shape = |beside| found.iter().filter_map(Shape::of).filter(|shape| shape.is_beside() == beside).count();
    println!("  with a shape: {} alone, {} among parts that only read", with_shape(false), with_shape(true));
    for (words, offered) in [
        ("nothing is allowed for good", Offered::Nothing),
        ("single commands are", Offered::Alone),
        ("one part among safe ones is", Offered::Beside),
    ] {
        println!("  questions if {words}: {}", questions(&found, offered));
    }
}

/// Returns the number of dangerous lines that no earlier answer covers. Destructive lines are never allowed for good.
fn questions(found: &[Classification], offered: Offered) -> usize {
    let mut allowed: HashSet<Shape> = HashSet::new();
    let mut asked = 0;
    for found in found.iter().filter(|found| found.tier == Tier::Dangerous) {
        let shape = Shape::of(found).filter(|shape| match offered {
            Offered::Nothing => false,
            Offered::Alone => !shape.is_beside(),
            Offered::Beside => true,
        });
        let is_covered = shape.is_some() && allowed.iter().any(|shape| shape.covers(found));
        if !is_covered {
            asked += 1;
            allowed.extend(shape);
        }
    }
    asked
}

/// Draws the commands of a day.
fn day(lines: &[String]) -> Vec<String> {
    let classifier = Classifier::default();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    // The text before and after the unsafe part of each line, and the part itself.
    let split = |line: &String| {
        let found = classifier.classify(line);
        let shape = Shape::of(&found)?;
        let only = found.parts.iter().find(|part| part.tier == Tier::Dangerous)?;
        let (before, rest) = line.split_at_checked(only.span.start)?;
        let (own, after) = rest.split_at_checked(only.span.end - only.span.start)?;
        // A single command is its whole line, with its redirections.
        Some(if shape.is_beside() { [before, own.trim_end(), after] } else { ["", line, ""] }.map(str::to_owned))
    };
    let surroundings: Vec<[String; 3]> = lines.iter().filter_map(split).collect();
    let draw = |random: &mut Random| {
        let line = lines.get(random.often_small(lines.len()))?;
        let Some([_, own, _]) = split(line) else { return Some(line.clone()) };
        let [before, _, after] = surroundings.get(random.below(surroundings.len()))?;
        Some(format!("{before}{own}{after}"))
    };
    (0..DAY).filter_map(|_| draw(&mut random)).collect()
}

/// A generator of the same numbers in every run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let number = usize::try_from(self.0 >> 33).unwrap_or_default();
        if end == 0 { 0 } else { number % end }
    }

    /// Returns a number below `end`. The number `n` is about as frequent as `1 / (n + 1)`.
    fn often_small(&mut self, end: usize) -> usize {
        let bits = usize::BITS - end.max(1).leading_zeros();
        let most = 1_usize << self.below(usize::try_from(bits).unwrap_or_default() + 1);
        self.below(most.min(end))
    }
}
