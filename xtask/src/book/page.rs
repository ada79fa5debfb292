//! One page: its headings, its links, and its HTML.

#![allow(clippy::wildcard_enum_match_arm, reason = "a page is read for a few of the many events of Markdown")]

use std::collections::BTreeMap;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use super::{links::Place, summary::Chapter};

/// A page, parsed.
#[derive(Debug)]
pub(super) struct Page {
    events: Vec<Event<'static>>,
    headings: Vec<Heading>,
    /// Anchors that the page sets with HTML of its own: `<a id="x">`.
    own_anchors: Vec<String>,
}

#[derive(Debug)]
struct Heading {
    level: HeadingLevel,
    title: String,
    anchor: String,
}

impl Page {
    /// Reads Markdown as GitHub shows it: with tables, footnotes, strikethrough and task lists.
    pub(super) fn read(text: &str) -> Page {
        let options = Options::ENABLE_TABLES
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_GFM;
        let mut events: Vec<_> = Parser::new_ext(text, options).map(Event::into_static).collect();
        let (mut headings, mut own_anchors) = (Vec::<Heading>::new(), Vec::new());
        let (mut open, mut taken) = (None::<(HeadingLevel, String)>, BTreeMap::<String, usize>::new());
        for event in &events {
            match event {
                Event::Start(Tag::Heading { level, .. }) => open = Some((*level, String::new())),
                Event::Text(text) | Event::Code(text) => {
                    if let Some((_, title)) = &mut open {
                        title.push_str(text);
                    }
                }
                Event::End(TagEnd::Heading(_)) => {
                    let Some((level, title)) = open.take() else { continue };
                    let slug = slug(&title);
                    let before = taken.entry(slug.clone()).or_default();
                    let anchor = if *before == 0 { slug } else { format!("{slug}-{before}") };
                    *before += 1;
                    headings.push(Heading { level, title, anchor });
                }
                Event::Html(html) | Event::InlineHtml(html) => {
                    for attribute in ["id=\"", "name=\""] {
                        let named = html.split(attribute).skip(1).filter_map(|rest| rest.split('"').next());
                        own_anchors.extend(named.map(str::to_owned));
                    }
                }
                _ => {}
            }
        }
        let mut anchors = headings.iter().map(|heading| heading.anchor.clone());
        for event in &mut events {
            if let Event::Start(Tag::Heading { id, .. }) = event {
                *id = anchors.next().map(CowStr::from);
            }
        }
        Page { events, headings, own_anchors }
    }

    /// Returns the first heading.
    fn title(&self) -> &str {
        self.headings.first().map(|heading| heading.title.as_str()).unwrap_or_default()
    }

    /// Returns true if a link may name this part of the page.
    pub(super) fn has_anchor(&self, anchor: &str) -> bool {
        self.headings.iter().any(|heading| heading.anchor == anchor) || self.own_anchors.iter().any(|own| own == anchor)
    }

    /// Returns the targets of all links and pictures, as they are written.
    pub(super) fn links(&self) -> Vec<String> {
        let links = self.events.iter().filter_map(|event| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some(dest_url.to_string()),
            _ => None,
        });
        links.collect()
    }

    /// Returns the HTML, with the target of each link as `rewrite` returns it. It stays if that is none.
    pub(super) fn html(&self, rewrite: &mut impl FnMut(&str) -> Option<String>) -> String {
        let mut is_picture = false;
        let events = self.events.iter().cloned().map(|mut event| {
            match &mut event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    if let Some(new) = rewrite(dest_url) {
                        *dest_url = new.into();
                    }
                }
                // A reader with a script for Mermaid makes a picture of it. Without one its text is readable.
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) if &**language == "mermaid" => {
                    is_picture = true;
                    return Event::Html("<pre class=\"mermaid\">".into());
                }
                Event::End(TagEnd::CodeBlock) if std::mem::take(&mut is_picture) => {
                    return Event::Html("</pre>\n".into());
                }
                _ => {}
            }
            event
        });
        let mut out = String::new();
        html::push_html(&mut out, events);
        // A wide table scrolls by itself, and not with the page.
        out.replace("<table>", "<div class=\"table\"><table>").replace("</table>", "</table></div>")
    }

    /// Returns true if the page has a list of its parts by itself: several links to them above the first part.
    fn lists_its_parts(&self) -> bool {
        let is_part = |event: &&Event<'_>| matches!(event, Event::Start(Tag::Heading { level: HeadingLevel::H2, .. }));
        let above = self.events.iter().take_while(|event| !is_part(event));
        let to_parts =
            |event: &&Event<'_>| matches!(event, Event::Start(Tag::Link { dest_url, .. }) if dest_url.starts_with('#'));
        above.filter(to_parts).count() > 2
    }

    /// Returns the list of the headings below the title; an empty text if there are few, or the page lists them.
    fn contents(&self) -> String {
        let below = || self.headings.iter().filter(|found| matches!(found.level, HeadingLevel::H2 | HeadingLevel::H3));
        if below().count() < 3 || self.lists_its_parts() {
            return String::new();
        }
        let items: String = below()
            .map(|found| {
                format!(
                    "<li class=\"{}\"><a href=\"#{}\">{}</a></li>\n",
                    found.level,
                    found.anchor,
                    escaped(&found.title)
                )
            })
            .collect();
        format!("<nav class=\"page\" aria-label=\"On this page\"><p>On this page</p><ul>\n{items}</ul></nav>\n")
    }
}

/// Returns the anchor of a heading, as GitHub and mdBook make it.
fn slug(title: &str) -> String {
    let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Returns the whole HTML of a page, with the navigation beside it.
pub(super) fn document(page: &Page, place: &Place, chapters: &[Chapter], content: &str) -> String {
    let (top, title) = (place.to_top(), escaped(page.title()));
    let mut list = String::new();
    for chapter in chapters {
        if let Some(part) = &chapter.part {
            let end = if list.is_empty() { "" } else { "</ul>" };
            list += &format!("{end}<p>{}</p><ul>\n", escaped(part));
        }
        if list.is_empty() {
            list += "<ul>\n";
        }
        let here = if chapter.place == *place { " aria-current=\"page\"" } else { "" };
        let (address, name) = (&chapter.place.address, escaped(&chapter.title));
        list += &format!("<li><a href=\"{top}{address}\"{here}>{name}</a></li>\n");
    }
    let at = chapters.iter().position(|chapter| chapter.place == *place);
    let beside = |index: Option<usize>, words: &str| {
        let chapter = index.and_then(|index| chapters.get(index));
        let link = |chapter: &Chapter| {
            format!("<a href=\"{top}{}\">{words} {}</a>\n", chapter.place.address, escaped(&chapter.title))
        };
        chapter.map(link).unwrap_or_default()
    };
    let before = beside(at.and_then(|at| at.checked_sub(1)), "Previous:");
    let after = beside(at.map(|at| at + 1), "Next:");
    let contents = page.contents();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title} - bestow</title>\n\
         <link rel=\"stylesheet\" href=\"{top}book.css\">\n</head>\n<body>\n\
         <nav class=\"book\" aria-label=\"Pages\">\n{list}</ul></nav>\n\
         <main>\n{contents}{content}<footer>{before}{after}</footer>\n</main>\n</body>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_the_anchors_that_links_name() {
        let page = Page::read("# A\n## `[[test]]` and *more*, too\n## B\n## B\n<a id=\"own\"></a>\n");
        for anchor in ["a", "test-and-more-too", "b", "b-1", "own"] {
            assert!(page.has_anchor(anchor), "{anchor}");
        }
        assert!(!page.has_anchor("b-2"));
        assert!(page.html(&mut |_| None).contains("<h2 id=\"b-1\">B</h2>"));
    }

    #[test]
    fn links_are_rewritten_and_pictures_kept() {
        let page = Page::read("[a](x.md) ![b](y.svg) <https://z>\n\n```mermaid\nflowchart LR\n  a --> b\n```\n");
        assert_eq!(page.links(), ["x.md", "y.svg", "https://z"]);
        let html = page.html(&mut |link| link.strip_suffix(".md").map(|name| format!("{name}.html")));
        for part in ["href=\"x.html\"", "src=\"y.svg\"", "<pre class=\"mermaid\">flowchart LR\n  a --&gt; b\n</pre>"] {
            assert!(html.contains(part), "{html}");
        }
    }
}
