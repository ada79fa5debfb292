/** The content that an action writes or sends, in a form that a person can read. */

import { h } from "./dom.js";
import { foreign } from "./text.js";

/** The longest content that is shown unfolded. */
const LONGEST = 700;

/**
 * Returns a content. The server tells it as JSON, and a long one as a part of JSON.
 *
 * @param {string} text
 * @param {string} resource What is shown already.
 */
export function content(text, resource) {
  const fields = parsed(text);
  if (fields === null) return [block(text)];
  return Object.entries(fields)
    .filter(([, value]) => value !== resource)
    .map(([name, value]) =>
      h("div", { class: "content" }, h("h3", null, foreign(name, { max: 60, kind: "path" })), block(asText(value))),
    );
}

/** @param {string} text */
function block(text) {
  return h("code", { class: "code" }, foreign(text, { max: LONGEST, kind: "command" }));
}

/** @param {unknown} value */
const asText = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

/**
 * @param {string} text
 * @returns {object | null}
 */
function parsed(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
