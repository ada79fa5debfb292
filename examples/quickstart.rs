//! The quick start of the README. Run it in a directory with an `agents.toml`.

use bestow::{Answer, Engine, Permission, PermissionRequest, grant::PermissionRef};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::open("agents.toml").await?; // follows the file from now on
    let (lead, worker) = (engine.agent("lead")?, engine.agent("worker")?);
    let you = engine.approver("you", "ann", "terminal");

    let ticket = worker.request(PermissionRequest::new(Permission::Network, "to read the latest docs")).await?;
    you.answer(ticket.id(), Answer::allow()).await?; // a person, through whatever surface you build
    println!("{}", ticket.resolution().await); // granted @network (session), by ann (terminal)
    assert!(worker.check(PermissionRef::Network).is_held());

    let given = lead.grant(worker.id(), Permission::Events, "watch what happens").await?;
    assert!(worker.check(PermissionRef::Events).is_held());
    for grant in given {
        lead.revoke(grant, None).await?; // every grant that depends on it ends too
    }
    assert!(!worker.check(PermissionRef::Events).is_held());
    Ok(())
}
