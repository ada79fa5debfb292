/** Pieces of sentences that several views use. */

import { go, h, replace } from "./dom.js";
import { brief, foreign, isSame } from "./text.js";
import { moment } from "./time.js";

/** @import { Child } from "./types.js" */
/** @import { AgentView, Grant } from "./shapes.js" */

/** What each mode means, in a few words. */
export const MODES = new Map([
  ["default", "safe actions run, dangerous ones ask"],
  ["on_request", "the same as default"],
  ["untrusted", "only reads run without a question"],
  ["on_failure", "what would ask runs confined first"],
  ["never", "nobody is asked: a question is a denial"],
  ["plan", "only reads run, everything else is denied"],
  ["bypass", "questions about actions are approved"],
  ["auto", "a hook may approve dangerous actions"],
]);

/** The modes in which fewer actions wait for a person. */
export const WIDE_MODES = ["bypass", "auto"];

const SCOPES = new Map([
  ["once", "once"],
  ["session", "this run"],
  ["always", "always"],
]);

/** @param {string} id */
export const agent = (id) => foreign(id, { kind: "path", max: 60 });

/** Returns the id of an agent as a way to its page. @param {string} id */
export const agentLink = (id) => jump(agent(id), `#/agents/${encodeURIComponent(id)}`);

/** @param {string} text */
export const permission = (text) => foreign(text, { kind: "path", max: 160 });

/** Returns the name of an agent, or its id. @param {AgentView} view */
export function nameOf(view) {
  return view.name === undefined || isSame(view.name, view.id) ? agent(view.id) : brief(view.name, 60);
}

/** Returns a badge. @param {string} text @param {"" | "ok" | "warn" | "bad" | "accent"} [tone] */
export function badge(text, tone = "") {
  return h("span", { class: `badge ${tone}` }, text);
}

/** Returns how long a grant lasts, as a badge. A grant without an end has none. @param {Grant} grant */
export function scopeBadge(grant) {
  if (grant.scope === "always") return null;
  const until = grant.until && moment(new Date(grant.until));
  return badge(until ? `until ${until}` : (SCOPES.get(grant.scope) ?? grant.scope), "accent");
}

/** Returns who gave a grant, as nodes. @param {Grant} grant @returns {(string | Node)[]} */
export function giver({ origin }) {
  switch (origin.kind) {
    case "agent":
      return ["passed on by ", agent(origin.agentId)];
    case "file":
      return ["from ", placeCode(origin.place)];
    case "operator":
      return ["given by the host program"];
    case "person":
      return ["given by ", foreign(origin.by, { max: 60 })];
  }
}

/** Returns a button that looks like text and goes to another place of the page. @param {Child} label @param {string} hash */
export const jump = (label, hash) => h("button.jump", { onclick: () => go(hash) }, label);

/** Returns a place in a file without the directories of the file. @param {string} place */
export function placeCode(place) {
  return h("code", { title: place }, place.slice(place.lastIndexOf("/") + 1));
}

/** Returns the number of the line in a place of the policy file, such as `agents.toml:47`. @param {string} place */
export function lineOf(place) {
  return /:(\d+)$/.exec(place)?.[1] ?? "";
}

/**
 * Returns a number with its noun.
 *
 * @param {number} number
 * @param {string} one
 * @param {string} [many]
 */
export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString()} ${number === 1 ? one : many}`;
}

let choicesMade = 0;

/** What places show, as text. @type {WeakMap<Element, string>} */
const shown = new WeakMap();

/**
 * Fills a place, if it does not show this value yet. What the person opened or chose there stays otherwise.
 *
 * @param {Element} place
 * @param {unknown} value
 * @param {() => import("./dom.js").Child} fill
 */
export function refill(place, value, fill) {
  const text = JSON.stringify(value);
  if (shown.get(place) === text) return;
  shown.set(place, text);
  replace(place, fill());
}

/** Returns a text for a place that is still being filled. */
export function loading() {
  return h("p.muted.loading", { "aria-busy": "true" }, "Loading …");
}

/** Returns a text about something that did not load. @param {unknown} why */
export function failure(why) {
  return h("p.notice.bad", { role: "alert" }, why instanceof Error ? why.message : String(why));
}

/** Returns things with commas between them. @param {Child[]} things @returns {Child[]} */
export const listed = (things) => things.map((thing, place) => [place > 0 && ", ", thing]);

/** Returns permissions with commas between them. @param {string[]} permissions */
export const permissionList = (permissions) => listed(permissions.map(permission));

/** Returns a name with its value, for a list of facts. @param {string} name @param {Child} value */
export const fact = (name, value) => value && h("div", h("dt", name), h("dd", value));

/** Returns what a place says that has nothing to show. @param {string} title @param {Child[]} text */
export const empty = (title, ...text) => h("div.empty", h("h2", title), h("p", text));

/** Returns a button to a line of the policy file, such as `/etc/agents.toml:47`. @param {string} place */
export const placeLink = (place) => jump(placeCode(place), `#/policy/${lineOf(place)}`);

/** The badge of a tier. @param {string} tier */
export const tierBadge = (tier) => badge(tier, tier === "safe" ? "ok" : tier === "destructive" ? "bad" : "warn");

/**
 * Returns a choice of one of a few.
 *
 * @template {string | number} T
 * @param {string} legend
 * @param {readonly (readonly [T, string])[]} choices The values, and their labels.
 * @param {T} chosen
 * @param {(value: T) => unknown} choose
 */
export function segmented(legend, choices, chosen, choose) {
  const name = `choice-${++choicesMade}`;
  const one = (/** @type {readonly [T, string]} */ [value, label]) =>
    h(
      "label",
      h("input", { type: "radio", name, value, checked: value === chosen, onchange: () => choose(value) }),
      label,
    );
  return h("fieldset.segmented", h("legend.unseen", legend), choices.map(one));
}
