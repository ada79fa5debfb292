//! `GET /v1/config/globs`: the paths that the rules of the policy file cover now.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs,
    sync::Arc,
};

use axum::{Json, extract::State};
use bestow::{
    Profile,
    control::Admin,
    decision::Verdict,
    path::{PathGlob, SanitizedPath},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{identity::Entrance, problem::Problem, v1::sender::Person};

/// The agents whose rules are read.
const AGENTS: usize = 500;

/// The globs that are shown.
const GLOBS: usize = 200;

/// The paths that are shown of one glob.
const SHOWN: usize = 20;

/// The entries of directories that are read for one glob, and for all of them.
const READ: usize = 5_000;
const READ_OF_ALL: usize = 50_000;

/// The rules about paths, and what they cover now.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct GlobList {
    globs: Vec<GlobView>,
}

/// The paths that one rule covers now.
#[derive(Debug, Serialize, ToSchema)]
struct GlobView {
    /// The line of the rule in the policy file.
    line: u32,
    /// The pattern, from the root on.
    glob: String,
    #[schema(value_type = String)]
    verdict: Verdict,
    /// The directory below which was looked: the literal beginning of the pattern, or the working directory of the
    /// agent if the pattern begins with a wildcard.
    below: String,
    /// The first paths. One that ends with `/` is a directory, which is covered with everything in it.
    covers: Vec<String>,
    /// True if there are more, or if the directory is too large to be read as a whole.
    more: bool,
}

/// Returns the paths that the rules of the policy file cover now. Links are not followed: rules are compared with real
/// paths.
#[utoipa::path(
    get, path = "/v1/config/globs", tag = "config",
    responses((status = 200, description = "The rules about paths, and what they cover now.", body = GlobList))
)]
pub(super) async fn globs(
    State(entrance): State<Arc<Entrance>>,
    Person { caller, admin, .. }: Person,
) -> Result<Json<GlobList>, Problem> {
    let protected = entrance.engine().protected()?;
    let look = async move {
        let wanted = wanted(&admin)?;
        let mut left = READ_OF_ALL;
        let view = |((line, glob, below), verdict): ((u32, PathGlob, SanitizedPath), Verdict)| {
            let mut walk = Walk { protected: &protected, left: READ.min(left), covers: Vec::new(), more: false };
            let before = walk.left;
            walk.below(&below, &glob, verdict);
            left = left.saturating_sub(before - walk.left);
            let Walk { covers, more, .. } = walk;
            GlobView { line, glob: glob.to_string(), verdict, below: below.to_string(), covers, more }
        };
        Ok::<_, Problem>(wanted.into_iter().take(GLOBS).map(view).collect())
    };
    Ok(Json(GlobList { globs: entrance.work(&caller, look).await?? }))
}

/// Returns the patterns of the rules, with their lines and the directories below which they are looked for.
fn wanted(admin: &Admin) -> Result<BTreeMap<(u32, PathGlob, SanitizedPath), Verdict>, Problem> {
    let agents = admin.agents()?;
    let mut wanted = BTreeMap::new();
    for profile in agents.iter().filter(|profile| profile.parent.is_none()).take(AGENTS) {
        for rule in admin.state(&profile.id)?.rules {
            if let (Some(glob), None) = (rule.path, rule.of) {
                let below = start(&glob, profile);
                wanted.insert((rule.place.line, glob, below), rule.verdict);
            }
        }
    }
    // A rule that denies `a` also denies `a/**`, and both are in its list.
    let all: BTreeSet<_> = wanted.keys().map(|(line, glob, below)| (*line, glob.to_string(), below.clone())).collect();
    let is_part = |line: &u32, glob: &PathGlob, below: &SanitizedPath| {
        let whole = glob.as_str().strip_suffix("/**");
        whole.is_some_and(|whole| all.contains(&(*line, whole.to_owned(), below.clone())))
    };
    wanted.retain(|(line, glob, below), _| !is_part(line, glob, below));
    Ok(wanted)
}

/// Returns the directory below which the paths of a pattern are. A pattern for every place is looked for where the
/// agent works.
fn start(glob: &PathGlob, profile: &Profile) -> SanitizedPath {
    let literal = glob.start().parse().ok().filter(|start: &SanitizedPath| start.as_str() != "/");
    literal.unwrap_or_else(|| profile.working_dir.clone())
}

/// A walk through directories, the upper ones first.
struct Walk<'a> {
    protected: &'a [SanitizedPath],
    /// The entries that may still be read.
    left: usize,
    covers: Vec<String>,
    more: bool,
}

impl Walk<'_> {
    fn below(&mut self, start: &SanitizedPath, glob: &PathGlob, verdict: Verdict) {
        let covers = glob.test_for(verdict);
        let mut open = VecDeque::from([start.clone()]);
        while let Some(directory) = open.pop_front() {
            for (path, is_directory) in self.entries(&directory) {
                if covers(&path) {
                    self.add(&path, is_directory);
                } else if is_directory {
                    open.push_back(path);
                }
            }
        }
    }

    /// Returns the entries of a directory in their order, without protected ones.
    fn entries(&mut self, directory: &SanitizedPath) -> Vec<(SanitizedPath, bool)> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(directory.as_path()).into_iter().flatten().flatten() {
            let Some(left) = self.left.checked_sub(1) else {
                self.more = true;
                break;
            };
            self.left = left;
            let path = entry.path().to_str().and_then(|path| path.parse::<SanitizedPath>().ok());
            let Some(path) = path.filter(|path| !self.protected.contains(path)) else { continue };
            entries.push((path, entry.file_type().is_ok_and(|kind| kind.is_dir())));
        }
        entries.sort();
        entries
    }

    fn add(&mut self, path: &SanitizedPath, is_directory: bool) {
        if self.covers.len() == SHOWN {
            self.more = true;
        } else {
            self.covers.push(format!("{path}{}", if is_directory { "/" } else { "" }));
        }
    }
}
