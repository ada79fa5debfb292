//! A list that is usually short.

use std::{
    iter::Chain,
    ops::{Deref, DerefMut},
    option, vec,
};

/// A list that takes no memory of its own while it has at most one item.
#[derive(Clone, Debug)]
pub(crate) enum Few<T> {
    One(T),
    Many(Vec<T>),
}

/// The number of items for which a list has room when it gets its second one.
const ROOM: usize = 4;

impl<T> Few<T> {
    pub(crate) fn push(&mut self, item: T) {
        match self {
            Few::Many(items) if items.is_empty() => *self = Few::One(item),
            Few::Many(items) => items.push(item),
            Few::One(_) => {
                let mut items = Vec::with_capacity(ROOM);
                std::mem::take(self).for_each(|first| items.push(first));
                items.push(item);
                *self = Few::Many(items);
            }
        }
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        match self {
            Few::One(item) => std::slice::from_ref(item),
            Few::Many(items) => items,
        }
    }

    pub(crate) fn for_each(self, mut work: impl FnMut(T)) {
        match self {
            Few::One(item) => work(item),
            Few::Many(items) => items.into_iter().for_each(work),
        }
    }

    /// Returns the list with another item in the place of each item.
    pub(crate) fn map<U>(self, mut change: impl FnMut(T) -> U) -> Few<U> {
        match self {
            Few::One(item) => Few::One(change(item)),
            Few::Many(items) => {
                // Items of another size would not fit the memory of these.
                let mut changed = Vec::with_capacity(items.len());
                changed.extend(items.into_iter().map(change));
                Few::Many(changed)
            }
        }
    }

    pub(crate) fn into_vec(self) -> Vec<T> {
        match self {
            Few::One(item) => vec![item],
            Few::Many(items) => items,
        }
    }
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Few::Many(Vec::new())
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T> DerefMut for Few<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Few::One(item) => std::slice::from_mut(item),
            Few::Many(items) => items,
        }
    }
}

impl<T> From<Vec<T>> for Few<T> {
    fn from(items: Vec<T>) -> Self {
        Few::Many(items)
    }
}

impl<T: PartialEq> PartialEq for Few<T> {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl<T: Eq> Eq for Few<T> {}

impl<T> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = Chain<option::IntoIter<T>, vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        let (first, others) = match self {
            Few::One(item) => (Some(item), Vec::new()),
            Few::Many(items) => (None, items),
        };
        first.into_iter().chain(others)
    }
}

impl<'f, T> IntoIterator for &'f Few<T> {
    type Item = &'f T;
    type IntoIter = std::slice::Iter<'f, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.as_slice().iter()
    }
}

impl<T> Extend<T> for Few<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| self.push(item));
    }
}

impl<T> FromIterator<T> for Few<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut items = items.into_iter();
        let Some(first) = items.next() else { return Few::default() };
        let Some(second) = items.next() else { return Few::One(first) };
        let mut all = Vec::with_capacity(ROOM.max(2 + items.size_hint().0));
        all.push(first);
        all.push(second);
        all.extend(items);
        Few::Many(all)
    }
}
