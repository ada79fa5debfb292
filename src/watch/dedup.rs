//! Remembers the last content of a file, to suppress duplicate notifications.

/// The last content.
#[derive(Debug)]
pub(super) enum Seen<C, E> {
    /// Content that was parsed.
    Good(C),
    /// Content that was invalid, or a file that could not be read.
    Bad(Option<C>, E),
}

impl<C: PartialEq, E: Clone + PartialEq> Seen<C, E> {
    pub(super) fn new(content: C) -> Seen<C, E> {
        Seen::Good(content)
    }

    /// Returns the current content, unless it was reported already.
    ///
    /// Valid content is parsed once. Invalid content is parsed again each time: its problem may have been outside the
    /// file, for example in a link, and be fixed by now.
    pub(super) fn look<T>(
        &mut self,
        now: Result<C, E>,
        understand: impl FnOnce(&C) -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        let (content, why) = match now {
            Ok(content) if matches!(self, Seen::Good(known) if *known == content) => return None,
            Ok(content) => match understand(&content) {
                Ok(value) => {
                    *self = Seen::Good(content);
                    return Some(Ok(value));
                }
                Err(why) => (Some(content), why),
            },
            Err(why) => (None, why),
        };
        let told = matches!(self, Seen::Bad(known, known_why) if *known == content && *known_why == why);
        *self = Seen::Bad(content, why.clone());
        (!told).then_some(Err(why))
    }
}
