/** A command line as it will run, with the parts that did not count as safe, and why. */

import { h } from "./dom.js";
import { tierBadge } from "./say.js";
import { brief, firstRows, foreign, visible } from "./text.js";

/** @import { Action, Part } from "./types.js" */

/** The longest command line that is shown unfolded. */
const LONGEST = 1200;
/** The parts that are listed before the others are folded away. */
const LISTED = 4;
/** The beginning of a part that names it. The part itself is marked in the line above. */
const LABEL = 32;

/** Returns the command line, with its dangerous parts marked. @param {Action} action */
export function commandLine({ resource, parts = [], tier }) {
  const places = [...resource].length <= LONGEST ? found(resource, parts) : [];
  if (places.length === 0) {
    const isWhole = tier !== "safe" && parts.length <= 1;
    const line = foreign(resource, { max: LONGEST, kind: "command" });
    return h("code.code.command", isWhole ? h("span", { class: `part part-${tier}` }, line) : line);
  }
  const nodes = [];
  let end = 0;
  for (const { from, to, part } of places) {
    nodes.push(...visible(resource.slice(end, from), "command"));
    nodes.push(h("span", { class: `part part-${part.tier}` }, ...visible(resource.slice(from, to), "command")));
    end = to;
  }
  nodes.push(...visible(resource.slice(end), "command"));
  const line = h("span.foreign.foreign-command", { dir: "ltr", translate: "no" }, nodes);
  return h("code.code.command", line);
}

/**
 * Returns the places of the parts that are not safe. A part whose text is written otherwise in the line has none.
 *
 * @param {string} line
 * @param {Part[]} parts
 */
function found(line, parts) {
  const places = [];
  let end = 0;
  for (const part of parts) {
    const text = part.text.trim();
    const from = line.indexOf(text, end);
    if (from < 0 || text === "") continue;
    end = from + text.length;
    if (part.tier !== "safe") places.push({ from, to: end, part });
  }
  return places;
}

/** Returns the words by which the action was judged. @param {Action} action */
export function judgement({ resource, parts = [], partsLeftOut, tier, tierReason }) {
  const risky = parts.filter((part) => part.tier !== "safe");
  const safe = parts.length - risky.length;
  if (risky.length === 0 && !partsLeftOut)
    return tier === "safe" ? null : h("ul.judged", judged({ tier, reason: tierReason }, null));
  const isAlone = risky.length === 1 && isIn(resource, risky[0]);
  const rows = risky.map((part) => judged(part, isAlone ? null : label(part, resource)));
  const others =
    safe > 0 && h("li.muted", safe === 1 ? "The other part is safe." : `The other ${safe} parts are safe.`);
  return h("ul.judged", firstRows(rows, LISTED, "parts"), others, leftOut(partsLeftOut));
}

/** @param {Pick<Part, "tier" | "reason">} part @param {Node | null} what */
function judged({ tier, reason }, what) {
  return h("li", tierBadge(tier), h("span", what, h("span.muted", foreign(withoutTier(reason), { max: 200 }))));
}

/**
 * Returns the text of a part: its beginning if it is in the line, which the card shows, and else all of it.
 *
 * @param {Part} part
 * @param {string} line
 */
function label(part, line) {
  if (isIn(line, part)) return h("code", brief(part.text, LABEL, "command"));
  return h("code", { class: isCut(part) ? "unshown" : "" }, foreign(part.text, { max: 160, kind: "command" }));
}

/** True if the server tells the beginning of a part. @param {Part} part */
const isCut = ({ text }) => text.endsWith("…");

/** @param {string} line @param {Part | undefined} part */
const isIn = (line, part) => part !== undefined && line.includes(isCut(part) ? part.text.slice(0, -1) : part.text);

/** Returns all parts that the server tells, in their order. @param {Action} action */
export function allParts({ parts = [], partsLeftOut }) {
  const rows = parts.map((part) => judged(part, h("code", foreign(part.text, { max: 160, kind: "command" }))));
  return h("ol.judged", rows, leftOut(partsLeftOut));
}

/** Returns the words for parts that the server does not tell. @param {number} [number] */
function leftOut(number = 0) {
  const words = number === 1 ? "1 more part is not shown." : `${number} more parts are not shown.`;
  return number > 0 && h("li.muted.unshown", words);
}

/** Returns a reason as a sentence, without the name of the tier, which is shown beside it. @param {string} reason */
export function withoutTier(reason) {
  return reason.replace(/^(Safe|Dangerous|Destructive) (command|tool): /, "").replace(/^(`[^`]+`): it /, "$1 ");
}
