//! The directories of the agent for which a line runs. With them, a critical directory counts in every spelling.

use std::borrow::Cow;

use crate::{
    critical_paths::is_whole_directory,
    place::{Place, Places},
    word::{Fragment, Gaps, Word},
};

/// The directories of the agent for which a line runs, as far as somebody knows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The directory in which the line starts. If it is relative, the directory before it is unknown.
    pub start: Option<String>,
    /// The working directory of the agent, as an absolute path. Losing it is as bad as losing the start.
    pub working_dir: Option<String>,
    /// The home directory of the user, as an absolute path.
    pub home: Option<String>,
}

impl Surroundings {
    /// Returns true if nothing is known.
    pub(crate) fn are_unknown(&self) -> bool {
        *self == Surroundings::default()
    }

    /// Returns the directories in which a part of the line may destroy something. A line that starts outside the
    /// working directory is at the place where it starts, as after `cd`. In the working directory, relative paths are
    /// the agent's usual work.
    pub(crate) fn places<'a>(&'a self, places: &'a Places) -> impl Iterator<Item = Cow<'a, Place>> {
        places.iter().flat_map(|place| [Some(Cow::Borrowed(place)), self.outside(place).map(Cow::Owned)]).flatten()
    }

    /// Returns the place of a line that starts outside the working directory.
    fn outside(&self, place: &Place) -> Option<Place> {
        let start = self.start.as_ref().filter(|_| self.start != self.working_dir)?;
        match place {
            Place::Start => Some(Place::At(start.clone())),
            Place::At(base) if !base.is_rooted() => Some(Place::At(format!("{start}/{base}"))),
            Place::At(_) | Place::Somewhere => None,
        }
    }

    /// Returns the words with `.` and `~` for each spelling of a critical directory. Returns none if no word is one.
    pub(crate) fn shortened(&self, words: &[Word], place: &Place) -> Option<Vec<Word>> {
        let mut is_changed = false;
        let shortened = words.iter().map(|word| match self.short_for(word.text(), place) {
            Some(short) => {
                is_changed = true;
                match short {
                    Short::Here => word.with_text("."),
                    Short::Home => word.partly(Fragment::Home),
                }
            }
            None => word.clone(),
        });
        let shortened = shortened.collect();
        is_changed.then_some(shortened)
    }

    fn short_for(&self, text: &str, place: &Place) -> Option<Short> {
        if text.is_empty() || text.starts_with('-') || !text.contains('/') && *place == Place::Start {
            return None;
        }
        let path = self.absolute(text, place)?;
        let is_whole = |directory: &String| directory.starts_with('/') && is_whole_directory(&path, directory);
        if self.start.iter().chain(&self.working_dir).any(is_whole) {
            return Some(Short::Here);
        }
        self.home.iter().any(is_whole).then_some(Short::Home)
    }

    /// Returns the absolute path of a word.
    fn absolute(&self, text: &str, place: &Place) -> Option<String> {
        if let Some(rest) = text.after_home() {
            return Some(format!("{}{rest}", self.home.as_ref()?));
        }
        if text.starts_with('/') {
            return Some(text.to_owned());
        }
        match place {
            Place::Start => Some(format!("{}/{text}", self.start.as_ref()?)),
            Place::At(base) => Some(format!("{}/{text}", self.absolute(base, &Place::Start)?)),
            Place::Somewhere => None,
        }
    }
}

/// The short name of a critical directory.
enum Short {
    Here,
    Home,
}
