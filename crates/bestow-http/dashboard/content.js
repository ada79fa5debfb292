/** The content that an action writes or sends, in a form that a person can read. */

import { h } from "./dom.js";
import { foreign } from "./text.js";

/** The longest content that is shown unfolded. */
const LONGEST = 700;

/**
 * Returns the input of a tool, without what is shown already. The server tells a long one as its beginning and its end.
 *
 * @param {unknown} input
 * @param {string} resource What is shown already.
 */
export function content(input, resource) {
  if (typeof input !== "object" || input === null) return null;
  if ("shown" in input && "leftOut" in input) {
    const left = Number(input.leftOut).toLocaleString();
    return [block(String(input.shown)), h("p.small.muted", `${left} characters in its middle are not shown.`)];
  }
  return Object.entries(input)
    .filter(([, value]) => value !== resource)
    .map(([name, value]) =>
      h("div.content", h("p.content-name", foreign(name, { max: 60, kind: "path" })), block(asText(value))),
    );
}

/** @param {string} text */
function block(text) {
  return h("code.code", foreign(text, { max: LONGEST, kind: "command" }));
}

/** @param {unknown} value */
const asText = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
