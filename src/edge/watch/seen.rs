//! What a file held when somebody looked last, so that the same is not told twice.

/// What was there.
#[derive(Debug)]
pub(super) enum Seen<C, E> {
    /// Something that was understood.
    Good(C),
    /// Something that was not, or nothing that could be read.
    Bad(Option<C>, E),
}

impl<C: PartialEq, E: Clone + PartialEq> Seen<C, E> {
    pub(super) fn new(content: C) -> Seen<C, E> {
        Seen::Good(content)
    }

    /// What is there now, if that has not been told yet.
    ///
    /// Good content is understood once. Bad content is tried again each time: what was wrong may have been beside
    /// the file, as a link is, and be right by now.
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
