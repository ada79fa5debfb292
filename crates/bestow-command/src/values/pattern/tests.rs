//! Tests that compare the search with a slow and obvious evaluator. This evaluator tries every short list of words for
//! each unknown word.

use super::{CommandPattern, Coverage, Ends, Said, Spoken, base_name, is_like};

const WORDS: [&str; 6] = ["git", "push", "-C", "x", "/usr/bin/git", "pushy"];

const PATTERNS: [&str; 8] =
    ["git", "git push", "git push **", "git **", "git p*", "git -C x", "git push x **", "g*t push"];

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn word(&mut self) -> String {
        WORDS[self.below(WORDS.len())].to_owned()
    }

    fn said(&mut self) -> Said {
        let ends = |start: &str, end: &str| Ends { start: start.into(), end: end.into() };
        match self.below(12) {
            0 => Said::Maybe(self.word().into()),
            1 => Said::One(Ends::default()),
            2 => Said::One(ends("pu", "")),
            3 => Said::Many(Ends::default()),
            4 => Said::Many(ends("", "sh")),
            _ => Said::Is(self.word().into()),
        }
    }
}

/// Returns every list of at most two words that this word may be.
fn lists(said: &Said) -> Vec<Vec<String>> {
    let fit = |ends: &Ends| -> Vec<String> {
        let fits = |word: &&&str| word.starts_with(ends.start.as_str()) && word.ends_with(ends.end.as_str());
        WORDS.iter().filter(fits).map(|word| (*word).to_owned()).collect()
    };
    match said {
        Said::Is(word) => vec![vec![word.to_string()]],
        Said::Maybe(word) => vec![vec![], vec![word.to_string()]],
        Said::One(ends) => fit(ends).into_iter().map(|word| vec![word]).collect(),
        Said::Many(ends) => {
            let words = fit(ends);
            let pairs = words.iter().flat_map(|one| words.iter().map(|other| vec![one.clone(), other.clone()]));
            let single = words.iter().map(|word| vec![word.to_string()]);
            std::iter::once(Vec::new()).chain(single).chain(pairs).collect()
        }
    }
}

fn lines(words: &[Said]) -> Vec<Vec<String>> {
    words.iter().fold(vec![Vec::new()], |lines, word| {
        let ends = lists(word);
        lines.iter().flat_map(|line| ends.iter().map(move |end| [line.clone(), end.clone()].concat())).collect()
    })
}

/// Returns true if literal words match the pattern. Options and their values are skipped where that helps. Between
/// `git` and its subcommand, `-C` takes the next word.
fn naive(pattern: &[&str], words: &[String], first: bool, of_git: bool) -> bool {
    let Some((wanted, rest)) = pattern.split_first() else { return words.is_empty() };
    if *wanted == "**" {
        return true;
    }
    let Some((word, others)) = words.split_first() else { return false };
    let fits = if first { is_like(base_name(wanted), base_name(word)) } else { is_like(wanted, word) };
    let option = !first && word.starts_with(['-', '+']) && word.len() > 1;
    let takes_next = of_git && word == "-C";
    (fits && naive(rest, others, false, first && *wanted == "git"))
        || (option && !takes_next && naive(pattern, others, false, of_git))
        || (option && !others.is_empty() && naive(pattern, &others[1..], false, of_git))
}

#[test]
fn what_may_be_like_a_pattern_is_found_and_what_certainly_is_needs_every_word() {
    let mut numbers = Numbers(0x5eed);
    let (mut met, mut missed_by_one_word) = ([0_u32; 3], 0_u32);
    for _ in 0..1_500 {
        let words: Vec<Said> = (0..=numbers.below(3)).map(|_| numbers.said()).collect();
        let anywhere = numbers.below(5) == 0;
        let text = PATTERNS[numbers.below(PATTERNS.len())];
        let pattern: CommandPattern = text.parse().unwrap();
        let wanted: Vec<&str> = text.split(' ').collect();
        let starts = |line: &Vec<String>| if anywhere { line.len().max(1) } else { 1 };
        let is = |line: &Vec<String>| {
            (0..starts(line)).any(|start| naive(&wanted, line.get(start..).unwrap_or_default(), true, false))
        };
        let all = lines(&words);
        let command = Spoken { words: words.clone().into(), anywhere };
        if all.iter().any(is) {
            assert!(pattern.may_cover(&command), "{text}: {command:?}");
            met[0] += 1;
            // An evaluator that counts every unknown word as one word fails here.
            let as_one =
                |said: &Said| if matches!(said, Said::Is(_)) { said.clone() } else { Said::One(Ends::default()) };
            let command = Spoken { words: words.iter().map(as_one).collect(), anywhere };
            missed_by_one_word += u32::from(!pattern.may_cover(&command));
        }
        if pattern.certainly_covers(&command, &[]) == Coverage::Whole {
            assert!(words.iter().all(|word| word.written().is_some()) && !anywhere, "{text}: {command:?}");
            assert!(all.iter().all(is), "{text}: {command:?}");
            met[1] += 1;
        }
        met[2] += u32::from(!pattern.may_cover(&command));
        // Rules are looked up by these names.
        if pattern.may_cover(&command)
            && let (Some(name), Some(names)) = (pattern.program(), command.programs())
        {
            assert!(names.contains(&name), "{text}: {command:?}");
        }
    }
    assert!(met.iter().all(|count| *count > 5) && missed_by_one_word > 15, "{met:?} {missed_by_one_word}");
}
