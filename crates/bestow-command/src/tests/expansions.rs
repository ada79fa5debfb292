//! Commands in the operands of expansions, where a shell runs them.

use crate::{classifier::Classifier, tier::Tier, values::Shell};

fn tier(line: &str, shell: Shell) -> Tier {
    Classifier::default().in_shell(shell).classify(line).tier
}

/// Each of these lines was seen to run its command in bash.
#[test]
fn a_command_in_the_operand_of_an_expansion_is_seen() {
    let command = "touch PWN";
    let lines = [
        format!("echo ${{PWD%$({command})}}"),
        format!("x=a; y=${{x%$({command})}}; ls"),
        format!("x=a; echo ${{x%`{command}`}}"),
        format!("x=a; echo \"${{x%%$({command})}}\""),
        format!("x=a; echo ${{IFS%$({command})}}"),
        format!("x=a; echo ${{x#$({command})}}"),
        format!("echo \"${{x:-$'\\x24({command})'}}\""),
        format!("x=1; echo \"${{x:+$'\\044({command})'}}\""),
        format!("echo \"$(($'\\x24({command})'))\""),
        format!("x=a; echo ${{x:'$({command})'}}"),
        format!("x=a; echo ${{x:0:'$({command})'}}"),
        format!("x['$({command})']=1; ls"),
        format!("x=a; cat <<E\n${{x:'$({command})'}}\nE"),
        format!("x=a; echo \"${{x^<({command})}}\""),
        format!("x=a; echo \"${{x/a<({command})b/c}}\""),
        format!("x=a; echo \"${{x#<({command})}}\""),
        format!("x=a; echo ${{x%<({command})}}"),
    ];
    for line in lines {
        for shell in [Shell::Unknown, Shell::Bash] {
            assert_ne!(tier(&line, shell), Tier::Safe, "{line}");
        }
    }
}

/// zsh has further forms.
#[test]
fn what_zsh_runs_in_the_operand_of_an_expansion_is_seen() {
    for line in [
        "echo ${x:-*(e:'touch PWN':)}",
        "echo ${x:-=(touch PWN)}",
        "cat ${1:-a(e:'touch PWN':)}",
        "y=${x:-=(touch PWN)}; ls",
        "echo ${PWD:+*(e:'git push':)}",
        "echo \"${x#'}$(touch PWN)'}\"",
        "echo \"${x/a/'$(touch PWN)'}\"",
        "echo \"${x[@]:'$(touch PWN)'}\"",
    ] {
        for shell in [Shell::Unknown, Shell::Zsh] {
            assert_ne!(tier(line, shell), Tier::Safe, "{line}");
        }
    }
}

#[test]
fn ordinary_expansions_stay_safe() {
    for line in [
        "echo ${PWD%/*}",
        "x=a.b; echo ${x%.*} ${x##*.} \"${x//./_}\"",
        "echo \"${USER:-nobody}\" ${x:-'a b'}",
        "x=abc; echo ${x:0:2} ${x: -1}",
        "echo $((1 + 2))",
    ] {
        assert_eq!(tier(line, Shell::Bash), Tier::Safe, "{line}");
    }
}
