//! The strictest applicable verdict wins. The result is compared with an independent evaluator, which compares globs
//! and patterns by hand and always evaluates all rules.

use std::sync::Arc;

use super::*;
use crate::{
    kernel::{EvaluationInput, Explanation, ResolvedAction, Target, evaluate},
    model::{
        Answer, CommandPattern, Operation, PathGlob, PathPolicy, Place, Rule, Said, Scope, Spoken, SpokenPart, Tier,
        ToolName, ToolPolicies, Verdict,
    },
};

/// A reproducible pseudorandom number generator.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(end).unwrap()).unwrap()
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn some<T: Copy>(&mut self, from: &[T]) -> Vec<T> {
        (0..self.below(4)).map(|_| self.pick(from)).collect()
    }
}

const NAMES: [&str; 4] = ["a", "b", "ab", "a.b"];
const GLOBS: [&str; 12] = [
    "/w/**", "/w/a", "/w/a/*", "/w/a/**", "/w/b/**", "/w/*/b", "/**/a.b", "/w/**/ab", "/w/a?", "/x/**", "/w/ab/*",
    "/w/b/*",
];
const PATTERNS: [&str; 7] = ["git", "git **", "git push **", "git * x", "rm **", "ls **", "g* push"];
const COMMANDS: [&str; 7] = ["git", "git push", "git push x", "git log x", "rm x", "ls", "gs push"];
const TOOLS: [&str; 3] = ["write_file", "read_file", "bash"];
const VERDICTS: [Verdict; 3] = [Verdict::Allow, Verdict::Ask, Verdict::Deny];
const OPERATIONS: [Operation; 4] = [Operation::Read, Operation::Write, Operation::Exec, Operation::Command];

fn tool(name: &str) -> ToolName {
    name.parse().unwrap()
}

/// Returns true if `glob` matches `path`, compared component by component.
fn glob_matches(glob: &[&str], path: &[&str]) -> bool {
    match (glob, path) {
        ([], []) => true,
        (["**"], rest) => !rest.is_empty(),
        (["**", glob @ ..], path) => (0..=path.len()).any(|skipped| glob_matches(glob, &path[skipped..])),
        ([one, glob @ ..], [name, path @ ..]) => name_matches(one, name) && glob_matches(glob, path),
        _ => false,
    }
}

/// Returns true if `glob` matches `name`. In these tests, `*` and `?` occur only at the end.
fn name_matches(glob: &str, name: &str) -> bool {
    if let Some(start) = glob.strip_suffix('*') {
        return name.starts_with(start);
    }
    glob.strip_suffix('?').map_or(glob == name, |start| name.len() == glob.len() && name.starts_with(start))
}

fn about_path(glob: &str, path: &str) -> bool {
    let parts = |text: &'static str| text.split('/').skip(1).collect::<Vec<_>>();
    let glob = GLOBS.into_iter().find(|known| *known == glob).unwrap();
    glob_matches(&parts(glob), &path.split('/').skip(1).collect::<Vec<_>>())
}

/// Returns true if a deny glob covers `path`. Denying a directory denies everything in it, and denying everything in it
/// denies the directory.
fn denies_path(glob: &str, path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    let above = (1..=parts.len()).any(|end| about_path(glob, &format!("/{}", parts[..end].join("/"))));
    let head = glob.strip_suffix("/**").map(|head| head.split('/').skip(1).collect::<Vec<_>>());
    above || head.is_some_and(|head| glob_matches(&head, &parts))
}

fn about_command(pattern: &str, command: &str) -> bool {
    let (mut pattern, command): (Vec<_>, Vec<_>) = (pattern.split(' ').collect(), command.split(' ').collect());
    let open = pattern.last() == Some(&"**");
    if open {
        pattern.pop();
    }
    let long_enough = if open { pattern.len() <= command.len() } else { pattern.len() == command.len() };
    long_enough && pattern.iter().zip(&command).all(|(pattern, word)| name_matches(pattern, word))
}

/// Returns true if a pattern that denies or asks matches. A pattern without a wildcard is about any further words, too.
fn restricts_command(pattern: &str, command: &str) -> bool {
    about_command(pattern, command) || !pattern.contains('*') && about_command(&format!("{pattern} **"), command)
}

/// An action in a simple form.
#[derive(Clone, Debug)]
struct Plain {
    operation: Operation,
    tool: &'static str,
    resource: String,
    tier: Tier,
    holds: bool,
    /// The further uses: single paths or trees.
    further: Vec<Further>,
}

#[derive(Clone, Debug, PartialEq)]
struct Further {
    operation: Operation,
    path: String,
    tree: bool,
}

impl Further {
    fn random(numbers: &mut Numbers) -> Further {
        let operation = numbers.pick(&[Operation::Read, Operation::Write]);
        let path = (0..=numbers.below(2)).fold("/w".to_owned(), |path, _| path + "/" + numbers.pick(&NAMES));
        Further { operation, path, tree: numbers.below(3) == 0 }
    }

    fn used(&self) -> crate::kernel::action_uses::Use {
        let path = || self.path.parse().unwrap();
        let is_write = self.operation == Operation::Write;
        let permission = if is_write { Permission::write(path()) } else { Permission::read(path()) };
        crate::kernel::action_uses::Use {
            operation: self.operation,
            target: if self.tree { Target::Tree(path()) } else { Target::Path(path()) },
            takes: Some(PinnedPermission::from(permission)),
            origin: crate::model::UseOrigin::Named,
        }
    }

    /// Returns true if `about` matches the path, or everything in it for a tree.
    fn is(&self, about: impl Fn(&str) -> bool) -> bool {
        about(&self.path) || self.tree && about(&self.inside())
    }

    fn inside(&self) -> String {
        format!("{}/any name at all", self.path)
    }
}

impl Plain {
    fn random(numbers: &mut Numbers) -> Plain {
        let operation = numbers.pick(&OPERATIONS);
        let (tool, tier) = (numbers.pick(&TOOLS), numbers.pick(&[Tier::Safe, Tier::Safe, Tier::Dangerous]));
        if operation == Operation::Command {
            let tier = if numbers.below(9) == 0 { Tier::Destructive } else { tier };
            let resource = numbers.pick(&COMMANDS).to_owned();
            let further = (0..numbers.below(3)).map(|_| Further::random(numbers)).collect();
            return Plain { operation, tool, resource, tier, holds: true, further };
        }
        let holds = numbers.below(8) > 0;
        let top = if holds { "/w" } else { "/x" };
        let deep = (0..=numbers.below(3)).fold(top.to_owned(), |path, _| path + "/" + numbers.pick(&NAMES));
        Plain { operation, tool, resource: deep, tier, holds, further: Vec::new() }
    }

    fn considered(&self) -> Arc<ResolvedAction> {
        let path = || self.resource.parse().unwrap();
        let takes = match self.operation {
            Operation::Write => Some(PinnedPermission::from(Permission::write(path()))),
            Operation::Read | Operation::Exec => Some(PinnedPermission::from(Permission::read(path()))),
            Operation::Command | Operation::Network | Operation::Events | Operation::Tool => None,
        };
        let target = if self.operation == Operation::Command {
            let words = self.resource.split(' ').map(|word| Said::Is(word.into())).collect();
            let part = SpokenPart::plain(self.tier, Some(Spoken::of(words)));
            Target::Command { text: self.resource.as_str().into(), parts: Some(vec![part]), doing: None }
        } else {
            Target::Path(self.resource.parse().unwrap())
        };
        let mut uses = own(self.operation, target, takes);
        self.further.iter().for_each(|further| uses.add(further.used()));
        Arc::new(ResolvedAction {
            shell: crate::model::Shell::Unknown,
            tool: tool(self.tool),
            uses,
            shown: self.resource.as_str().into(),
            cut: false,
            tier: Some(self.tier),
            tier_reason: self.tier.as_str().into(),
            strictly: true,
            shape: None,
            destructive: None,
            input: String::new(),
            besides: None,
            told: None,
            reason: None,
            call: None,
            overrides: false,
            cwd: None,
            directory: None,
            circumstances: None,
            details: None,
            in_sandbox: false,
            confined: false,
            placed: true,
            updated: false,
        })
    }
}

fn random_rule(numbers: &mut Numbers, line: u32) -> Rule {
    let verdict = numbers.pick(&[Verdict::Allow, Verdict::Allow, Verdict::Ask, Verdict::Deny]);
    let about = numbers.below(5);
    Rule {
        verdict,
        tool: (numbers.below(3) == 0).then(|| tool(numbers.pick(&TOOLS))),
        operation: (numbers.below(3) == 0).then(|| numbers.pick(&OPERATIONS)),
        path: (about < 3).then(|| PathGlob::try_from(numbers.pick(&GLOBS).to_owned()).unwrap()),
        command: (about == 3).then(|| numbers.pick(&PATTERNS).parse().unwrap()),
        shape: None,
        cwd: None,
        children: false,
        why: None,
        place: Place { file: "agents.toml".into(), line },
    }
}

fn random_policies(numbers: &mut Numbers) -> ToolPolicies {
    let globs = |numbers: &mut Numbers| {
        numbers.some(&GLOBS).into_iter().map(|glob| PathGlob::try_from(glob.to_owned()).unwrap()).collect()
    };
    let paths = |numbers: &mut Numbers| PathPolicy {
        allow: globs(numbers),
        deny: if numbers.below(3) == 0 { globs(numbers) } else { Vec::new() },
        default: (numbers.below(3) == 0).then(|| numbers.pick(&VERDICTS)),
    };
    let commands = |numbers: &mut Numbers| -> Vec<CommandPattern> {
        if numbers.below(2) == 0 {
            return Vec::new();
        }
        numbers.some(&PATTERNS).into_iter().map(|pattern| pattern.parse().unwrap()).collect()
    };
    ToolPolicies {
        forbidden: if numbers.below(4) == 0 { globs(numbers) } else { Vec::new() },
        read: paths(numbers),
        write: paths(numbers),
        deny_commands: commands(numbers),
        approve_commands: commands(numbers),
    }
}

/// The rules and policies for the agent `bot`, and for `boss`, which created it in a run of its own.
#[derive(Clone, Debug)]
struct Sayings {
    rules: Vec<Rule>,
    rules_of_boss: Vec<Rule>,
    common: ToolPolicies,
    /// The policies of `bash` in the run of `bot`.
    own: ToolPolicies,
    of_boss: ToolPolicies,
    /// The decisions of a person for the session.
    said: Vec<(Plain, Verdict)>,
}

impl Sayings {
    fn random(numbers: &mut Numbers) -> Sayings {
        let rules = |numbers: &mut Numbers| -> Vec<Rule> {
            (0..numbers.below(6)).map(|line| random_rule(numbers, u32::try_from(line).unwrap())).collect()
        };
        let quiet = |numbers: &mut Numbers| {
            if numbers.below(3) == 0 { random_policies(numbers) } else { ToolPolicies::default() }
        };
        Sayings {
            rules: rules(numbers),
            rules_of_boss: if numbers.below(4) == 0 { rules(numbers) } else { Vec::new() },
            common: quiet(numbers),
            own: random_policies(numbers),
            of_boss: quiet(numbers),
            said: Vec::new(),
        }
    }

    /// Builds the state and collects decisions in `said`. Only actions that led to a prompt can get a decision.
    fn state(&mut self, numbers: &mut Numbers) -> State {
        let mut state = State::new(settings(|settings| {
            settings.max_pending = 10_000;
            settings.max_asks_per_minute = 10_000;
        }));
        done(&mut state, register("boss", "you", Kind::Subagent, &["@write:/w"]));
        let (run, reason, profile) =
            ("r1".parse().unwrap(), "why".parse().unwrap(), profile("bot", "you", Kind::Subagent));
        let permissions = pinned(&["@write:/w"]);
        done(
            &mut state,
            Command::Create { creator: id("boss"), profile, run, permissions, reason, broken: StaleGrants::new() },
        );
        for (agent, rules) in [("bot", &self.rules), ("boss", &self.rules_of_boss)] {
            state.apply(&Event::RulesChanged { agent: id(agent), rules: rules.as_slice().into() });
        }
        for (run, policies, tool) in
            [("r1", &self.common, None), ("r1", &self.own, Some("bash")), ("r0", &self.of_boss, None)]
        {
            let (run, tool) = (run.parse().unwrap(), tool.map(self::tool));
            let policies = Arc::new(policies.clone());
            done(&mut state, Command::SetPolicies { by: person("you"), run, tool, is_declared: false, policies });
        }
        for number in 0..40 {
            let plain = Plain::random(numbers);
            let events = done(&mut state, authorize(number, "bot", &plain.considered()));
            let asked = events.iter().any(|event| matches!(event, Event::Requested { .. }));
            if asked && plain.holds {
                let verdict = numbers.pick(&[Verdict::Allow, Verdict::Deny]);
                let answer = if verdict == Verdict::Allow { Answer::allow() } else { Answer::deny() };
                let (request, answer) = (request_id(number), answer.scope(Scope::Session));
                done(&mut state, Command::Answer { request, answer, modified: None, by: person("you") });
                self.said.push((plain, verdict));
            }
        }
        state
    }

    /// Returns true if a person denied this use. A denial applies to all tools and to everything inside the denied
    /// path.
    fn is_refused(&self, operation: Operation, resource: &str) -> bool {
        let is_in = |other: &str| {
            let deeper = resource.strip_prefix(other);
            deeper.is_some_and(|rest| rest.is_empty() || operation != Operation::Command && rest.starts_with('/'))
        };
        self.said
            .iter()
            .any(|(other, verdict)| *verdict == Verdict::Deny && other.operation == operation && is_in(&other.resource))
    }

    /// Returns true if a person approved this action. An approval applies to one tool and to the permissions that the
    /// request showed. If several uses take one permission, it is attributed to the first.
    fn is_let(&self, action: &Plain) -> bool {
        let takes = |(place, further): &(usize, &Further)| {
            let same = |other: &Further| (other.operation, &other.path) == (further.operation, &further.path);
            !action.further[..*place].iter().any(same)
        };
        self.said.iter().any(|(other, verdict)| {
            let same = (other.operation, other.tool, &other.resource);
            *verdict == Verdict::Allow
                && same == (action.operation, action.tool, &action.resource)
                && action.further.iter().enumerate().filter(takes).all(|(_, further)| other.further.contains(further))
        })
    }

    /// Returns the expected verdict.
    fn naive(&self, action: &Plain) -> Verdict {
        let rules = |rules: &[Rule]| -> Vec<Verdict> {
            rules.iter().filter(|rule| naive_rule(rule, action)).map(|rule| rule.verdict).collect()
        };
        let guard = if action.tool == "bash" { &self.own } else { &self.common };
        let mut said = rules(&self.rules);
        said.extend(naive_policies(guard, action));
        let boss = rules(&self.rules_of_boss).into_iter().chain(naive_policies(&self.of_boss, action));
        said.extend(boss.filter(|verdict| *verdict > Verdict::Allow));
        let mut asked_on_the_way = false;
        for further in &action.further {
            let rules = |rules: &[Rule]| -> Vec<Verdict> {
                let about = rules.iter().filter(|rule| naive_rule_on_the_way(rule, action, further));
                about.map(|rule| rule.verdict).filter(|verdict| *verdict != Verdict::Allow).collect()
            };
            let own = rules(&self.rules).into_iter().chain(naive_policies_on_the_way(guard, further));
            let boss = rules(&self.rules_of_boss).into_iter().chain(naive_policies_on_the_way(&self.of_boss, further));
            let (own, boss): (Vec<_>, Vec<_>) = (own.collect(), boss.collect());
            let no_of_person = self.is_refused(further.operation, &further.path);
            if own.contains(&Verdict::Deny) || boss.contains(&Verdict::Deny) || no_of_person {
                said.push(Verdict::Deny);
            }
            // An approval covers only the uses that its request showed.
            let answered = self.said.iter().any(|(other, verdict)| {
                let same = (other.operation, other.tool, &other.resource);
                *verdict == Verdict::Allow
                    && same == (action.operation, action.tool, &action.resource)
                    && other.further.contains(further)
            });
            asked_on_the_way |= (own.contains(&Verdict::Ask) || boss.contains(&Verdict::Ask)) && !answered;
        }
        let is_refused = self.is_refused(action.operation, &action.resource);
        if said.contains(&Verdict::Deny) || is_refused || action.tier == Tier::Destructive {
            return Verdict::Deny;
        }
        if !action.holds {
            return Verdict::Ask;
        }
        if asked_on_the_way {
            return Verdict::Ask;
        }
        if self.is_let(action) {
            return Verdict::Allow;
        }
        if said.contains(&Verdict::Ask) {
            return Verdict::Ask;
        }
        // A held write permission is enough to write its path. A sensitive path needs a permission that names it.
        let is_safe = action.tier == Tier::Safe || action.operation == Operation::Write;
        if said.contains(&Verdict::Allow) || is_safe { Verdict::Allow } else { Verdict::Ask }
    }
}

fn naive_rule(rule: &Rule, action: &Plain) -> bool {
    let path = rule
        .path
        .as_ref()
        .is_none_or(|glob| action.operation != Operation::Command && about_path(glob.as_str(), &action.resource));
    let command = rule.command.as_ref().is_none_or(|pattern| {
        let is_about = if rule.verdict == Verdict::Allow { about_command } else { restricts_command };
        action.operation == Operation::Command && is_about(pattern.as_str(), &action.resource)
    });
    let tool = rule.tool.as_ref().is_none_or(|tool| tool.as_str() == action.tool);
    path && command && tool && rule.operation.is_none_or(|operation| operation == action.operation)
}

/// Returns true if a rule matches a further use. Rules about command lines match only lines.
fn naive_rule_on_the_way(rule: &Rule, action: &Plain, further: &Further) -> bool {
    let path = rule.path.as_ref().is_none_or(|glob| further.is(|path| about_path(glob.as_str(), path)));
    let command = rule.command.is_none();
    let tool = rule.tool.as_ref().is_none_or(|tool| tool.as_str() == action.tool);
    path && command && tool && rule.operation.is_none_or(|operation| operation == further.operation)
}

fn naive_policies_on_the_way(policies: &ToolPolicies, further: &Further) -> Vec<Verdict> {
    let none = |globs: &[PathGlob]| globs.iter().any(|glob| further.is(|path| denies_path(glob.as_str(), path)));
    let whole = if further.tree { further.inside() } else { further.path.clone() };
    let policy = if further.operation == Operation::Write { &policies.write } else { &policies.read };
    let mut said = Vec::new();
    said.extend(none(&policies.forbidden).then_some(Verdict::Deny));
    if none(&policy.deny) {
        said.push(Verdict::Deny);
    } else if !policy.allow.iter().any(|glob| about_path(glob.as_str(), &whole)) {
        said.extend(policy.default.filter(|verdict| *verdict != Verdict::Allow));
    }
    said
}

fn naive_policies(policies: &ToolPolicies, action: &Plain) -> Vec<Verdict> {
    let mut said = Vec::new();
    if action.operation == Operation::Command {
        let any = |patterns: &[CommandPattern]| {
            patterns.iter().any(|pattern| restricts_command(pattern.as_str(), &action.resource))
        };
        said.extend(any(&policies.deny_commands).then_some(Verdict::Deny));
        said.extend(any(&policies.approve_commands).then_some(Verdict::Ask));
        return said;
    }
    let any = |globs: &[PathGlob]| globs.iter().any(|glob| about_path(glob.as_str(), &action.resource));
    let none = |globs: &[PathGlob]| globs.iter().any(|glob| denies_path(glob.as_str(), &action.resource));
    let policy = if action.operation == Operation::Write { &policies.write } else { &policies.read };
    said.extend(none(&policies.forbidden).then_some(Verdict::Deny));
    if none(&policy.deny) {
        said.push(Verdict::Deny);
    } else if any(&policy.allow) {
        said.push(Verdict::Allow);
    } else {
        said.extend(policy.default);
    }
    if action.operation == Operation::Exec {
        said.retain(|verdict| *verdict != Verdict::Allow);
    }
    said
}

fn judged(state: &State, action: &ResolvedAction) -> crate::model::Effect {
    let (agent, broken) = (state.agent(&id("bot")).unwrap(), StaleGrants::new());
    evaluate(&EvaluationInput { state, agent, action, broken: &broken, opinions: &[], now: NOW })
        .conclusion
        .ruled
        .verdict()
}

fn explained(state: &State, action: &ResolvedAction) -> Explanation {
    let (agent, broken) = (state.agent(&id("bot")).unwrap(), StaleGrants::new());
    let case = EvaluationInput { state, agent, action, broken: &broken, opinions: &[], now: NOW };
    evaluate(&case).explanation(&case)
}

fn decided(state: &State, action: &Arc<ResolvedAction>) -> crate::model::Effect {
    let events = state.decide(authorize(u128::MAX, "bot", action), NOW).unwrap();
    events.iter().find_map(Event::decided).unwrap().verdict()
}

/// Compares 80 sets of rules, policies and decisions with 1000 actions each.
#[test]
fn the_strictest_counts_and_explaining_agrees_with_deciding() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut met = [0_u32; 3];
    for set in 0..80 {
        let mut sayings = Sayings::random(&mut numbers);
        let state = sayings.state(&mut numbers);
        for number in 0..1000 {
            let plain = Plain::random(&mut numbers);
            let action = plain.considered();
            let expected = sayings.naive(&plain);
            let told = || format!("set {set}: {plain:?}\n{sayings:#?}");
            assert_eq!(judged(&state, &action), expected, "{}", told());
            // Both paths use one function. Comparing them for every action would be slow.
            if number % 10 == 0 {
                let explained = explained(&state, &action);
                assert_eq!(explained.decision.verdict(), expected, "{}\n{explained}", told());
                assert_eq!(explained.ways_out.is_empty(), expected == Verdict::Allow, "{explained}");
                assert_eq!(decided(&state, &action), expected, "{}", told());
            }
            met[VERDICTS.iter().position(|verdict| *verdict == expected).unwrap()] += 1;
        }
    }
    assert!(met.iter().all(|count| *count > 5_000), "all three were met often: {met:?}");
}

#[test]
fn order_and_duplicates_do_not_matter_to_rules_and_policies() {
    fn turned<T: Clone>(list: &mut Vec<T>) {
        let again = list.clone();
        list.reverse();
        list.extend(again);
    }
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    for _ in 0..40 {
        let mut sayings = Sayings::random(&mut numbers);
        let (first, start) = (sayings.clone(), numbers.0);
        let mut before = first.clone();
        let state = before.state(&mut numbers);
        turned(&mut sayings.rules);
        turned(&mut sayings.rules_of_boss);
        for policies in [&mut sayings.common, &mut sayings.own, &mut sayings.of_boss] {
            turned(&mut policies.forbidden);
            turned(&mut policies.deny_commands);
            turned(&mut policies.approve_commands);
            for paths in [&mut policies.read, &mut policies.write] {
                turned(&mut paths.allow);
                turned(&mut paths.deny);
            }
        }
        let other = sayings.state(&mut Numbers(start));
        for _ in 0..100 {
            let plain = Plain::random(&mut numbers);
            assert_eq!(decided(&state, &plain.considered()), decided(&other, &plain.considered()), "{plain:?}");
        }
    }
}

#[test]
fn replaying_the_events_rebuilds_guards_and_what_was_said() {
    let (mut numbers, mut met) = (Numbers(0x1234_5678_9abc_def1), false);
    for _ in 0..20 {
        let first = settings(|_| ());
        let (mut state, mut events) = (State::new(first.clone()), Vec::new());
        let mut tell = |command| events.extend(state.execute(command, NOW).unwrap_or_default());
        for agent in ["boss", "bot"] {
            tell(register(agent, "you", Kind::Subagent, &["@write:/w"]));
        }
        for number in 0..30_u128 {
            let run = format!("r{}", numbers.below(2)).parse().unwrap();
            let by = person("you");
            let named = numbers.pick(&[None, Some("bash"), Some("write_file")]).map(tool);
            let command = match numbers.below(9) {
                0 => Command::DeclareTools { by, run, tools: TOOLS.map(tool).into() },
                1 => Command::SetPolicies {
                    by,
                    run,
                    tool: named,
                    is_declared: false,
                    policies: Arc::new(random_policies(&mut numbers)),
                },
                2 => {
                    let patch = crate::model::PolicyPatch::writing().deny("b/**").by_default(numbers.pick(&VERDICTS));
                    Command::UpdatePolicy { by, run, patch, is_declared: false, base: "/w".parse().unwrap() }
                }
                3 => begin_run(numbers.pick(&["boss", "bot"]), run),
                4 => {
                    let request = request_id(u128::try_from(numbers.below(30)).unwrap());
                    let answer = if numbers.below(2) == 0 { Answer::allow() } else { Answer::deny() };
                    Command::Answer { request, answer: answer.scope(Scope::Session), modified: None, by }
                }
                5 => Command::Retire { agent: id("boss") },
                _ => authorize(number, numbers.pick(&["boss", "bot"]), &Plain::random(&mut numbers).considered()),
            };
            tell(command);
        }
        let text = serde_json::to_string(&events).unwrap();
        let kept: Vec<Event> = serde_json::from_str(&text).unwrap();
        assert!(replayed(first, &kept) == state, "{events:#?}");
        let kinds: Vec<_> = events.iter().map(Event::kind).collect();
        met |= kinds.contains(&"policy.updated") && kinds.contains(&"run.began");
    }
    assert!(met);
}

#[test]
fn a_glob_is_read_by_the_slow_evaluator_as_by_the_other() {
    let mut numbers = Numbers(77);
    for _ in 0..2000 {
        let (glob, path) = (numbers.pick(&GLOBS), Plain::random(&mut numbers).resource);
        if path.starts_with('/') {
            let compiled = globset::GlobBuilder::new(glob).literal_separator(true).build().unwrap().compile_matcher();
            assert_eq!(about_path(glob, &path), compiled.is_match(&path), "{glob} {path}");
        }
    }
}

/// Checks that a denied program is denied under every path.
#[test]
fn a_no_to_a_program_counts_under_every_path() {
    for pattern in ["git push **", "/usr/bin/git push **"] {
        let pattern: CommandPattern = pattern.parse().unwrap();
        for (words, expected) in
            [("git push origin", true), ("/opt/git push origin", true), ("git pull", false), ("gitk push", false)]
        {
            let words = words.split(' ').map(|word| Said::Is(word.into())).collect();
            assert_eq!(pattern.may_cover(&Spoken::of(words)), expected, "{pattern}");
        }
        let who_knows = Spoken::of([Said::anything(), Said::Is("push".into())].into());
        assert!(pattern.may_cover(&who_knows), "who knows");
    }
}
