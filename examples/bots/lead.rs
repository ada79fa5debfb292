//! The lead. It talks with you, instructs the other agents, grants them a part of its permissions, and revokes it.

use std::path::Path;

use bestow::{
    Permission,
    stdio::{FromAgent, GrantPermission, RevokePermission, ToAgent},
};

use super::talk::{Result, Talk};

pub(crate) fn run() -> Result<()> {
    let (hello, mut talk) = Talk::begin()?;
    let wish = talk.told_by(None)?;
    talk.tell(None, "I have two helpers for that; they will ask you for what they lack")?;
    talk.tell(Some("writer"), &wish)?;
    talk.tell(Some("checker"), &wish)?;

    talk.told_by(Some("writer"))?;
    let assets = Path::new(&hello.working_dir).join("assets");
    let assets = Permission::write(assets.to_str().ok_or("a path that is no text")?.parse()?);
    talk.say(&FromAgent::GrantPermission(GrantPermission {
        agent_id: "writer".parse()?,
        about: assets.into(),
        reason: "the logo belongs there".parse()?,
        scope: None,
        request_id: Some("assets".to_owned()),
    }))?;
    let given = talk.answer("assets", |heard| match heard {
        ToAgent::GrantResult(result) => result.grant_ids.first().copied(),
        _ => None,
    })??;
    eprintln!("gave the writer a part of what I hold, as {given}");

    talk.told_by(Some("checker"))?;
    let reason = Some("the images are in place".parse()?);
    talk.say(&FromAgent::RevokePermission(RevokePermission { grant_id: given, reason, request_id: None }))?;
    talk.told_by(Some("writer"))?;
    talk.tell(None, "all is in place; now somebody has to let the checker sign off, in agents.toml")?;

    talk.told_by(Some("checker"))?;
    talk.tell(None, "the site is built, checked and signed off")
}
