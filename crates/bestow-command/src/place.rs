//! The directories in which a part of a line may run.

use std::rc::Rc;

/// The limit of directories in which a line may run at one point.
const MAX_PLACES: usize = 4;

/// The directory in which relative paths are resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// The directory in which the host starts commands.
    #[default]
    Start,
    /// The directory after `cd` to this text.
    At(String),
    /// An unknown directory.
    Somewhere,
}

/// The directories in which a line may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Places(Rc<Vec<Place>>);

impl Default for Places {
    fn default() -> Self {
        Places(Rc::new(vec![Place::Start]))
    }
}

impl Places {
    /// Creates the directories of a line that may run anywhere.
    pub(crate) fn somewhere() -> Self {
        Places(Rc::new(vec![Place::Somewhere]))
    }

    /// Changes every directory.
    pub(crate) fn change(&mut self, change: impl Fn(&Place) -> Place) {
        let places = Rc::make_mut(&mut self.0);
        places.iter_mut().for_each(|place| *place = change(place));
        places.dedup();
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Place> {
        self.0.iter()
    }

    /// Adds the directories of another way through the line.
    pub(crate) fn join(&mut self, other: &Places) {
        if Rc::ptr_eq(&self.0, &other.0) {
            return;
        }
        let places = Rc::make_mut(&mut self.0);
        for place in other.iter() {
            if places.len() < MAX_PLACES && !places.contains(place) {
                places.push(place.clone());
            } else if !places.contains(place) && !places.contains(&Place::Somewhere) {
                places.push(Place::Somewhere);
            }
        }
    }
}
