//! Builtins of the shell that only change the shell itself.

use super::{Operands, Spec, question, spec};

pub(super) const SPECS: &[Spec] = &[
    spec("exit return break continue shift times", "").inert().examples(&["exit 1", "shift"], &["exit > f"]),
    spec("wait", "-n -f").examples(&["wait", "wait -n", "wait $!"], &["wait -p x", "wait $(cat f)"]),
    spec("set", "-e -u -x -v -o:errexit|nounset|pipefail|xtrace|noclobber|noglob|verbose -f -C -n +e +u +x")
        .raw(set_options)
        .examples(
            &["set -e", "set -euo pipefail", "set -x", "set -- a b", "set +e"],
            &["set -o history", "set -a", "set -m -o allexport"],
        ),
    spec("set", "").none().lenient().examples(&["set"], &["set | sh"]),
    spec("shopt", "-s -u -q -p -o")
        .asking(quiet_options)
        .examples(&["shopt -s globstar nullglob"], &["shopt -s expand_aliases"]),
    spec("type", "-a -f -p -P -t").inert().examples(&["type -a ls"], &["type --x"]),
    spec("command", "-v -V").asking(looks_up).examples(&["command -v git"], &["command ./x"]),
    spec("hash", "-r -l -t").examples(&["hash -r"], &["hash -p /tmp/x ls", "hash $(cat f)"]),
    spec("jobs dirs", "-l -p -r -s -n -v -c").examples(&["jobs -l"], &["jobs -x id", "jobs $(cat f)"]),
    spec("pushd popd", "-n").operands(Operands::AtMost(1)).inert().examples(&["pushd src", "popd"], &["pushd a b"]),
    spec("umask ulimit", "-S -a -n -u -H -s -c -f").none().examples(&["umask", "ulimit -a"], &["ulimit -n 5"]),
    spec("unset", "-f -v -n").asking(question::plain_names).examples(&["unset FOO"], &["unset 'a[$(id)]'"]),
    spec("read", "-a: -r -s -e -d: -n: -N: -p: -t: -u: -i:").asking(names_read).examples(
        &["read -r line", "read -ra parts"],
        &["read -a 'a[$(id)]'", "read -ra \"$X\"", "read 'a[$(id)]'", "read \"$X\""],
    ),
    spec("mapfile readarray", "-t -d: -n: -s: -O:")
        .asking(question::plain_names)
        .examples(&["mapfile -t lines"], &["mapfile -C id -c 1 x"]),
    spec("getopts", "").raw(question::no_evaluation).examples(&["getopts ab: opt"], &["getopts ab 'x[$(id)]'"]),
    spec("export", "-p")
        .asking(exported)
        .lenient()
        .examples(&["export LANG=C", "export -p"], &["export PATH=/x:$PATH", "export LD_PRELOAD=x", "export FOO=bar"]),
    spec("local declare typeset readonly", "-a -A -r -x -g -p -l -u -f").asking(question::exported).lenient().examples(
        &["local x=1", "declare -A map", "readonly X=5"],
        &["declare -i 'x=a[$(id)]'", "declare 'a[$(id)]=1'", "declare -x PATH=/x", "declare -n r=x"],
    ),
    spec("history", "-#")
        .operands(Operands::AtMost(1))
        .asking(plain_number)
        .examples(&["history", "history 20"], &["history -c", "history -s id", "history -w f"]),
    spec("fc", "-l -n -r -ln -lr -#").asking(fc_lists).examples(&["fc -l"], &["fc -s", "fc"]),
    spec("alias", "-p").none().examples(&["alias"], &["alias ls='rm -rf /'"]),
    spec("help", "-d -m -s").inert().examples(&["help cd"], &["help --x"]),
    spec("trap", "-l -p").none().examples(&["trap -p", "trap - EXIT"], &["trap './x' EXIT"]),
    spec("let", "").raw(plain_arithmetic).examples(&["let i=i+1"], &["let 'a[$(id)]=1'", "let \"$X\""]),
    spec("bind", "-p -P -l -v").none().examples(&["bind -p"], &["bind -x '\"a\": id'"]),
    spec("compgen", "-c -a -b -k -A:")
        .none()
        .examples(&["compgen -c"], &["compgen -C id", "compgen -A $(cat f)", "compgen -W '$(id)'"]),
    spec("xargs", "-0 -n: -r -t -L: -d: -P:").none().examples(&["ls | xargs", "ls | xargs -n1"], &["ls | xargs rm"]),
];

type Answer = Result<(), String>;
use crate::{options::Options, word::Word};

/// Accepts `-e`, `-u`, `-x`, `-o pipefail`, similar options, and positional parameters.
fn set_options(rest: &[Word]) -> Answer {
    const NAMED: &[&str] = &["errexit", "nounset", "pipefail", "xtrace", "noclobber", "noglob", "verbose", "posix"];
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let letters = word.text().strip_prefix(['-', '+']);
        match letters {
            _ if word.text() == "--" => return Ok(()),
            Some(letters)
                if word.is_exact()
                    && !letters.is_empty()
                    && letters.bytes().all(|letter| b"euxvfCEo".contains(&letter)) =>
            {
                if letters.contains('o') && !words.next().is_some_and(|name| NAMED.contains(&name.text())) {
                    return Err("an option that is not on the list".into());
                }
            }
            _ => return Err("an option that is not on the list".into()),
        }
    }
    if rest.is_empty() { Err("it prints every variable and function".into()) } else { Ok(()) }
}

fn quiet_options(options: &Options<'_>) -> Answer {
    const NAMES: &[&str] = &[
        "globstar",
        "nullglob",
        "dotglob",
        "extglob",
        "nocaseglob",
        "nocasematch",
        "failglob",
        "lastpipe",
        "inherit_errexit",
    ];
    if options.operands.iter().all(|name| NAMES.contains(&name.text())) {
        Ok(())
    } else {
        Err("an option that is not on the list".into())
    }
}

fn names_read(options: &Options<'_>) -> Answer {
    let list = options.value("-a").is_none_or(crate::syntax::is_name);
    if list { question::plain_names(options) } else { Err("a name that may be evaluated".into()) }
}

fn looks_up(options: &Options<'_>) -> Answer {
    if options.has("-v -V") { Ok(()) } else { Err("it runs a program".into()) }
}

/// Accepts harmless exports. An exported variable reaches every later program.
fn exported(options: &Options<'_>) -> Answer {
    for operand in &options.operands {
        let Some((name, value)) = operand.text().split_once('=') else { continue };
        let value = operand.with_text(value);
        if crate::walk::is_evaluation_trap(value.text()) {
            return Err("a value that arithmetic would run".into());
        }
        let verdict = crate::judge::variable::judge(name, &value, false);
        if verdict.tier > crate::tier::Tier::Safe {
            return Err(verdict.rule.into_owned());
        }
    }
    Ok(())
}

fn plain_number(options: &Options<'_>) -> Answer {
    let number = |word: &&Word| word.text().bytes().all(|byte| byte.is_ascii_digit());
    if options.operands.iter().all(number) { Ok(()) } else { Err("an operand that is not a number".into()) }
}

fn fc_lists(options: &Options<'_>) -> Answer {
    if options.has("-l -ln -lr") { Ok(()) } else { Err("it runs commands again".into()) }
}

fn plain_arithmetic(rest: &[Word]) -> Answer {
    let plain = |word: &Word| word.is_exact() && !word.text().contains(['[', '$', '`']);
    if rest.iter().all(plain) { Ok(()) } else { Err("an expression that may be evaluated twice".into()) }
}
