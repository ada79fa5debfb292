//! A question that nobody has answered in time, and that is withdrawn.

use bestow::{Agent, request::RequestId};
use tokio::runtime::Handle;

/// Withdraws a request if it is dropped before it is told not to: the one who waits for the answer is gone, and nobody
/// would use an approval.
#[derive(Debug)]
pub(crate) struct Withdrawal {
    agent: Agent,
    request: Option<RequestId>,
}

impl Withdrawal {
    pub(crate) fn of(agent: &Agent, request: RequestId) -> Withdrawal {
        Withdrawal { agent: agent.clone(), request: Some(request) }
    }

    /// Leaves the request as it is.
    pub(crate) fn leave(mut self) {
        self.request = None;
    }
}

impl Drop for Withdrawal {
    fn drop(&mut self) {
        let (Some(request), Ok(runtime)) = (self.request.take(), Handle::try_current()) else { return };
        let agent = self.agent.clone();
        // The request may have ended meanwhile.
        runtime.spawn(async move { drop(agent.cancel(request).await) });
    }
}
