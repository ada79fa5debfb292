use std::{fs, os::unix::ffi::OsStringExt, os::unix::fs::symlink};

use super::*;

struct Ground {
    _directory: tempfile::TempDir,
    at: PathBuf,
}

impl Ground {
    fn new() -> Ground {
        let directory = tempfile::tempdir().unwrap();
        let real = crate::fs::real(directory.path().to_str().unwrap()).unwrap();
        let at = real.path().as_path().to_owned();
        fs::create_dir_all(at.join("w")).unwrap();
        Ground { _directory: directory, at }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.at.join(path)
    }

    fn file(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Returns the places that are obeyed through `w/.git`, below this ground.
    fn obeyed(&self) -> Vec<PathBuf> {
        // The configuration of the user who runs the tests plays no role.
        let git = Git { hooks: OnceCell::from(vec![PathBuf::from("of-user")]) };
        let path = self.at("w/.git");
        let kind = FileType::from_raw_mode(rustix::fs::lstat(&path).unwrap().st_mode);
        let found = git.obeyed_through(&path, kind).unwrap();
        let mut found: Vec<_> = found.iter().map(|path| path.strip_prefix(&self.at).unwrap().to_owned()).collect();
        found.sort();
        found
    }
}

#[test]
fn hooks_are_where_git_looks_for_them() {
    let ground = Ground::new();
    ground.file("w/.git/config", "[core]\n\thooksPath = hooked # mine\n[include]\n\tpath = ../more\n");
    ground.file("w/more", "[core] hooksPath = ../beside\n[includeIf \"gitdir:/x/\"]\npath = deeper/config\n");
    ground.file("w/deeper/config", "[core]\nhooksPath = \"third\"\n");
    let expected = ["beside", "w/deeper/config", "w/hooked", "w/more", "w/of-user", "w/third"];
    assert_eq!(ground.obeyed(), expected.map(PathBuf::from));
}

#[test]
fn a_file_names_a_repository_whose_name_is_not_utf_8() {
    let ground = Ground::new();
    let odd = PathBuf::from(std::ffi::OsString::from_vec(b"w/odd\xff".to_vec()));
    fs::create_dir_all(ground.at.join(&odd)).unwrap();
    ground.file("w/.git", b"gitdir: odd\xff\r\n");
    fs::write(ground.at.join(&odd).join("commondir"), "../common\n").unwrap();
    ground.file("w/common/config", "[core]\nhooksPath=h\n");
    let mut expected = vec![odd, "w/common".into(), "w/h".into(), "w/of-user".into()];
    expected.sort();
    assert_eq!(ground.obeyed(), expected);
}

#[test]
fn every_link_to_a_repository_is_obeyed() {
    let ground = Ground::new();
    ground.file("w/real/config", "[core]\nhooksPath = linked/h\n");
    fs::create_dir_all(ground.at("w/hooks")).unwrap();
    symlink("hop", ground.at("w/.git")).unwrap();
    symlink("real", ground.at("w/hop")).unwrap();
    symlink("hooks", ground.at("w/linked")).unwrap();
    let expected = ["w/hooks/h", "w/hop", "w/linked", "w/of-user", "w/real"];
    assert_eq!(ground.obeyed(), expected.map(PathBuf::from));
}

#[test]
fn a_circle_of_files_and_links_ends() {
    let ground = Ground::new();
    ground.file("w/.git/config", "[include]\npath = config\npath = ../a\n");
    ground.file("w/a", "[include]\npath = .git/config\npath = b\n[core]\nhooksPath = loop/x\n");
    symlink("loop", ground.at("w/loop")).unwrap();
    assert_eq!(ground.obeyed(), ["w/a", "w/b", "w/loop", "w/of-user"].map(PathBuf::from));
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_and_a_missing_one_is_none() {
    let ground = Ground::new();
    ground.file("w/.git/config", "[include]\npath = ../missing\n");
    assert_eq!(ground.obeyed(), ["w/missing", "w/of-user"].map(PathBuf::from));
    let long = "n".repeat(300);
    ground.file("w/.git/config", format!("[include]\npath = {long}\n"));
    assert!(Git::default().obeyed_through(&ground.at("w/.git"), FileType::Directory).is_err());
}
