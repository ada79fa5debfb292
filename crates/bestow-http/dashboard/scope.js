/** The choice for how long an approval holds. */

import { h, replace } from "./dom.js";
import { key } from "./keys.js";
import { now } from "./time.js";
import { SCOPES } from "./words.js";

/** @import { ScopeName } from "./types.js" */
/**
 * @typedef {object} ScopePicker
 * @property {HTMLElement} element
 * @property {() => ScopeName} name
 * @property {() => Date | null} end The end of an approval until a time, or null while its time is not chosen.
 * @property {() => string | null} value The scope as the server reads it, or null while its time is not chosen.
 * @property {(place: number) => void} choose
 * @property {(offered: ScopeName[]) => void} offer
 */

const HOUR = 3_600_000;
/** @type {[string, number][]} */
const SPANS = [
  ["15 minutes", HOUR / 4],
  ["1 hour", HOUR],
  ["4 hours", 4 * HOUR],
  ["1 day", 24 * HOUR],
  ["1 week", 168 * HOUR],
];

/** The scopes by their keys, 1 to 4. A key means one scope on every card. @type {ScopeName[]} */
const ORDER = ["once", "session", "until", "always"];

/** Returns the key of a scope. @param {ScopeName} name */
export const keyOf = (name) => String(ORDER.indexOf(name) + 1);

let number = 0;

/**
 * Returns the choice of a scope.
 *
 * @param {ScopeName[]} offered
 * @param {ScopeName} first
 * @param {() => void} changed
 * @returns {ScopePicker}
 */
export function scopePicker(offered, first, changed) {
  const group = `scope-${++number}`;
  let chosen = first;
  let shown = offered;
  const time = timePicker(changed);
  const choices = h("fieldset.segmented");
  const draw = () => {
    if (!shown.includes(chosen)) chosen = shown[0] ?? "once";
    replace(choices, h("legend.unseen", "How long"), shown.map(choice));
    time.element.hidden = chosen !== "until";
  };
  const choice = (/** @type {ScopeName} */ name) => {
    const radio = h("input", { type: "radio", name: group, value: name });
    radio.checked = name === chosen;
    radio.addEventListener("change", () => {
      chosen = name;
      time.element.hidden = name !== "until";
      changed();
    });
    return h("label", radio, key(keyOf(name)), SCOPES[name]);
  };
  draw();
  return {
    element: h("div.scope", choices, time.element),
    name: () => chosen,
    end: () => time.end(),
    value() {
      const end = time.end();
      return chosen !== "until" ? chosen : end && `until ${end.toISOString().replace(/\.\d+Z$/, "Z")}`;
    },
    choose(place) {
      const name = ORDER[place];
      if (name && shown.includes(name)) chosen = name;
      draw();
      changed();
    },
    offer(now) {
      shown = now;
      draw();
    },
  };
}

/** Returns the choice of a moment: a span from now, or a date and a time. @param {() => void} changed */
function timePicker(changed) {
  const options = [
    ...SPANS.map(([label, span]) => h("option", { value: span }, `for ${label}`)),
    h("option", { value: "" }, "until a time …"),
  ];
  const span = h("select.input.small", { "aria-label": "Until when" }, options);
  span.value = String(HOUR);
  const moment = h("input.input.small", { type: "datetime-local", "aria-label": "The time", hidden: true });
  span.addEventListener("change", () => {
    moment.hidden = span.value !== "";
    changed();
  });
  moment.addEventListener("change", changed);
  const end = () => {
    const at = span.value === "" ? Date.parse(moment.value) : now() + Number(span.value);
    return Number.isFinite(at) && at > now() ? new Date(at) : null;
  };
  return { element: h("span.row", { hidden: true }, span, moment), end };
}
