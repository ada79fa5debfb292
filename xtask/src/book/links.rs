//! Links between the pages of the book, and from them to files of the repository.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
};

use super::page::Page;

/// A page: its file in the repository, and its address in the book.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) file: PathBuf,
    pub(super) address: String,
}

impl Place {
    /// Returns the place of a Markdown file. Pages of `docs/` stand at the top of the book.
    pub(super) fn of(file: &Path) -> Place {
        let inner = file.strip_prefix("docs").map_or_else(|_| Path::new("repository").join(file), Path::to_owned);
        Place { file: file.to_owned(), address: inner.with_extension("html").to_string_lossy().into_owned() }
    }

    /// Returns the way from this page to the top of the book: `../` for each directory.
    pub(super) fn to_top(&self) -> String {
        "../".repeat(self.address.matches('/').count())
    }
}

/// The target of a link.
#[derive(Debug, PartialEq)]
pub(super) enum Target {
    /// A place on the network, which is not looked at.
    Outside,
    /// A page of the book, or a part of it.
    Page { address: String },
    /// Another file of the repository, which is copied into the book.
    File { address: String, file: PathBuf },
}

/// Returns the path `link` as seen from `directory`, without `..`. None if it leads out of the repository.
pub(super) fn normal(directory: &Path, link: &str) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in directory.join(link).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir if path.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

/// Returns the file of the repository to which `link` leads. None for a part of the same page, and for other places.
pub(super) fn file(from: &Place, link: &str) -> Option<PathBuf> {
    let path = link.split('#').next().unwrap_or_default();
    let is_file = !path.is_empty() && !is_outside(link);
    normal(from.file.parent().unwrap_or(Path::new("")), path).filter(|_| is_file)
}

fn is_outside(link: &str) -> bool {
    link.contains("://") || link.starts_with("mailto:")
}

/// Returns the address of a file that is copied into the book.
pub(super) fn address_of_file(file: &Path) -> String {
    format!("repository/{}", file.display())
}

/// Follows a link of the page `from`.
///
/// # Errors
///
/// A text when the link leads to nothing.
pub(super) fn follow(from: &Place, link: &str, pages: &BTreeMap<Place, Page>, root: &Path) -> Result<Target, String> {
    if is_outside(link) {
        return Ok(Target::Outside);
    }
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let file = match path {
        "" => from.file.clone(),
        _ => file(from, link).ok_or("it leads out of the repository")?,
    };
    if let Some((place, page)) = pages.get_key_value(&Place::of(&file)) {
        let part = match anchor {
            Some(anchor) if page.has_anchor(anchor) => format!("#{anchor}"),
            Some(anchor) => return Err(format!("{} has no heading `#{anchor}`", file.display())),
            None => String::new(),
        };
        return Ok(Target::Page { address: format!("{}{}{part}", from.to_top(), place.address) });
    }
    if anchor.is_some() {
        return Err(format!("{} is no page, so that it has no headings", file.display()));
    }
    if !root.join(&file).is_file() {
        return Err(format!("there is no file {}", file.display()));
    }
    Ok(Target::File { address: format!("{}{}", from.to_top(), address_of_file(&file)), file })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_pages_and_their_headings_and_to_files() {
        let (paths, readme) = (Place::of(Path::new("docs/paths.md")), Place::of(Path::new("README.md")));
        let pages: BTreeMap<_, _> =
            [(paths.clone(), Page::read("# Paths\n## A `b`, c\n")), (readme.clone(), Page::read("# Top\n"))].into();
        let root = crate::workspace::root();
        let follow = |from: &Place, link: &str| follow(from, link, &pages, &root);
        let page = |address: &str| Ok(Target::Page { address: address.to_owned() });
        assert_eq!(follow(&paths, "../README.md"), page("repository/README.html"));
        assert_eq!(follow(&readme, "docs/paths.md#a-b-c"), page("../paths.html#a-b-c"));
        assert_eq!(follow(&paths, "#a-b-c"), page("paths.html#a-b-c"));
        assert_eq!(follow(&paths, "https://toml.io"), Ok(Target::Outside));
        let file = PathBuf::from("Cargo.toml");
        assert_eq!(
            follow(&paths, "../Cargo.toml"),
            Ok(Target::File { address: "repository/Cargo.toml".to_owned(), file })
        );
        for dead in ["paths.md#b", "#b", "nothing.md", "../nothing", "../../elsewhere", "../Cargo.toml#a", "../docs"] {
            assert!(follow(&paths, dead).is_err(), "{dead}");
        }
    }
}
