/** What a request says, as parts of a card. */

import { allParts, commandLine, judgement } from "./command.js";
import { block, content } from "./content.js";
import { h } from "./dom.js";
import { listed, tierBadge } from "./say.js";
import { firstRows, foreign } from "./text.js";
import { ago, duration, exact, live, now } from "./time.js";
import { agentWords, originWords, useWords } from "./words.js";

/** @import { Question, Child } from "./types.js" */

/** The time before the end at which a request ends soon, in milliseconds. */
const SOON = 60_000;
/** The permission for the network, which no host limits. */
const ANY = "@network";
/** The uses that are listed before the others are folded away. */
const LISTED = 4;

/** Returns the time for which a request waits, and its end. @param {Question} question */
export function times({ since, expiresAt, action }) {
  const left = live(expiresAt, (element) => {
    const rest = Date.parse(expiresAt) - now();
    element.classList.toggle("soon", rest < SOON);
    return rest > 0 ? `${duration(rest)} left` : "expired";
  });
  left.title = `Expires ${exact(expiresAt)}`;
  return h("div.clock", action && tierBadge(action.destructive ? "destructive" : action.tier), ago(since), left);
}

/**
 * Returns what the agent wants to do: the object, always, then what it writes or sends, and how it was judged. The
 * object of a command has the whole input in it.
 *
 * @param {Question} question
 */
export function about({ action, details }) {
  if (!action) return details === undefined ? null : block(details);
  const isLine = action.operation === "command.execute";
  const object = h("code.code.command", foreign(action.resource, { max: 600, kind: "path" }));
  const shown = isLine ? commandLine(action) : [object, content(action.input, action.resource)];
  return h("div.stack.tight", shown, judgement(action));
}

/**
 * Returns the facts about a request, one on each line.
 *
 * @param {Question} question
 * @param {HTMLElement | null} wanted The permissions, if they are not shown elsewhere.
 */
export function facts(question, wanted) {
  const { hooks = [], action } = question;
  const uses = (action?.uses ?? []).filter((use) => use.origin !== "own");
  const { impactScope, rollbackAdvice } = action?.impact ?? {};
  return h(
    "dl.card-facts",
    impactScope && fact("Affects", foreign(impactScope)),
    rollbackAdvice && fact("Way back", foreign(rollbackAdvice)),
    action?.directory && fact("Happens in", foreign(action.directory, { kind: "path" })),
    wanted && fact(action ? "Gives" : "Covers", [wanted, everyHost(question)]),
    uses.length > 0 && fact("Does", list(uses.map(useWords))),
    hooks.length > 0 && fact("A hook says", list(hooks.map((said) => foreign(said, { max: 300 })))),
    fact("Agent", agentWords(question)),
  );
}

/** Says that a permission for the network is wider than the hosts that the action names. @param {Question} question */
function everyHost({ action, permissions }) {
  const hosts = (action?.uses ?? []).filter(({ operation, resource }) => operation === "network" && resource !== ANY);
  if (hosts.length === 0 || !permissions.includes(ANY)) return null;
  const named = [...new Set(hosts.map(({ resource }) => resource))].map((host) => foreign(host, { max: 120, kind: "path" }));
  return h("p.muted", "The permission is for every host. The action names ", listed(named), ".");
}

/**
 * Returns everything about a request that the card does not show at once.
 *
 * @param {Question} question
 * @param {string} code
 * @param {HTMLElement} covered Where the permissions lead.
 */
export function everything({ action, route, runId, since, expiresAt, ownerId, scope, text }, code, covered) {
  const uses = action?.uses ?? [];
  const useOf = (/** @type {typeof uses[number]} */ use) => [useWords(use), known(use.origin)];
  const input = () => h("code.code", foreign(JSON.stringify(action?.input, null, 2), { max: 2000, kind: "command" }));
  const id = (/** @type {string} */ shown) => foreign(shown, { max: 120, kind: "path" });
  return h(
    "dl.card-facts",
    covered.firstChild && fact("Covers", covered),
    action?.parts && action.parts.length > 0 && fact("Parts", allParts(action)),
    uses.length > 0 && fact("Uses", list(uses.map(useOf), Infinity)),
    action && [fact("Tool", id(action.tool)), fact("Input", input()), fact("Judged", foreign(action.tierReason))],
    scope && fact("Asks for", id(scope)),
    fact("As text", foreign(text, { max: 1500 })),
    fact("Sent", foreign(route, { max: 120 })),
    fact("Run", id(runId)),
    fact("Owner", id(ownerId)),
    fact("Code", [h("code", code), h("span.muted", " for the terminal")]),
    fact("Since", exact(since)),
    fact("Expires", exact(expiresAt)),
  );
}

/** @param {string} origin */
function known(origin) {
  const words = originWords(origin);
  return words && h("span.muted", ` · ${words}`);
}

/** @param {string} name @param {Child} shown */
const fact = (name, shown) => [h("dt", name), h("dd", shown)];

/** @param {Child[]} rows @param {number} [max] */
const list = (rows, max = LISTED) =>
  h(
    "ul",
    firstRows(
      rows.map((row) => h("li", row)),
      max,
      "of them",
    ),
  );
