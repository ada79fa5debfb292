//! `docs/SUMMARY.md`: a list of links, with headings between its parts.

#![allow(clippy::wildcard_enum_match_arm, reason = "a page is read for a few of the many events of Markdown")]

use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};

use super::{
    super::Result,
    links::{Place, normal},
};

/// One page of the navigation.
#[derive(Debug)]
pub(super) struct Chapter {
    /// The heading above the page, if it is the first below it.
    pub(super) part: Option<String>,
    pub(super) title: String,
    pub(super) place: Place,
}

/// Reads the navigation in the order of its pages.
pub(super) fn read(text: &str) -> Result<Vec<Chapter>> {
    let (mut chapters, mut part) = (Vec::<Chapter>::new(), None);
    // The text of the heading or link that is open.
    let (mut title, mut file) = (String::new(), None);
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => title.clear(),
            Event::Start(Tag::Link { dest_url, .. }) => {
                title.clear();
                file = Some(dest_url.to_string());
            }
            Event::Text(text) | Event::Code(text) => title.push_str(&text),
            // The first heading is the title of the list itself.
            Event::End(TagEnd::Heading(HeadingLevel::H1)) if chapters.is_empty() && title == "Summary" => {}
            Event::End(TagEnd::Heading(_)) => part = Some(std::mem::take(&mut title)),
            Event::End(TagEnd::Link) => {
                let file = file.take().unwrap_or_default();
                let file = normal(std::path::Path::new("docs"), &file)
                    .ok_or_else(|| format!("docs/SUMMARY.md: `{file}` lies outside the repository"))?;
                let place = Place::of(&file);
                if chapters.iter().any(|chapter| chapter.place == place) {
                    return Err(format!("docs/SUMMARY.md names {} twice", file.display()).into());
                }
                chapters.push(Chapter { part: part.take(), title: std::mem::take(&mut title), place });
            }
            _ => {}
        }
    }
    Ok(chapters)
}
