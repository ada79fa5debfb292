//! The directories in which a part of a line may run.

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

/// The directories in which a line may run. There is at least one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    first: Place,
    others: Vec<Place>,
}

impl Places {
    /// The directory in which the host starts commands, and no other one.
    pub(crate) const START: Places = Places { first: Place::Start, others: Vec::new() };

    /// Creates the directories of a line that may run anywhere.
    pub(crate) fn somewhere() -> Self {
        Places { first: Place::Somewhere, others: Vec::new() }
    }

    /// Changes every directory.
    pub(crate) fn change(&mut self, change: impl Fn(&Place) -> Place) {
        let mut places: Vec<Place> = self.iter().map(change).collect();
        places.dedup();
        self.others = places.split_off(places.len().min(1));
        self.first = places.pop().unwrap_or_default();
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Place> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// Returns true for the directory in which the host starts commands, and no other one.
    pub(crate) fn is_start(&self) -> bool {
        self.first == Place::Start && self.others.is_empty()
    }

    fn contains(&self, place: &Place) -> bool {
        self.first == *place || self.others.contains(place)
    }

    /// Adds the directories of another way through the line.
    pub(crate) fn join(&mut self, other: &Places) {
        for place in other.iter() {
            if 1 + self.others.len() < MAX_PLACES && !self.contains(place) {
                self.others.push(place.clone());
            } else if !self.contains(place) && !self.contains(&Place::Somewhere) {
                self.others.push(Place::Somewhere);
            }
        }
    }
}
