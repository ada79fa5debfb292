//! The limits within which the calls of one client work.

use std::{any::Any, fmt, pin::Pin};

use bestow::async_trait;

/// Work of the engine for one call. It may read the disk.
pub type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A place for a call that waits. Dropping it frees the place.
pub type Place = Box<dyn Any + Send + Sync>;

/// The limits within which the calls of one client work.
#[async_trait]
pub trait Gate: fmt::Debug + Send + Sync {
    /// Carries out the work of a call, when it is the turn of the client.
    ///
    /// # Errors
    ///
    /// The reason why the client may not call any more, or why there is no turn for it.
    async fn work(&self, work: Work) -> Result<(), String>;

    /// Takes a place for a call that waits for a person. Without one, the call is answered at once.
    fn place_to_wait(&self) -> Option<Place>;

    /// Checks that the client may still receive answers.
    ///
    /// # Errors
    ///
    /// The reason why it may not.
    fn admits(&self) -> Result<(), String>;
}

/// The gate of a client that is alone with its server.
#[derive(Debug)]
pub(crate) struct Alone;

#[async_trait]
impl Gate for Alone {
    async fn work(&self, work: Work) -> Result<(), String> {
        work.await;
        Ok(())
    }

    fn place_to_wait(&self) -> Option<Place> {
        Some(Box::new(()))
    }

    fn admits(&self) -> Result<(), String> {
        Ok(())
    }
}
