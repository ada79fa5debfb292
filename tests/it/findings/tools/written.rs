//! Tests of tools that a file declares: `[[tools]]`.

use bestow::{Policy, action::Operation, command::classify_tool, decision::Verdict};
use serde_json::json;

use super::call;
use crate::{
    config::{Place, one_agent},
    support::{World, id},
};

const DEPLOY: &str = r#"
[[tools]]
name = "deploy"
operation = "tool"
needs = ["@tool:deploy"]
"#;

const SAVE: &str = r#"
[[tools]]
name = "save_page"
operation = "fs.write"
path = "page.path|path"
reads = ["from?"]
content = "page.body?"
"#;

fn with(tools: &str) -> Policy {
    Place::with(&format!("{}{tools}", one_agent(""))).load().unwrap()
}

#[test]
fn a_file_declares_tools_and_they_survive_storage() {
    let tools = with(&format!("{DEPLOY}{SAVE}")).settings.tools;
    let names: Vec<_> = tools.iter().map(ToString::to_string).collect();
    assert_eq!(
        names,
        [
            "`deploy`: tool, needs `@tool:deploy`",
            "`save_page`: fs.write, path `page.path|path`, reads `from?`, content `page.body?`",
        ]
    );
    assert_eq!(tools.get("deploy").unwrap().operation(), Operation::Tool);
    let stored = serde_json::to_string(&tools).unwrap();
    assert_eq!(serde_json::from_str::<bestow::tool::Tools>(&stored).unwrap(), tools);
}

#[tokio::test]
async fn a_tool_of_the_file_goes_before_one_of_the_host_program_and_a_built_in_one() {
    let world = World::new();
    let write = "[[tools]]\nname = \"Write\"\noperation = \"fs.write\"\npath = \"target\"\nneeds = [\"@tool:write\"]\n";
    world.engine.configure(with(write)).await.unwrap();
    let other = bestow::tool::Tool::new("Write".parse().unwrap(), Operation::Read).path("file_path".parse().unwrap());
    world.engine.declare_tools(bestow::tool::Tools::new([other]).unwrap()).unwrap();
    let lead = world.engine.agent(id("lead")).unwrap();
    let explained = lead.explain(&call("Write", &json!({ "target": "a", "file_path": "b" }))).unwrap();
    assert_eq!(&*explained.decision.action.resource, "/work/a");
    assert_eq!(explained.decision.missing, crate::support::tags(&["@write:/work/a", "@tool:write"]));
    assert_eq!(lead.explain(&call("Write", &json!({ "file_path": "b" }))).unwrap().decision.verdict(), Verdict::Deny);
    assert_eq!(classify_tool("Write", &json!({ "file_path": "b" })).tier, bestow::command::Tier::Safe);
}

/// A looser declaration waits for a person, if the file requires confirmation of changes that widen.
#[tokio::test]
async fn what_a_declaration_loosens_waits_for_a_person() {
    let world = World::new();
    let confirming = |tools: &str| {
        let text = format!("[engine]\nconfirm_widening = true\n{}{tools}", one_agent(""));
        Place::with(&text).load().unwrap()
    };
    world.engine.configure(confirming(SAVE)).await.unwrap();
    let stricter = format!("{SAVE}needs = [\"@tool:save\"]\n");
    world.engine.configure(confirming(&stricter)).await.unwrap();
    assert_eq!(world.engine.tools().get("save_page").unwrap().needs().len(), 1, "stricter at once");
    let looser = "[[tools]]\nname = \"save_page\"\noperation = \"fs.read\"\npath = \"x\"\n\
        [[tools]]\nname = \"Bash\"\noperation = \"tool\"\n";
    world.engine.configure(confirming(looser)).await.unwrap();
    let tools = world.engine.tools();
    assert_eq!(tools.get("save_page").unwrap().operation(), Operation::Write, "looser later");
    assert!(tools.get("Bash").is_none(), "a built-in tool, too");
}
