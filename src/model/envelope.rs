//! Events in the form for other programs (`sources/002`, "Event classes").
//!
//! An envelope is a view of a recorded event. Names are written in camelCase. Input in snake_case is accepted too. A
//! payload contains the facts as they were recorded, without secrets.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::{
    ActionFacts, AgentId, CallId, Cause, CredentialHolder, Decision, DecisionId, Digest, Event, Grant, GrantId,
    HookCall, Means, Origin, OwnerId, Process, ProcessId, Recorded, Request, RequestId, Resolution, RunId, RuntimeId,
    SavedDecision, SavedDecisionId, Timestamp,
};

/// The value that this version writes to [`Envelope::schema_version`].
const SCHEMA: &str = "bestow-1";

/// One event, with everything that another program needs to order it and to join it with other events.
///
/// ```
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// use bestow::{Engine, InitialGrants, Kind, Profile, Settings, event::Envelope};
/// let engine = Engine::new(Settings::default())?;
/// let mut events = engine.subscribe();
/// let profile = Profile::new("ann".parse()?, "you".parse()?, Kind::Cron, "/tmp".parse()?);
/// engine.register(profile, InitialGrants::nothing()).await?;
/// let envelope = engine.envelope(&events.next().await?);
/// let text = serde_json::to_string(&envelope)?;
/// assert!(text.starts_with(r#"{"type":"agent.registered","eventId":"#));
/// assert_eq!(serde_json::from_str::<Envelope>(&text)?, envelope);
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Envelope {
    /// The kind of the event, as in `permission.evaluated`.
    #[serde(rename = "type")]
    pub kind: Arc<str>,
    /// The unique id of the event.
    #[serde(alias = "event_id")]
    pub event_id: Arc<str>,
    /// The time of the event, as RFC 3339.
    pub timestamp: Timestamp,
    /// The number of the event, one more than that of the event before. A gap means that an event was missed.
    pub sequence: u64,
    /// The version of the format of this envelope and its payload.
    #[serde(alias = "schema_version")]
    pub schema_version: Arc<str>,
    /// The engine that published the event.
    #[serde(alias = "runtime_id")]
    pub runtime_id: RuntimeId,
    /// The means by which the agent acted that caused the event, if they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<Means>,
    /// The ids that the event shares with other events.
    #[serde(flatten)]
    pub ids: Ids,
    /// The facts.
    #[serde(deserialize_with = "camel")]
    pub payload: Value,
    /// The things that the event refers to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<Reference>,
}

/// The ids that one event shares with other events. A missing id does not apply. Ids are never guessed from text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Ids {
    /// The owner of the agent.
    #[serde(default, alias = "owner_id", skip_serializing_if = "Option::is_none")]
    pub owner_id: Option<OwnerId>,
    /// The agent.
    #[serde(default, alias = "agent_id", skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The run of the agent.
    #[serde(default, alias = "run_id", skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The request to a person: the approval action of `sources/002`.
    #[serde(default, alias = "request_id", skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// The grant.
    #[serde(default, alias = "grant_id", skip_serializing_if = "Option::is_none")]
    pub grant_id: Option<GrantId>,
    /// The decision about an action.
    #[serde(default, alias = "decision_id", skip_serializing_if = "Option::is_none")]
    pub decision_id: Option<DecisionId>,
    /// The saved decision of a person about an action.
    #[serde(default, alias = "ruling_id", skip_serializing_if = "Option::is_none")]
    pub ruling_id: Option<SavedDecisionId>,
    /// The background process.
    #[serde(default, alias = "process_id", skip_serializing_if = "Option::is_none")]
    pub process_id: Option<ProcessId>,
    /// The call of a tool, as the host program names it.
    #[serde(default, alias = "tool_call_id", skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<CallId>,
}

/// A thing that an event refers to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Reference {
    /// The kind of the thing: `input` or `updatedInput` (a SHA-256), `rule`, `task`, `argv` (a SHA-256).
    pub kind: Arc<str>,
    /// The id of the thing.
    pub id: Arc<str>,
}

/// The error for an envelope without a known event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an envelope holds an event of this version: {0}")]
pub struct InvalidEnvelope(String);

impl Envelope {
    /// Creates the envelope of `recorded` for the engine `runtime`.
    pub(crate) fn of(recorded: &Recorded, runtime: &RuntimeId) -> Envelope {
        let mut payload = serde_json::to_value(&recorded.event).unwrap_or_default();
        if let Some(payload) = payload.as_object_mut() {
            payload.remove("type");
        }
        let about = About::of(&recorded.event);
        Envelope {
            kind: recorded.event.kind().into(),
            event_id: format!("{runtime}:{}", recorded.sequence).into(),
            timestamp: recorded.at,
            sequence: recorded.sequence,
            schema_version: SCHEMA.into(),
            runtime_id: runtime.clone(),
            via: recorded.via.clone(),
            ids: about.ids,
            payload: renamed(payload, to_camel),
            refs: about.refs,
        }
    }

    /// Returns the event with its number and time, as it was recorded.
    ///
    /// # Errors
    ///
    /// [`InvalidEnvelope`] if the envelope contains no event that this version knows.
    pub fn recorded(&self) -> Result<Recorded, InvalidEnvelope> {
        let mut event = renamed(self.payload.clone(), to_snake);
        if let Some(event) = event.as_object_mut() {
            event.insert("type".into(), Value::from(self.kind.as_ref()));
        }
        let event = serde_json::from_value(event).map_err(|why| InvalidEnvelope(why.to_string()))?;
        Ok(Recorded { sequence: self.sequence, at: self.timestamp, via: self.via.clone(), event })
    }
}

/// The ids and references that the facts of an event contain.
#[derive(Debug, Default)]
struct About {
    ids: Ids,
    refs: Vec<Reference>,
}

impl About {
    fn of(event: &Event) -> About {
        let mut about = About::default();
        match event {
            Event::AgentRegistered { profile, run, .. } => {
                about.ids.owner_id = Some(profile.owner.clone());
                about.agent(&profile.id, Some(run));
            }
            Event::AgentChanged { profile } => {
                about.ids.owner_id = Some(profile.owner.clone());
                about.agent(&profile.id, None);
            }
            Event::RunEnded { agent, run } | Event::RunBegan { agent, run, .. } => about.agent(agent, Some(run)),
            Event::AgentRetired { agent }
            | Event::ModeChanged { agent, .. }
            | Event::RulesChanged { agent, .. }
            | Event::CarrierConnected { agent }
            | Event::CarrierDisconnected { agent }
            | Event::UserActive { agent } => about.agent(agent, None),
            Event::Task(event) => {
                about.ids.agent_id = event.agent().cloned();
                event.task().iter().for_each(|task| about.refer("task", task));
            }
            Event::ToolsDeclared { owner, run, .. }
            | Event::PolicyForAll { owner, run, .. }
            | Event::PolicyUpdated { owner, run, .. } => {
                about.ids.owner_id = Some(owner.clone());
                about.ids.run_id = Some(run.clone());
            }
            Event::ApproverArrived { owner }
            | Event::ApproverLeft { owner }
            | Event::DeclarationsChanged { owner, .. } => about.ids.owner_id = Some(owner.clone()),
            Event::GrantIssued { grant }
            | Event::GrantRepeated { grant }
            | Event::GrantChanged { grant }
            | Event::GrantRevoked { grant, .. }
            | Event::GrantExpired { grant }
            | Event::GrantUsed { grant, .. } => about.grant(grant),
            Event::Requested { request } | Event::Joined { request } | Event::Routed { request, .. } => {
                about.request(request);
            }
            Event::Resolved { resolution, .. } => about.resolution(resolution),
            Event::Evaluated { decision } => about.decision(decision),
            Event::RulingMade { ruling } | Event::RulingUsed { ruling } | Event::RulingEnded { ruling, .. } => {
                about.ruling(ruling);
            }
            Event::SandboxApplied { agent, facts, cause, .. } => {
                about.cause(agent, cause.as_deref());
                about.refer("argv", &facts.argv_digest);
            }
            Event::SandboxEnded { agent, cause, .. } | Event::SandboxViolated { agent, cause, .. } => {
                about.cause(agent, cause.as_deref())
            }
            Event::Process(event) => about.process(event.process()),
            Event::HookStarted { call } | Event::HookFailed { call, .. } => about.hook(call, None),
            Event::HookCompleted { call, updated_input_ref, .. } => about.hook(call, updated_input_ref.as_ref()),
            Event::CredentialChanged { change } => match &change.holder {
                CredentialHolder::Agent { agent } => about.agent(agent, None),
                CredentialHolder::Approver { owner, .. } => about.ids.owner_id = Some(owner.clone()),
                CredentialHolder::Operator => {}
            },
            Event::FactsMerged { family, .. } => about.ids.agent_id = family.clone(),
            Event::Refused { by, .. } => {
                if let super::Actor::Agent(agent) = by {
                    about.agent(agent, None);
                }
            }
            Event::SettingsChanged { .. }
            | Event::ConfigReloaded { .. }
            | Event::ConfigHeldBack { .. }
            | Event::ConfigPolled { .. }
            | Event::ConfigRejected { .. }
            | Event::PeerRefused { .. }
            | Event::WriteKeyed { .. }
            | Event::StoreOpened { .. }
            | Event::StoreFailed { .. } => {}
        }
        about
    }

    fn refer(&mut self, kind: &str, id: impl fmt::Display) {
        self.refs.push(Reference { kind: kind.into(), id: id.to_string().into() });
    }

    fn agent(&mut self, agent: &AgentId, run: Option<&RunId>) {
        self.ids.agent_id = Some(agent.clone());
        self.ids.run_id = run.cloned();
    }

    fn action(&mut self, action: &ActionFacts) {
        self.ids.tool_call_id = action.call.clone();
        self.refer("input", &action.input);
    }

    fn grant(&mut self, grant: &Grant) {
        self.agent(&grant.to, grant.run.as_ref());
        self.ids.grant_id = Some(grant.id);
        if let Origin::Person { request, .. } = &grant.origin {
            self.ids.request_id = *request;
        }
    }

    fn request(&mut self, request: &Request) {
        self.agent(&request.from, Some(&request.run));
        self.ids.owner_id = Some(request.owner.clone());
        self.ids.request_id = Some(request.id);
        request.action.iter().for_each(|action| self.action(action));
    }

    fn resolution(&mut self, resolution: &Resolution) {
        self.agent(&resolution.from, None);
        self.ids.owner_id = Some(resolution.owner.clone());
        self.ids.request_id = Some(resolution.request);
        resolution.action.iter().for_each(|action| self.action(action));
        resolution.updated_input.iter().for_each(|action| self.refer("updatedInput", &action.input));
    }

    fn decision(&mut self, decision: &Decision) {
        self.agent(&decision.agent, Some(&decision.run));
        self.ids.decision_id = decision.id;
        self.ids.request_id = decision.approval_action_id;
        self.ids.ruling_id = decision.used;
        self.action(&decision.action);
        decision.updated_input_ref.iter().for_each(|input| self.refer("updatedInput", input));
        decision.rule_refs.iter().for_each(|rule| self.refer("rule", rule));
    }

    fn ruling(&mut self, ruling: &SavedDecision) {
        self.agent(&ruling.agent, ruling.run.as_ref());
        self.ids.ruling_id = Some(ruling.id);
        self.ids.request_id = ruling.request;
    }

    fn cause(&mut self, agent: &AgentId, cause: Option<&Cause>) {
        self.agent(agent, cause.map(|cause| &cause.run));
        let Some(cause) = cause else { return };
        self.ids.decision_id = Some(cause.decision);
        self.ids.request_id = cause.request;
        self.ids.tool_call_id = cause.call.clone();
    }

    fn process(&mut self, process: &Process) {
        self.cause(&process.agent, process.cause.as_deref());
        self.ids.owner_id = Some(process.owner.clone());
        self.ids.run_id = Some(process.run.clone());
        self.ids.process_id = Some(process.id);
    }

    fn hook(&mut self, call: &HookCall, updated: Option<&Digest>) {
        self.agent(&call.agent, Some(&call.run));
        self.ids.tool_call_id = call.call.clone();
        self.refer("input", call.input);
        updated.iter().for_each(|input| self.refer("updatedInput", input));
    }
}

/// The fields whose inner names are data and are not converted.
const DATA: [&str; 4] = ["agents", "process_limits", "processLimits", "besides"];

/// Converts the names of all fields with `rename`, except names that are data.
fn renamed(value: Value, rename: fn(&str) -> String) -> Value {
    match value {
        Value::Array(list) => list.into_iter().map(|value| renamed(value, rename)).collect(),
        Value::Object(object) => {
            let entry = |(name, value): (String, Value)| {
                let is_data = DATA.contains(&name.as_str());
                let value = match value {
                    Value::Object(data) if is_data => {
                        let inside = |(name, value)| (name, renamed(value, rename));
                        data.into_iter().map(inside).collect::<Map<_, _>>().into()
                    }
                    value @ (Value::Null
                    | Value::Bool(_)
                    | Value::Number(_)
                    | Value::String(_)
                    | Value::Array(_)
                    | Value::Object(_)) => renamed(value, rename),
                };
                (rename(&name), value)
            };
            Value::Object(object.into_iter().map(entry).collect())
        }
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => plain,
    }
}

fn to_camel(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    let mut begins = false;
    for c in name.chars() {
        match c {
            '_' if !camel.is_empty() => begins = true,
            c if begins => {
                camel.push(c.to_ascii_uppercase());
                begins = false;
            }
            c => camel.push(c),
        }
    }
    camel
}

/// Converts the names of all fields of a value to camelCase, the case of all JSON that bestow writes. Names that are
/// data, such as the ids of agents, stay as they are.
///
/// The values of this library serialize in snake_case, as journals hold them. The command line and the protocol convert
/// them with this function.
///
/// ```
/// let line = bestow::event::camel_case(serde_json::json!({ "expires_at": 5, "agents": { "my_agent": {} } }));
/// assert_eq!(line.to_string(), r#"{"agents":{"my_agent":{}},"expiresAt":5}"#);
/// ```
pub fn camel_case(value: Value) -> Value {
    renamed(value, to_camel)
}

fn to_snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

fn camel<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    Value::deserialize(deserializer).map(|payload| renamed(payload, to_camel))
}
