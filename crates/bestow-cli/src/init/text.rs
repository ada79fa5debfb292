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
    format!("{HEAD}{git}{ask}{LEAD}{permissions}{}{HELPER}{}", allowed(survey), tests(survey))
}

/// Returns the rule that allows the commands of the package managers.
fn allowed(survey: &Survey) -> String {
    let commands: Vec<_> = survey.commands().collect();
    if commands.is_empty() {
        return String::new();
    }
    format!(
        "\n# These commands run code of this directory, which the agent may have written. Remove the rule to be asked\n\
         # each time, or run them in the sandbox: `bestow exec`.\n\
         [[agents.lead.rules]]\nverdict = \"allow\"\ncommand = {}\n",
        list(&commands)
    )
}

/// Returns the tests of the file. It does not take effect while one of them fails.
fn tests(survey: &Survey) -> String {
    let command = |pattern: &str, verdict: &str| {
        format!("\n[[test]]\nagent = \"lead\"\ncommand = \"{}\"\nexpect = \"{verdict}\"\n", without_rest(pattern))
    };
    let allowed = survey.commands().next().map_or_else(String::new, |pattern| command(pattern, "allow"));
    let asked = survey.publishing().next().map_or_else(String::new, |pattern| command(pattern, "ask"));
    format!(
        "\n# What you expect of this file. While a test fails, the file does not take effect.\n\
         [[test]]\nagent = \"lead\"\nwrite = \".env\"\nexpect = \"deny\"\n{allowed}{asked}"
    )
}

/// Returns a pattern of commands without its open end.
pub(super) fn without_rest(pattern: &str) -> &str {
    pattern.strip_suffix(" **").unwrap_or(pattern)
}

fn list(all: &[&str]) -> String {
    let quoted: Vec<_> = all.iter().map(|text| format!("\"{text}\"")).collect();
    format!("[{}]", quoted.join(", "))
}
