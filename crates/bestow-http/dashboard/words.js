/** Requests in words: who asks for what, and what an answer would mean. */

import { h, isObject } from "./dom.js";
import { isInPart } from "./sentence.js";
import { foreign, isSame, plain } from "./text.js";
import { coming, moment } from "./time.js";

/** @import { Question, ScopeName, Child } from "./types.js" */

/** The text that the server sends if an agent gave no reason. */
const NO_REASON = "no reason given";

/** @type {Record<string, string>} */
const WISHES = {
  "command.execute": "run a command",
  "fs.exec": "run a program",
  "fs.write": "write a file",
  "fs.read": "read a file",
  network: "reach a host",
  events: "use the socket of the engine",
};

/** @type {Record<ScopeName, string>} */
export const SCOPES = { once: "Once", session: "This run", until: "Until …", always: "Always" };

/** What a use does, and what it may do if it is a guess. @type {Record<string, [string, string]>} */
const DOINGS = {
  "fs.read": ["reads", "may read"],
  "fs.write": ["writes", "may write"],
  "fs.exec": ["runs", "may run"],
  "command.execute": ["runs", "may run"],
  network: ["reaches", "may reach"],
};

/** Returns the sentence of a request: who asks for what, and why. @param {Question} question @returns {Child[]} */
export function sentence(question) {
  const hasReason = question.reason !== NO_REASON && question.reason.trim() !== "";
  const why = hasReason
    ? [h("span.lead", ", with the reason "), h("q.reason", foreign(question.reason, { max: 280 }))]
    : [h("span.muted", " and gives no reason")];
  return [who(question), " ", ...wish(question), h("span", why)];
}

/** Returns the sentence without its reason, for places without elements. @param {Question} question */
export function plainSentence({ agentName, agentId, action, permissions }) {
  const what = action ? `wants to ${WISHES[action.operation] ?? "use a tool"}` : `asks for ${count(permissions)}`;
  const isNamed = agentName && !isSame(agentName, agentId);
  return `${isNamed ? `${plain(agentName, 60)} (${plain(agentId, 60)})` : plain(agentId, 60)} ${what}`;
}

/** @param {Question} question */
function who({ agentName, agentId }) {
  const id = h("span.agent-id", foreign(agentId, { max: 80, kind: "path" }));
  if (!agentName || isSame(agentName, agentId)) return h("strong", id);
  return [h("strong", foreign(agentName, { max: 60, kind: "path" })), " ", id];
}

/** @param {Question} question @returns {Child[]} */
function wish({ action, permissions }) {
  if (!action)
    return permissions.length === 1
      ? ["asks to ", ...permissionWords(permissions[0] ?? "")]
      : [`asks for ${count(permissions)}`];
  const known = WISHES[action.operation];
  return known ? [`wants to ${known}`] : ["wants to use the tool ", h("strong", foreign(action.tool, { max: 80 }))];
}

/** Returns what an agent is, and which agents are above it. @param {Question} question */
export function agentWords({ above = [], agentKind = "agent", ownerId }) {
  const name = (/** @type {string} */ id) => foreign(id, { max: 60, kind: "path" });
  const kind = agentKind === "subagent" ? "a subagent" : `a ${agentKind} agent`;
  const chain = above.flatMap((agent, place) => [place === 0 ? ", created by " : ", and that one by ", name(agent)]);
  return [kind, " that works for ", name(ownerId), chain];
}

/** @param {string[]} permissions */
function count(permissions) {
  return permissions.length === 1 ? "a permission" : `${permissions.length} permissions`;
}

/** Returns a permission in words. @param {string} permission @returns {Child[]} */
export function permissionWords(permission) {
  const [kind = "", rest] = permission.split(/:(.*)/s);
  const path = (/** @type {string} */ text) => foreign(text, { max: 300, kind: "path" });
  if (kind === "@network") return ["use the network, and reach any host"];
  if (kind === "@events") return ["use the socket of the engine, in its own name"];
  if (kind === "@tool" && rest) return ["use the tool ", path(rest)];
  if (kind === "@write" && rest) return ["write ", path(rest), rest === "/" ? ", the whole file system" : ""];
  if (kind === "@read" && rest) return ["read ", path(rest), rest === "/" ? ", the whole file system" : ""];
  return [path(permission)];
}

/** Returns one use of an action in words. @param {import("./types.js").Use} use @returns {Child[]} */
export function useWords({ operation, resource, origin, tree }) {
  const isGuess = origin === "word" || origin === "input";
  const [does, mayDo] = DOINGS[operation] ?? ["uses", "may use"];
  const object = resource === "@network" ? "any host" : foreign(resource, { max: 200, kind: "path" });
  return [isGuess ? mayDo : does, " ", object, tree ? " and everything below it" : ""];
}

/** How the engine knows of a use. @type {Record<string, string>} */
const ORIGINS = {
  given: "given by the caller",
  named: "the action names it",
  needed: "the program needs it",
  word: "a guess from a word of the command",
  input: "a guess from the input of the tool",
  declared: "the tool declares it",
};

/** Returns how the engine knows of a use, or null for the action itself. @param {string} origin */
export const originWords = (origin) => (origin === "own" ? null : (ORIGINS[origin] ?? origin));

/** Returns true if nothing but this command has its form. @param {string} command @param {string} form */
const isExact = (command, form) => form === `\`${command}\`` || form.startsWith(`\`${command}\` in \``);

/** Returns what an approval with this scope would mean. @param {Question} question @param {ScopeName} scope */
export function consequence({ action, onlyLacks }, scope) {
  if (!action) {
    return {
      once: "For one use.",
      session: "Until this run of the agent ends.",
      until: "Until the time that you choose.",
      always: "Until somebody revokes it.",
    }[scope];
  }
  if (scope === "once") return "For this action alone, one time.";
  const lasts = {
    session: "until this run ends",
    until: "until the time that you choose",
    always: "until somebody revokes it",
  }[scope];
  if (onlyLacks) return `Gives the permission for everything that the agent does, ${lasts}.`;
  if (action.operation !== "command.execute" || scope === "session") return `Also for equal actions, ${lasts}.`;
  const isOne = action.shape !== undefined && isExact(action.resource, action.shape);
  return isOne ? `For exactly this command, every time, ${lasts}.` : `Also for commands of this form, ${lasts}.`;
}

/**
 * Returns the label of the button that allows.
 *
 * @param {ScopeName} scope
 * @param {Date | null} end
 * @param {number} part
 * @param {number} all
 */
export function allowLabel(scope, end, part, all) {
  const what = part < all ? `Allow ${part} of ${all}` : "Allow";
  const until = end ? `until ${coming(end)}` : "until then";
  return `${what} ${{ once: "once", session: "for this run", until, always: "always" }[scope]}`;
}

/** @type {Record<string, string>} */
const OUTCOMES = {
  granted: "Allowed",
  denied: "Denied",
  expired: "Expired",
  cancelled: "Withdrawn",
  unavailable: "Unavailable",
  unknown: "Ended while the engine was not reached",
};

/**
 * Returns how a request ended, and whose answer it was.
 *
 * @param {import("./types.js").RequestState} request
 * @param {boolean} isMine
 * @returns {Child[]}
 */
export function outcomeWords({ status, resolution }, isMine) {
  const isPart = isInPart({ status, ...resolution });
  const word = isPart ? "Allowed in part" : (OUTCOMES[status] ?? status);
  const scope = status === "granted" && resolution?.scope ? ` ${scopeWords(resolution.scope)}` : "";
  const decider = resolution?.decider ?? "";
  const by = isMine
    ? " by you"
    : decider.startsWith("by ")
      ? [" ", foreign(decider, { max: 120 })]
      : decider && [": ", foreign(decider, { max: 200 })];
  const part = isPart && [" (", foreign(resolution?.granted.join(", ") ?? "", { max: 200, kind: "path" }), ")"];
  return [h("strong", word), part, scope, resolution?.updatedInput !== undefined && ", as changed,", by];
}

/**
 * Returns the object of a request: what was allowed, if a person changed it, and else what was asked for.
 *
 * @param {import("./types.js").RequestState} request
 */
export function objectOf({ question, resolution }) {
  const { action, permissions = [] } = question ?? {};
  const changed = resolution?.updatedInput;
  if (!action) return permissions.join(", ");
  if (changed === undefined) return action.resource;
  if (action.operation !== "command.execute" || !isObject(changed)) return asText(changed);
  const { input } = action;
  const field = isObject(input) && Object.keys(input).find((name) => input[name] === action.resource);
  return asText(field && field in changed ? changed[field] : (changed.resource ?? changed));
}

/** @param {unknown} value */
const asText = (value) => (typeof value === "string" ? value : JSON.stringify(value));

/** @param {string} scope */
function scopeWords(scope) {
  if (scope.startsWith("until ")) return `until ${moment(new Date(scope.slice(6)))}`;
  return { once: "once", session: "for this run", always: "always" }[scope] ?? scope;
}
