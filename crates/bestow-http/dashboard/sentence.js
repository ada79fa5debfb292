/** Events as sentences: what an envelope says, and how it ended. */

import { brief } from "./text.js";

/** @import { Envelope } from "./types.js" */
/** @import { Kind } from "./text.js" */
/** Words of this page, or text that came from elsewhere. @typedef {string | { text: string, kind: Kind }} Piece */
/** @typedef {"" | "ok" | "warn" | "bad" | "accent"} Tone */

/**
 * @typedef {object} Told
 * @property {Envelope} event
 * @property {string} group
 * @property {string} outcome
 * @property {Piece[]} pieces
 * @property {string} words All of it as one text, to search in.
 */

/** The kinds of events, as the person chooses among them. */
export const GROUPS = {
  request: "Requests",
  answer: "Answers",
  decision: "Decisions",
  grant: "Permissions",
  agent: "Agents and runs",
  policy: "Policy",
  task: "Tasks",
  command: "Commands",
  other: "Everything else",
};

/** The outcomes, as the person chooses among them, and their colours. @type {{ [outcome: string]: Tone }} */
export const OUTCOMES = {
  allowed: "ok",
  "in part": "warn",
  asked: "accent",
  confined: "accent",
  denied: "bad",
  blocked: "bad",
  unanswered: "warn",
  failed: "bad",
};

/** @type {{ [name: string]: string }} */
const BY_DECISION = {
  allow: "allowed",
  ask: "asked",
  sandboxed: "confined",
  deny: "denied",
  unavailable: "unanswered",
};
/** @type {{ [name: string]: string }} */
const BY_OUTCOME = {
  granted: "allowed",
  denied: "denied",
  expired: "unanswered",
  cancelled: "unanswered",
  unavailable: "unanswered",
};

/** The most characters of a text that a sentence has. */
const LONGEST = 200;

/**
 * @param {unknown} value
 * @param {Kind} [kind]
 * @returns {{ text: string, kind: Kind }}
 */
const its = (value, kind = "path") => ({ text: typeof value === "string" ? value : JSON.stringify(value ?? ""), kind });

/** @param {any[]} list */
const permissions = (list) => list.flatMap((one, place) => [place > 0 ? ", " : "", its(one.permission ?? one)]);

/** The changes of a credential. @type {{ [change: string]: string }} */
const CHANGES = {
  created: "created",
  rotated: "given a new secret",
  session_opened: "opened as a session",
  revoked: "revoked",
};

/** @type {{ [operation: string]: string }} */
const VERBS = {
  "fs.read": "read",
  "fs.write": "write",
  "fs.exec": "run the file",
  "command.execute": "run",
  network: "reach",
  tool: "call",
};

/** @param {any} action @returns {Piece[]} */
const action = ({ operation, resource }) => [its(resource, operation === "command.execute" ? "command" : "path")];

/** @param {any} of @returns {Piece[]} */
const doing = (of) => [`${VERBS[of.operation] ?? "do"} `, ...action(of)];

/** @param {any} grant */
const held = (grant) => its(grant.right?.permission ?? grant.permission);

/** @param {any} by @returns {Piece} */
function actor(by) {
  if (by === undefined || by === null) return "the engine";
  if (by === "operator") return "the host program";
  return its(by.person?.by ?? by.agent ?? by, "text");
}

/** @param {any} origin @returns {Piece[]} */
function source(origin) {
  if (origin?.agent) return [", passed on by ", its(origin.agent.from)];
  if (origin?.person) return [", given by ", its(origin.person.by, "text")];
  if (origin?.config) return [`, from ${origin.config.file.split("/").at(-1)}:${origin.config.line}`];
  return origin === "operator" ? [", given by the host program"] : [];
}

/** @param {any} ended @returns {Piece[]} */
function ending(ended) {
  if (ended?.revoked) return [", revoked by ", actor(ended.revoked.by)];
  if (ended?.supportLost || ended === "support_lost") return [", because what it depended on ended"];
  if (ended === "config") return [", because its line was removed"];
  return ended?.runEnded ? [", because the run ended"] : [];
}

/** @param {any} decider @returns {Piece[]} */
function decided(decider) {
  if (decider?.person) return [" by ", its(decider.person.by, "text")];
  const causes = new Map([
    ["timeout", " in time"],
    ["asker", ": the agent withdrew it"],
    ["fresh_refusal", ": it was denied a moment ago"],
    ["already_held", ": it held this already"],
    ["nobody_there", ": nobody was there"],
  ]);
  return [causes.get(decider) ?? ""];
}

/** @param {any} request @returns {Piece[]} */
function asked(request) {
  const settled = (request.settled ?? []).map((/** @type {[unknown, string]} */ [permission]) => permission);
  const wanted = permissions([...request.asked, ...settled]);
  const what = request.action ? ["asks to ", ...doing(request.action)] : ["asks for ", ...wanted];
  const isOld = !request.action && request.asked.length === 0;
  return [
    ...what,
    isOld ? ", which needs no new answer" : "",
    ...(request.reason ? [": ", its(request.reason, "text")] : []),
  ];
}

/** Returns the sentence of a request that is asked again. @param {Piece[]} pieces @returns {Piece[]} */
const again = ([first, ...rest]) => [String(first).replace("asks ", "asks again "), ...rest];

/** @param {any} route @returns {Piece[]} */
function routed(route) {
  if (route?.carrier) return ["has a request that ", its(route.carrier), " shows to its user"];
  return [
    route === "approvers"
      ? "has a request that people can see"
      : "has a request that waits. No person was connected at that time",
  ];
}

/** Returns true if a person gave a part of what was asked, and denied the rest. @param {any} resolution */
export const isInPart = ({ outcome, status = outcome, granted = [], scope } = /** @type {any} */ ({})) =>
  status === "denied" && granted.length > 0 && scope !== undefined;

/** @param {any} resolution @returns {Piece[]} */
function answered(resolution) {
  const { outcome, action: asked, updatedInput: changed, granted, refused, decider, feedback } = resolution;
  const verbs = new Map([
    ["granted", "was allowed "],
    ["denied", "was denied "],
    ["expired", "got no answer about "],
    ["cancelled", "asks no more for "],
    ["unavailable", "could ask nobody about "],
  ]);
  const isPart = isInPart(resolution);
  const parts = ["was allowed ", ...permissions(granted), ", and denied ", ...permissions(refused)];
  const what = asked ? action(changed ?? asked) : permissions(outcome === "granted" ? granted : refused);
  return [
    ...(isPart ? parts : [verbs.get(outcome) ?? `${outcome} `, ...what]),
    ...(isPart && asked ? [" for ", ...action(asked)] : []),
    ...(changed ? [", changed from ", ...action(asked)] : []),
    ...decided(decider),
    ...(feedback ? [": ", its(feedback, "text")] : []),
  ];
}

/** @param {any} decision @returns {Piece[]} */
function judged(decision) {
  const verbs = new Map([
    ["allow", "may "],
    ["ask", "has to ask before it may "],
    ["sandboxed", "may, confined, "],
    ["deny", "may not "],
    ["unavailable", "has nobody to ask, so it may not "],
  ]);
  return [verbs.get(decision.decision) ?? `${decision.decision}: `, ...doing(decision.action)];
}

/**
 * What each type of event says: its group, and its sentence after the name of the agent.
 *
 * @type {{ [type: string]: [keyof typeof GROUPS, (payload: any) => Piece[]] }}
 */
const SENTENCES = {
  "permission.requested": ["request", (of) => asked(of.request)],
  "permission.joined": ["request", (of) => again(asked(of.request))],
  "permission.routed": ["request", (of) => routed(of.route)],
  "permission.resolved": ["answer", (of) => answered(of.resolution)],
  "permission.evaluated": ["decision", (of) => judged(of.decision)],
  "permission.refused": [
    "other",
    (of) => ["The engine refused ", its(of.attempt, "text"), " of ", actor(of.by), ": ", its(of.why, "text")],
  ],
  "ruling.made": [
    "answer",
    (of) => [
      `has a saved answer (${of.ruling.verdict}) about `,
      ...action(of.ruling),
      " by ",
      its(of.ruling.by, "text"),
    ],
  ],
  "ruling.used": ["answer", (of) => ["used the answer about ", ...action(of.ruling)]],
  "ruling.ended": [
    "answer",
    (of) => ["has no saved answer any more about ", ...action(of.ruling), ...ending(of.ended)],
  ],
  "grant.issued": ["grant", (of) => ["holds ", held(of.grant), ...source(of.grant.origin)]],
  "grant.repeated": ["grant", (of) => ["was given again what it holds: ", held(of.grant)]],
  "grant.changed": ["grant", (of) => ["holds changed: ", held(of.grant)]],
  "grant.revoked": ["grant", (of) => ["lost ", held(of.grant), ...ending(of.ended)]],
  "grant.expired": ["grant", (of) => ["lost ", held(of.grant), ", because its time is over"]],
  "grant.used": ["grant", (of) => ["used ", held(of.grant), " (once)"]],
  "agent.registered": ["agent", () => ["is new"]],
  "agent.changed": ["agent", () => ["has another description"]],
  "agent.retired": ["agent", () => ["was removed"]],
  "mode.changed": [
    "agent",
    (of) => [`works in the mode ${of.mode} (before: ${of.before})`, ...(of.by ? [", set by ", actor(of.by)] : [])],
  ],
  "run.began": ["agent", () => ["begins a run"]],
  "run.ended": ["agent", () => ["ended its run"]],
  "rules.changed": ["policy", () => ["has new rules"]],
  "config.reloaded": [
    "policy",
    (of) => [`The policy file took effect: ${of.gained.length} permissions more, ${of.lost.length} fewer`],
  ],
  "config.held_back": ["policy", () => ["A change of the policy file waits for a person"]],
  "config.rejected": ["policy", (of) => ["The policy file is not valid: ", its(of.why, "text")]],
  "config.polled": ["policy", (of) => ["Changes of the policy file are noticed late: ", its(of.why, "text")]],
  "config.settings": ["policy", () => ["The settings changed"]],
  "policy.updated": ["policy", (of) => ["The policies of ", its(of.tool), " changed for a run"]],
  "policy.for_all": ["policy", () => ["The policies for further tools of a run changed"]],
  "tools.declared": ["policy", (of) => [`A run has ${of.tools.length} more tools`]],
  "declarations.changed": ["policy", (of) => ["Tools were declared by ", its(of.declarer, "text")]],
  "sandbox.applied": ["command", () => ["started a command in the sandbox"]],
  "sandbox.violation": [
    "command",
    (of) => ["tried what its sandbox forbids: ", its(of.violation?.path ?? of.violation?.host ?? of.violation, "text")],
  ],
  "hook.started": ["other", (of) => ["The hook ", its(of.call.hook, "text"), " is asked"]],
  "hook.completed": ["other", (of) => ["The hook ", its(of.call.hook, "text"), ` answered ${of.verdict ?? "nothing"}`]],
  "hook.failed": ["other", (of) => ["The hook ", its(of.call.hook, "text"), " failed: ", its(of.why, "text")]],
  "task.added": ["task", (of) => ["The task ", its(of.task), " was added or changed"]],
  "task.removed": ["task", (of) => ["The task ", its(of.task), " was removed"]],
  "task.rejected": ["task", (of) => [its(of.file), " is not a task: ", its(of.why, "text")]],
  "task.started": ["task", (of) => ["starts the task ", its(of.task)]],
  "task.finished": ["task", (of) => ["The task ", its(of.task), " ended: ", its(of.end, "text")]],
  "task.skipped": ["task", (of) => ["The task ", its(of.task), " did not run: ", its(of.why, "text")]],
  "task.gate": ["task", (of) => [`${of.runs ? "passes" : "does not pass"} the gate of the task `, its(of.task)]],
  "approver.arrived": ["other", () => ["A person who can answer is here"]],
  "approver.left": ["other", () => ["A person who can answer left"]],
  "user.active": ["other", () => ["has an active user"]],
  "carrier.connected": ["other", () => ["is connected to its user"]],
  "carrier.disconnected": ["other", () => ["lost the connection to its user"]],
  "store.failed": ["other", (of) => ["Storing failed: ", its(of.why, "text")]],
  "facts.merged": ["other", (of) => ["did too much to list it all: ", its(of.last, "text")]],
  "credential.changed": ["other", (of) => ["A credential was ", CHANGES[of.change] ?? its(of.change)]],
  "write.keyed": ["other", () => ["A write has a key, so that it happens once"]],
  "peer.refused": ["other", (of) => ["A process was refused: ", its(of.why, "text")]],
};

/** Returns what an event says. @param {Envelope} event @returns {Told} */
export function tell(event) {
  const known = SENTENCES[event.type];
  const group =
    known?.[0] ?? (event.type.startsWith("process.") ? "command" : event.type.startsWith("task.") ? "task" : "other");
  const pieces = known ? saidSafely(known[1], event) : [event.type];
  const words = pieces.map((piece) => (typeof piece === "string" ? piece : piece.text)).join("");
  return {
    event,
    group,
    outcome: outcomeOf(event),
    pieces,
    words: `${event.agentId ?? ""} ${event.type} ${words}`.toLowerCase(),
  };
}

/**
 * Returns the sentence of an event, or its type if the event of another version lacks a part of it.
 *
 * @param {(payload: any) => Piece[]} say
 * @param {Envelope} event
 */
function saidSafely(say, event) {
  try {
    return say(event.payload);
  } catch {
    return [event.type];
  }
}

/** Returns true if a destructive action was denied. @param {Envelope} event */
export function isBlocked({ type, payload }) {
  const { decision } = /** @type {any} */ (payload);
  return type === "permission.evaluated" && decision?.decision === "deny" && Boolean(decision.action?.destructive);
}

/**
 * Returns true if an event is a step on the way of a request to a person. The request has an event of its own, which
 * says the same and more.
 *
 * @param {Envelope} event
 */
export function isStep({ type, requestId, payload }) {
  const { route, decision } = /** @type {any} */ (payload);
  if (type === "permission.routed") return route?.carrier === undefined;
  return type === "permission.evaluated" && requestId !== undefined && decision?.decision === "ask";
}

/** @param {Envelope} event @returns {string} */
function outcomeOf(event) {
  const { type } = event;
  const of = /** @type {any} */ (event.payload);
  if (isBlocked(event)) return "blocked";
  if (type === "permission.requested" || type === "permission.joined") return "asked";
  if (type === "permission.resolved" && isInPart(of.resolution)) return "in part";
  if (type === "permission.resolved") return BY_OUTCOME[of.resolution?.outcome] ?? "";
  if (type === "permission.evaluated") return BY_DECISION[of.decision?.decision] ?? "";
  if (type === "ruling.made") return of.ruling?.verdict === "deny" ? "denied" : "allowed";
  if (/(refused|violation|skipped)$/.test(type)) return "denied";
  return /(failed|rejected)$/.test(type) ? "failed" : "";
}

/**
 * Returns the sentence of an event as nodes. Most sentences go on after the name of the agent. Some are whole, and the
 * name stands before them.
 *
 * @param {Told} told
 * @param {(id: string) => Node} nameOf
 */
export function sentence({ event: { agentId }, pieces }, nameOf) {
  const [first] = pieces;
  const isWhole = typeof first === "string" && /^[A-Z]/.test(first);
  return [
    agentId !== undefined && [nameOf(agentId), isWhole ? ": " : " "],
    pieces.map((piece) => (typeof piece === "string" ? piece : brief(piece.text, LONGEST, piece.kind))),
  ];
}
