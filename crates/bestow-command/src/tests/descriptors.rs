//! Descriptors that are files which are open for reading. `/dev/stderr` and similar names open them for writing.

use crate::{Tier, classify};

#[test]
fn no_output_that_is_a_file_open_for_reading_stores_nothing() {
    for line in [
        "echo hi 2<f >/dev/stderr",
        "cat a 2<f >>/dev/stderr",
        "ls a 2<f &>/dev/stderr",
        "echo hi | tee /dev/stderr 2<f",
        "echo hi | tee /dev/stdout 1<f",
        "echo hi | tee /dev/fd/63 63<f",
        "curl -s https://x.org -o /dev/stderr 2<f",
        "exec 2<f; echo hi >/dev/stderr",
        "exec 3<f; exec 2>&3; echo hi >/dev/stderr",
        "exec 2>&3 3<f; echo hi >/dev/stderr",
        "exec 3<f 2<&3-; echo hi >/dev/stderr",
        "exec {fd}<f; exec 2>&10; echo hi >/dev/stderr",
        "echo hi 2>&0 <f >/dev/stderr",
        "exec 3<&0 2>&3 <f; echo hi >/dev/stderr",
        "f() { echo hi >/dev/stderr; }; f 2<f",
        "f() { echo hi >/dev/stderr; } 2<f; f",
        "g() { exec 2>&3; }; exec 3<f; g; echo hi >/dev/stderr",
        "while read -r l; do echo \"$l\" >/dev/stderr; done < a 2<f",
        "{ echo hi >/dev/stderr; } 2<f",
        "( echo hi >/dev/stderr ) 2<f",
        "if true; then echo hi >/dev/stderr; fi 2<f",
        "bash -c 'echo hi >/dev/stderr' 2<f",
        "bash -c 'exec 2>&3; echo hi >/dev/stderr' 3<f",
        "cat <<E 2<f >/dev/stderr\nhi\nE",
    ] {
        assert!(classify(line).tier > Tier::Safe, "{line}");
    }
}

#[test]
fn other_descriptors_may_be_files_that_are_read() {
    for line in [
        "exec 9< /etc/hostname; cat <&9; exec 9<&-",
        "while read -r l <&3; do echo \"$l\" >/dev/stderr; done 3<a",
        "while read -r -u 3 l; do echo \"$l\"; done 3< <(ls)",
        "ls 2</dev/null >/dev/stderr",
        "ls 3>&1 1>&2 2>&3",
        "ls >/dev/stderr 2>&1",
        "ls 2>&-",
        "cat <a >/dev/stderr",
    ] {
        assert_eq!(classify(line).tier, Tier::Safe, "{line}: {:?}", classify(line).parts);
    }
}
