//! `cargo xtask book`: the pages of `docs/` as HTML in `target/book`, with navigation, and with every link checked.
//!
//! The navigation is `docs/SUMMARY.md` in the form of mdBook, so that `mdbook build` makes a book of the same pages.

mod links;
mod page;
mod summary;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use super::{
    Outcome, Result,
    workspace::{root, target},
};
use links::{Place, Target};
use page::Page;
use summary::Chapter;

const STYLE: &str = include_str!("book/book.css");

/// Pages of the repository that lie beside `docs/`. mdBook takes no pages from there.
const BESIDE: [(&str, &str); 4] = [
    ("README.md", "What bestow is"),
    ("CONTRIBUTING.md", "Contributing"),
    ("SECURITY.md", "Security policy"),
    ("CHANGELOG.md", "Changes"),
];

/// The end of a name of a page.
const MARKDOWN: &str = "md";

/// Builds the book. A dead link or anchor fails, and so does a page of `docs/` that the navigation does not have.
pub(crate) fn build() -> Result<Outcome> {
    let (root, out) = (root(), target().join("book"));
    let mut chapters = summary::read(&fs::read_to_string(root.join("docs/SUMMARY.md"))?)?;
    chapters.extend(BESIDE.into_iter().enumerate().map(|(index, (file, title))| Chapter {
        part: (index == 0).then(|| "The repository".to_owned()),
        title: title.to_owned(),
        place: Place::of(Path::new(file)),
    }));
    let mut problems = missing(&root, &chapters)?;
    let pages = pages(&root, &chapters)?;
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    let (mut files, mut links) = (BTreeSet::new(), 0);
    for (place, page) in &pages {
        let mut rewrite = |link: &str| {
            links += 1;
            match links::follow(place, link, &pages, &root) {
                Ok(Target::Outside) => None,
                Ok(Target::Page { address }) => Some(address),
                Ok(Target::File { address, file }) => {
                    files.insert(file);
                    Some(address)
                }
                Err(why) => {
                    problems.push(format!("{}: the link to `{link}`: {why}", place.file.display()));
                    None
                }
            }
        };
        let content = page.html(&mut rewrite);
        let html = page::document(page, place, &chapters, &content);
        let file = out.join(&place.address);
        fs::create_dir_all(file.parent().unwrap_or(&out))?;
        fs::write(file, html)?;
    }
    if !problems.is_empty() {
        return Err(problems.join("\n").into());
    }
    fs::write(out.join("book.css"), STYLE)?;
    for file in &files {
        let copy = out.join(links::address_of_file(file));
        fs::create_dir_all(copy.parent().unwrap_or(&out))?;
        fs::copy(root.join(file), copy)?;
    }
    let first = chapters.first().ok_or("docs/SUMMARY.md names no page")?;
    let to_first = format!("<!doctype html><meta http-equiv=\"refresh\" content=\"0; url={}\">\n", first.place.address);
    fs::write(out.join("index.html"), to_first)?;
    let index = out.join("index.html");
    Ok(Outcome::Done(format!("{} pages, {links} links are good: {}", pages.len(), index.display())))
}

/// Reports every page of `docs/` that the navigation does not have.
fn missing(root: &Path, chapters: &[Chapter]) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for entry in fs::read_dir(root.join("docs"))? {
        let name = entry?.file_name();
        let file = Path::new("docs").join(&name);
        let is_page = file.extension().is_some_and(|end| end == MARKDOWN) && name != "SUMMARY.md";
        if is_page && !chapters.iter().any(|chapter| chapter.place.file == file) {
            problems.push(format!("docs/SUMMARY.md: the page {} is missing", file.display()));
        }
    }
    problems.sort();
    Ok(problems)
}

/// Reads the pages of the navigation, and every other Markdown file of the repository to which one of them links.
fn pages(root: &Path, chapters: &[Chapter]) -> Result<BTreeMap<Place, Page>> {
    let mut pages = BTreeMap::new();
    let mut open: Vec<PathBuf> = chapters.iter().map(|chapter| chapter.place.file.clone()).collect();
    while let Some(file) = open.pop() {
        let place = Place::of(&file);
        if pages.contains_key(&place) {
            continue;
        }
        let text = fs::read_to_string(root.join(&file)).map_err(|why| format!("{}: {why}", file.display()))?;
        let page = Page::read(&text);
        let linked = page.links().into_iter().filter_map(|link| links::file(&place, &link));
        open.extend(
            linked.filter(|file| file.extension().is_some_and(|end| end == MARKDOWN) && root.join(file).is_file()),
        );
        pages.insert(place, page);
    }
    Ok(pages)
}
