//! Values that copies share.

use std::{collections::BTreeMap, ops::Deref, rc::Rc};

/// A value that its copies share until one of them changes. An empty value takes no memory.
#[derive(Clone, Debug)]
pub(super) struct Shared<T>(Option<Rc<T>>);

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Shared::EMPTY
    }
}

impl<T> Shared<T> {
    pub(super) const EMPTY: Self = Shared(None);
}

/// A value that may be empty.
pub(super) trait Empty: Clone + Default + 'static {
    const EMPTY: &'static Self;
}

impl<T: Clone + 'static> Empty for Vec<T> {
    const EMPTY: &'static Self = &Vec::new();
}

impl<K: Clone + Ord + 'static, V: Clone + 'static> Empty for BTreeMap<K, V> {
    const EMPTY: &'static Self = &BTreeMap::new();
}

impl<T: Empty> Shared<T> {
    pub(super) fn new(value: T) -> Self {
        Shared(Some(Rc::new(value)))
    }

    /// Returns the value of this copy alone.
    pub(super) fn own(&mut self) -> &mut T {
        Rc::make_mut(self.0.get_or_insert_default())
    }

    /// Returns true if neither copy has changed since they were made.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(own), Some(other)) => Rc::ptr_eq(own, other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}

impl<T: Empty> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or(T::EMPTY)
    }
}

impl<T: Empty + PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        self.is(other) || **self == **other
    }
}

impl<T: Empty + Eq> Eq for Shared<T> {}
