/** The content that an action writes or sends, in a form that a person can read. */

import { h } from "./dom.js";
import { foreign } from "./text.js";

/** The longest content that is shown unfolded. */
const LONGEST = 700;

/**
 * Returns the input of a tool, without values that are the shown object. The server tells a long input as its beginning
 * and its end.
 *
 * @param {unknown} input
 * @param {string} object The object, which the card shows.
 */
export function content(input, object) {
  if (input === null || input === undefined || input === object) return null;
  if (typeof input !== "object") return block(asText(input));
  const rows = Object.entries(input)
    .filter(([, value]) => value !== object)
    .map(([name, value]) =>
      h("div.content", h("p.content-name", foreign(name, { max: 60, kind: "path" })), block(asText(value))),
    );
  if (!("shown" in input && "leftOut" in input)) return rows;
  const left = Number(input.leftOut).toLocaleString();
  return [...rows, h("p.small.muted.unshown", `${left} characters in its middle are not shown.`)];
}

/** Returns a text that an agent writes or sends. @param {string} text */
export function block(text) {
  return h("code.code", foreign(text, { max: LONGEST, kind: "content" }));
}

/** @param {unknown} value */
const asText = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
