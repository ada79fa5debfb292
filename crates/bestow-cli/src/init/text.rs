//! The text of a first policy file.

use super::survey::Survey;

const HEAD: &str = r#"# The agents that work in this directory, and what they may do. Written by `bestow init`.
#
# An agent holds no permission that is not written here. It requests what it lacks from a person.
# After a change: `bestow check-config`. Every key with its default: docs/agents-toml.md.

[engine]
# No grant reaches these paths. This file, and keys and passwords in their usual places, are protected as well.
protected = [".env"]

[defaults]
# The owner of the agents. Agents of different owners do not see each other.
owner = "you"
# The directory where commands start. A relative path is relative to the directory of this file.
working_dir = "."

# A rule allows, asks or denies, whatever the permissions are. The strictest rule counts.
[[defaults.rules]]
verdict = "deny"
operation = ["fs.read", "fs.write"]
# All but the templates: .env.example, .env.sample, .env.template.
path = ["**/.env", "**/.env.{[!est]*,e[!x]*,s[!a]*,t[!e]*,te[!m]*}"]
why = "secrets stay where they are"
match = [".env", "app/.env.local", ".env.test", ".env.staging"]
not_match = ["environment.md", ".env.example", ".env.sample", ".env.template"]
"#;

const GIT: &str = r#"
[[defaults.rules]]
verdict = "deny"
operation = "fs.write"
path = ".git"
why = "git writes its own records"
"#;

const LEAD: &str = r#"
# The foreground agent talks to you. Requests of the other agents reach you through it.
[agents.lead]
kind = "foreground"
# It may write these, and grant them to other agents. The directory itself cannot be among them, because this file is in
# it and no agent may write this file. Add "@network" for access to every host.
"#;

const HELPER: &str = r#"
# A background agent. It reads, and requests everything else: from you, or from `lead`.
[agents.helper]
kind = "subagent"
"#;

/// Returns the text of the policy file for a directory.
pub(super) fn policy(survey: &Survey) -> String {
    let git = if survey.has_git { GIT } else { "" };
    let publishing: Vec<_> = survey.publishing().collect();
    let ask = if publishing.is_empty() {
        String::new()
    } else {
        let why = "a person decides what leaves this machine";
        format!("\n[[defaults.rules]]\nverdict = \"ask\"\ncommand = {}\nwhy = \"{why}\"\n", list(&publishing))
    };
    let writable: String = survey.writable.iter().map(|name| format!("  \"@write:{name}\",\n")).collect();
    let permissions = format!("permissions = [\n{writable}]\n");
    format!("{HEAD}{git}{ask}{LEAD}{permissions}{}{HELPER}{}", code(survey), tests(survey))
}

/// Returns the remark about commands that run code of the directory. No rule allows them: the agent may have written
/// that code, and nothing would confine it.
fn code(survey: &Survey) -> String {
    survey.test().map_or_else(String::new, |command| {
        format!(
            "\n# A command that runs code of this directory, such as `{command}`, asks each time: `lead` may have \
             written that\n# code. In the sandbox it can do no more than `lead` may, so it runs without a question:\n# \
             `bestow exec --agent lead --grant @write:DIRECTORY -- {command}`.\n"
        )
    })
}

/// Returns the tests of the file. It does not take effect while one of them fails.
fn tests(survey: &Survey) -> String {
    let command = |pattern: &str, verdict: &str| {
        format!("\n[[test]]\nagent = \"lead\"\ncommand = \"{}\"\nexpect = \"{verdict}\"\n", without_rest(pattern))
    };
    let asked = survey.test().into_iter().chain(survey.publishing().next());
    let asked: String = asked.map(|pattern| command(pattern, "ask")).collect();
    format!(
        "\n# What you expect of this file. While a test fails, the file does not take effect.\n\
         [[test]]\nagent = \"lead\"\nwrite = \".env\"\nexpect = \"deny\"\n{asked}"
    )
}

/// Returns a pattern of commands without its open end.
fn without_rest(pattern: &str) -> &str {
    pattern.strip_suffix(" **").unwrap_or(pattern)
}

fn list(all: &[&str]) -> String {
    let quoted: Vec<_> = all.iter().map(|text| format!("\"{text}\"")).collect();
    format!("[{}]", quoted.join(", "))
}
