//! Measures the time of a classification, for the labelled cases, for long commands and for hostile nesting.

#![allow(clippy::disallowed_methods, reason = "a bench looks at the clock")]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use bestow::command::{Classifier, classify};
use criterion::{BenchmarkId, Criterion, Throughput};
use tree_sitter::Parser;

fn commands() -> Vec<String> {
    let text =
        concat!(include_str!("../tests/cases/commands.jsonl"), include_str!("../tests/cases/commands-own.jsonl"));
    let rows = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    rows.filter_map(|row| row.get("command").and_then(|command| command.as_str()).map(str::to_owned)).collect()
}

/// Returns an everyday script of about `bytes` bytes.
fn script(bytes: usize) -> String {
    let block = "git status --porcelain | grep -v '^??' | wc -l\n\
        if [ -f \"$HOME/.config/x\" ]; then cat src/*.rs | sort -u; fi\n\
        for f in a b c; do sed -n '1,5p' \"$f\" && echo \"done $f\"; done\n\
        find . -name '*.md' -exec grep -l todo {} +\n";
    block
        .repeat(bytes / block.len() + 1)
        .get(..bytes)
        .map(|text| text.rsplit_once('\n').map_or(text, |(whole, _)| whole))
        .unwrap_or_default()
        .to_owned()
}

/// Returns the duration of one classification.
fn once(command: &str) -> Duration {
    let start = Instant::now();
    drop(black_box(classify(black_box(command))));
    start.elapsed()
}

/// Returns the duration of one classification with the commands and the resources of the line, as the engine asks for
/// it.
fn once_with_all(command: &str) -> Duration {
    let start = Instant::now();
    drop(black_box(Classifier::default().judge(black_box(command))));
    start.elapsed()
}

/// Returns the median of nine durations.
fn median_of(command: &str, once: impl Fn(&str) -> Duration) -> Duration {
    let mut times = [(); 9].map(|()| once(command));
    times.sort_unstable();
    times.into_iter().nth(4).unwrap_or_default()
}

/// Returns the median duration of nine classifications.
fn median(command: &str) -> Duration {
    median_of(command, once)
}

/// Prints the time of a classification as a multiple of the time in which tree-sitter-bash parses the same text. Both
/// take turns, so the load of the machine changes neither ratio.
fn beside_tree_sitter() {
    let mut parser = Parser::new();
    if parser.set_language(&tree_sitter_bash::LANGUAGE.into()).is_err() {
        return println!("tree-sitter-bash is not compatible");
    }
    let mut parse = |text: &str| {
        let start = Instant::now();
        drop(black_box(parser.parse(black_box(text), None)));
        start.elapsed()
    };
    let mut ratio = |text: &str| {
        let mut ratios: Vec<f64> = (0..9).map(|_| once(text).as_secs_f64() / parse(text).as_secs_f64()).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        ratios.get(4).copied().unwrap_or_default()
    };
    let mut ratios: Vec<f64> = commands().iter().map(|command| ratio(command)).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let at = |share: usize| ratios.get(ratios.len() * share / 100).copied().unwrap_or_default();
    println!("beside tree-sitter-bash, {} cases: median {:.2}, p99 {:.2}", ratios.len(), at(50), at(99));
    println!("beside tree-sitter-bash, a script of 10 KB: {:.2}\n", ratio(&script(10 * 1024)));
}

/// The bytes of the scripts of one length that are classified.
const SAMPLED: usize = 2 << 20;

/// Prints the promised figures in one table.
fn promises() {
    let mut times: Vec<Duration> = commands().iter().map(|command| median(command)).collect();
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 1000).copied().unwrap_or_default();
    println!(
        "{} cases: median {:?}, p99 {:?}, p99.9 {:?}, longest {:?}",
        times.len(),
        at(500),
        at(990),
        at(999),
        at(1000 - 1)
    );
    let mut times: Vec<Duration> = commands().iter().map(|command| median_of(command, once_with_all)).collect();
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 1000).copied().unwrap_or_default();
    let long = median_of(&script(10 * 1024), once_with_all);
    println!("with commands and resources: median {:?}, p99 {:?}, a script of 10 KB {long:?}", at(500), at(990));
    for kilobytes in [1, 2, 4, 8, 10, 16, 32, 63] {
        let text = script(kilobytes * 1024);
        // About as much text of each length.
        let count = (SAMPLED / text.len()).clamp(30, 500);
        let mut times: Vec<Duration> = (0..count).map(|_| once(&text)).collect();
        times.sort_unstable();
        let at = |share: usize| times.get(count * share / 100).copied().unwrap_or_default();
        let (middle, tail) = (at(50), at(99));
        println!(
            "a script of {} bytes: median {middle:?}, p99 {tail:?}, {:.0} ns a byte",
            text.len(),
            middle.as_nanos() as f64 / text.len() as f64
        );
    }
    let hostile = HOSTILE.iter().map(|open| (median(&open.repeat(100_000)), open)).max();
    println!("100000 levels, the slowest of {}: {hostile:?}", HOSTILE.len());
    let short = HOSTILE.iter().map(|open| (median(&open.repeat(60_000 / open.len())), open)).max();
    println!("60000 bytes of one of them, the slowest: {short:?}\n");
}

const HOSTILE: [&str; 12] = ["$(", "(", "`", "{ ", "\"$(", "$((", "${x:-", "<(", "if ", "[[ ", "{a,", "a[$("];

fn cases(criterion: &mut Criterion) {
    let commands = commands();
    let mut group = criterion.benchmark_group("cases");
    group.throughput(Throughput::Elements(commands.len() as u64));
    group.bench_function("all", |bencher| {
        bencher.iter(|| commands.iter().for_each(|command| drop(black_box(classify(command)))))
    });
    for command in ["ls -la", "git log --oneline -5 | head", "bash -c \"psql -c 'DROP DATABASE x'\""] {
        group.throughput(Throughput::Elements(1));
        group.bench_function(command, |bencher| bencher.iter(|| classify(black_box(command))));
    }
    group.finish();
}

fn length(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("length");
    for kilobytes in [1, 4, 10, 32, 63] {
        let text = script(kilobytes * 1024);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_with_input(BenchmarkId::from_parameter(kilobytes), &text, |bencher, text| {
            bencher.iter(|| classify(black_box(text)))
        });
    }
    group.finish();
}

fn hostile(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("hostile");
    group.sample_size(10);
    for open in HOSTILE {
        let text = open.repeat(100_000);
        group.bench_function(format!("100000 {open}"), |bencher| bencher.iter(|| classify(black_box(&text))));
        let short: String = text.chars().take(60_000).collect();
        group.bench_function(format!("60000 bytes of {open}"), |bencher| bencher.iter(|| classify(black_box(&short))));
    }
    let nest = |word: &str| word.repeat(10_000 / word.len());
    for word in [
        "rm ",
        "env ",
        "x env nice ",
        "sudo rm -rf ",
        "docker exec sh -c ",
        "f(){ f;};",
        "sh -c 'sh -c x' ",
        "${a[${b[",
        "$x$y",
        "{a,b}{c,d}",
    ] {
        let text = nest(word);
        group.bench_function(format!("10000 bytes of {word}"), |bencher| bencher.iter(|| classify(black_box(&text))));
    }
    group.finish();
}

fn main() {
    promises();
    beside_tree_sitter();
    let mut criterion = Criterion::default().configure_from_args();
    cases(&mut criterion);
    length(&mut criterion);
    hostile(&mut criterion);
    criterion.final_summary();
}
