//! Random rules, and a slow, obvious evaluator to compare with the engine.

use std::sync::Arc;

use bestow::{
    Action, Agent,
    action::Operation,
    decision::Verdict,
    grant::Place,
    policy::{AgentPolicy, Rule},
};
use proptest::prelude::*;

use crate::support::{World, futures_now, id, policy, settings};

const PATTERNS: [&str; 8] = ["/a/**", "/**/b", "/a/*", "/a/b", "/**", "/*/c/*", "/b/?", "/{a,b}/c"];
const COMMANDS: [&str; 6] = ["git push", "git push **", "git *", "npm test", "npm **", "ls *"];
const TOOLS: [&str; 3] = ["write", "bash", "editor"];

/// Generates a rule from few words, so that many rules match one action.
pub(crate) fn rule() -> impl Strategy<Value = Rule> {
    let verdict = prop::sample::select(vec![Verdict::Allow, Verdict::Ask, Verdict::Deny]);
    let tool = prop::option::weighted(0.3, prop::sample::select(TOOLS.to_vec()));
    let path = prop::sample::select(PATTERNS.to_vec()).prop_map(|path| (None, Some(path), None));
    let file = prop::sample::select(vec![Operation::Read, Operation::Write]);
    let on = (file, prop::sample::select(PATTERNS.to_vec())).prop_map(|(file, path)| (Some(file), Some(path), None));
    let command = prop::sample::select(COMMANDS.to_vec()).prop_map(|command| (None, None, Some(command)));
    let plain = prop::sample::select(vec![Operation::Read, Operation::Command, Operation::Network])
        .prop_map(|operation| (Some(operation), None, None));
    let conditions = prop_oneof![3 => path, 3 => on, 3 => command, 1 => plain];
    (verdict, tool, conditions, 1..1000_u32).prop_map(|(verdict, tool, (operation, path, command), line)| Rule {
        verdict,
        tool: tool.map(|tool| tool.parse().unwrap()),
        operation,
        path: path.map(|path| path.to_owned().try_into().unwrap()),
        command: command.map(|command| command.parse().unwrap()),
        shape: None,
        cwd: None,
        children: false,
        why: None,
        place: Place { file: "agents.toml".into(), line },
    })
}

pub(crate) fn rules() -> impl Strategy<Value = Vec<Rule>> {
    prop::collection::vec(rule(), 0..12)
}

/// An action, kept in its parts for the evaluator.
#[derive(Clone, Debug)]
pub(crate) struct CommandFingerprint {
    operation: Operation,
    resource: String,
    tool: &'static str,
}

impl CommandFingerprint {
    pub(crate) fn action(&self) -> Action {
        Action::new(self.operation, &self.resource).by_tool(self.tool.parse().unwrap())
    }
}

/// Returns all actions from few words: reads and writes of paths, commands, hosts, by three tools.
pub(crate) fn doings() -> Vec<CommandFingerprint> {
    let names = ["a", "b", "c"];
    let one: Vec<_> = names.iter().map(|name| format!("/{name}")).collect();
    let deeper = |paths: &[String]| -> Vec<String> {
        paths.iter().flat_map(|path| names.map(|name| format!("{path}/{name}"))).collect()
    };
    let (two, three) = (deeper(&one), deeper(&deeper(&one)));
    let paths: Vec<_> = one.into_iter().chain(two).chain(three.clone()).chain(deeper(&three)).collect();
    let of_paths = [Operation::Read, Operation::Write]
        .into_iter()
        .flat_map(|operation| paths.iter().map(move |path| (operation, path.clone())));
    let words = ["git push", "git push origin", "git log", "npm test", "npm run x", "ls", "ls x", "make"];
    let commands = words.map(|line| (Operation::Command, line.to_owned()));
    let hosts = ["example.com", "a"].map(|host| (Operation::Network, host.to_owned()));
    let all: Vec<_> = of_paths.chain(commands).chain(hosts).collect();
    let by = |tool: &'static str| {
        all.iter().map(move |(operation, resource)| CommandFingerprint {
            operation: *operation,
            resource: resource.clone(),
            tool,
        })
    };
    TOOLS.into_iter().flat_map(by).collect()
}

/// Returns an agent that may write below `/a`, bound by `rules`.
pub(crate) fn bound_by(world: &World, rules: &[Rule]) -> Agent {
    let mut file = policy(settings(|_| {}), &[("lead", "you", &["@write:/a", "@read:/b"])]);
    file.agents.values_mut().for_each(|agent: &mut AgentPolicy| agent.rules = Arc::from(rules));
    futures_now(world.engine.configure(file)).unwrap();
    world.engine.agent(id("lead")).unwrap()
}

/// Returns true if all conditions of `rule` are met.
pub(crate) fn speaks(rule: &Rule, doing: &CommandFingerprint) -> bool {
    let path = || doing.resource.strip_prefix('/').map(|path| path.split('/').collect::<Vec<_>>());
    let file = matches!(doing.operation, Operation::Read | Operation::Write);
    rule.tool.as_ref().is_none_or(|tool| tool.as_str() == doing.tool)
        && rule.operation.is_none_or(|operation| operation == doing.operation)
        && rule.path.as_ref().is_none_or(|glob| {
            let pattern: Vec<_> = glob.as_str().split('/').skip(1).collect();
            file && path().is_some_and(|path| is_like(&pattern, &path))
        })
        && rule.command.as_ref().is_none_or(|pattern| {
            let pattern: Vec<_> = pattern.as_str().split(' ').collect();
            let words: Vec<_> = doing.resource.split(' ').collect();
            // A pattern without a wildcard that denies or asks is about any further words, too.
            let is_open = rule.verdict > Verdict::Allow && !pattern.iter().any(|word| word.contains('*'));
            let is_said = is_said_as(&pattern, &words) || is_open && words.starts_with(&pattern);
            doing.operation == Operation::Command && is_said
        })
}

/// Returns the further uses of a command line, computed independently: the operation, the path if there is one, and
/// true if the use is certain.
pub(crate) fn further(doing: &CommandFingerprint) -> Vec<(Operation, Option<String>, bool)> {
    let words: Vec<_> = doing.resource.split(' ').collect();
    match (doing.operation, words.as_slice()) {
        // These read the directory in which they run.
        (Operation::Command, ["ls"] | ["git", "log"]) => vec![(Operation::Read, Some("/ws".to_owned()), true)],
        (Operation::Command, ["ls", names @ ..]) => {
            names.iter().map(|name| (Operation::Read, Some(format!("/ws/{name}")), true)).collect()
        }
        // A repository may also be a directory. The other words are names of subcommands and scripts, and no paths.
        (Operation::Command, ["git", "push", repositories @ ..]) => {
            let may_be = |name: &&str| (Operation::Read, Some(format!("/ws/{name}")), false);
            repositories.iter().map(may_be).chain([(Operation::Network, None, true)]).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns true if a denial or a question of `rule` matches a further use.
fn speaks_on_the_way(rule: &Rule, doing: &CommandFingerprint) -> bool {
    let tool = rule.tool.as_ref().is_none_or(|tool| tool.as_str() == doing.tool);
    let about = |(operation, path, certain): (Operation, Option<String>, bool)| {
        let way = rule.operation.is_none_or(|of_rule| of_rule == operation);
        let there = match (&rule.path, path) {
            (Some(glob), Some(path)) => {
                let pattern: Vec<_> = glob.as_str().split('/').skip(1).collect();
                is_like(&pattern, &path.split('/').skip(1).collect::<Vec<_>>())
            }
            (Some(_), None) => false,
            (None, _) => certain,
        };
        way && there
    };
    tool && rule.command.is_none() && further(doing).into_iter().any(about)
}

fn is_like(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        // The pattern matches paths below, never the directory itself.
        (["**"], rest) => !rest.is_empty(),
        (["**", rest @ ..], path) => (0..=path.len()).any(|skip| is_like(rest, &path[skip..])),
        ([first, pattern @ ..], [name, path @ ..]) => {
            let same = match *first {
                "*" => true,
                "?" => name.len() == 1,
                "{a,b}" => ["a", "b"].contains(name),
                literal => literal == *name,
            };
            same && is_like(pattern, path)
        }
        _ => false,
    }
}

fn is_said_as(pattern: &[&str], words: &[&str]) -> bool {
    match (pattern, words) {
        ([], []) | (["**"], _) => true,
        ([first, pattern @ ..], [word, words @ ..]) => (*first == "*" || first == word) && is_said_as(pattern, words),
        _ => false,
    }
}

/// Returns the verdict by the order of strength, computed independently: denial, missing permission, question,
/// approval, tier.
fn naive(rules: &[Rule], doing: &CommandFingerprint) -> Verdict {
    let said = |verdict| {
        let on_the_way = |rule: &Rule| verdict > Verdict::Allow && speaks_on_the_way(rule, doing);
        rules.iter().any(|rule| rule.verdict == verdict && (speaks(rule, doing) || on_the_way(rule)))
    };
    let below = |root: &str| doing.resource == root || doing.resource.starts_with(&format!("{root}/"));
    let held = match doing.operation {
        Operation::Read => below("/a") || below("/b"),
        Operation::Write => below("/a"),
        Operation::Network => false,
        // The agent holds none of the permissions that these use.
        _ => !further(doing).iter().any(|(.., certain)| *certain),
    };
    let safe = doing.operation != Operation::Command || ["ls", "ls x", "git log"].contains(&&*doing.resource);
    if said(Verdict::Deny) {
        Verdict::Deny
    } else if !held || said(Verdict::Ask) {
        Verdict::Ask
    } else if said(Verdict::Allow) || safe {
        Verdict::Allow
    } else {
        Verdict::Ask
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::support::cases(200)))]

    #[test]
    fn the_strictest_rule_wins_as_a_naive_evaluator_says_and_explaining_agrees_with_deciding(rules in rules()) {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
            let world = World::new();
            let lead = bound_by(&world, &rules);
            for (number, doing) in doings().into_iter().enumerate() {
                let action = doing.action();
                let explanation = lead.explain(&action).unwrap();
                prop_assert_eq!(explanation.decision.verdict(), naive(&rules, &doing), "{:?}\n{}", doing, explanation);
                // A pending request would change the next results.
                if number % 16 == 0 && explanation.decision.verdict() != Verdict::Ask {
                    let authorized = futures_now(lead.authorize(action)).unwrap();
                    prop_assert_eq!(&authorized.decision().decision_reason, &explanation.decision.decision_reason);
                    prop_assert_eq!(authorized.decision().verdict(), explanation.decision.verdict());
                }
                prop_assert_eq!(explanation.ways_out.is_empty(), explanation.decision.verdict() == Verdict::Allow);
            }
            Ok(())
        })?;
    }
}

#[test]
fn there_are_enough_doings() {
    assert!(doings().len() > 700, "{}", doings().len());
}
