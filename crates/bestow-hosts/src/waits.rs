//! A question that nobody has answered in time, and that is withdrawn.

use bestow::{Agent, action::Authorization, request::RequestId};
use tokio::runtime::Handle;

use crate::call::Unanswered;

/// Withdraws a request if it is dropped before it is told not to: the one who waits for the answer is gone, and nobody
/// would use an approval.
#[derive(Debug)]
pub struct Withdrawal {
    agent: Agent,
    request: Option<RequestId>,
}

impl Withdrawal {
    pub(crate) fn of(agent: &Agent, request: RequestId) -> Withdrawal {
        Withdrawal { agent: agent.clone(), request: Some(request) }
    }

    /// Returns the withdrawal of the request that an authorization has opened, if it is to be withdrawn unanswered.
    pub fn of_asked(agent: &Agent, authorized: &Authorization, unanswered: Unanswered) -> Option<Withdrawal> {
        let Authorization::Asked(_, ticket) = authorized else { return None };
        (unanswered == Unanswered::Withdraw).then(|| Withdrawal::of(agent, ticket.id()))
    }

    /// Leaves the request as it is.
    pub fn leave(mut self) {
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
