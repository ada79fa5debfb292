//! The expansion of URL patterns by `curl`: `http://{a,b}.com`, `http://[a-c].com`.

/// The limit of addresses that one pattern expands to.
const MOST: usize = 1024;

/// Expands the patterns of an address in front of its path. Returns `None` if there are more than 1024 addresses.
pub(super) fn hosts_written_out(text: &str) -> Option<Vec<String>> {
    let start = text.find("://").map_or(0, |at| at + "://".len());
    written_out_before(text, start, &['/', '?', '#'])
}

/// Expands all patterns of an address or a file name. Returns `None` if there are more than 1024 results.
pub(crate) fn written_out(text: &str) -> Option<Vec<String>> {
    written_out_before(text, 0, &[])
}

/// Expands the patterns between the index and the first of the given ends.
fn written_out_before(text: &str, start: usize, ends: &[char]) -> Option<Vec<String>> {
    if !text.contains(['{', '[']) {
        return Some(vec![text.to_owned()]);
    }
    let mut all = vec![text.get(..start).unwrap_or_default().to_owned()];
    let mut rest = text.get(start..).unwrap_or_default();
    while let Some(c) = rest.chars().next().filter(|c| !ends.contains(c)) {
        let found = match c {
            '{' => alternatives(rest),
            '[' => range(rest),
            _ => None,
        };
        let (parts, length) = found.unwrap_or_else(|| (vec![c.to_string()], c.len_utf8()));
        if all.len() * parts.len() > MOST {
            return None;
        }
        all = all.iter().flat_map(|before| parts.iter().map(move |part| format!("{before}{part}"))).collect();
        rest = rest.get(length..).unwrap_or_default();
    }
    Some(all.iter().map(|before| format!("{before}{rest}")).collect())
}

fn alternatives(rest: &str) -> Option<(Vec<String>, usize)> {
    let end = rest.find('}')?;
    let inside = rest.get(1..end)?;
    Some((inside.split(',').map(str::to_owned).collect(), end + 1))
}

/// Expands `[1-9]`, `[001-100:10]` or `[a-e]`. An IP address in brackets is not a range.
fn range(rest: &str) -> Option<(Vec<String>, usize)> {
    let end = rest.find(']')?;
    let inside = rest.get(1..end)?;
    let (range, _) = inside.split_once(':').unwrap_or((inside, ""));
    let (first, last) = range.split_once('-')?;
    let mut single = (first.chars(), last.chars());
    let parts = match (first.parse::<u32>(), last.parse::<u32>()) {
        (Ok(low), Ok(high)) => {
            let width = first.len();
            let high = high.min(low.saturating_add(MOST as u32));
            (low..=high).map(|number| format!("{number:0width$}")).collect()
        }
        _ => match (single.0.next(), single.0.next(), single.1.next(), single.1.next()) {
            (Some(low), None, Some(high), None) => (low..=high).take(MOST).map(String::from).collect(),
            _ => return None,
        },
    };
    Some((parts, end + 1))
}
