/** Keys of the page. Each view adds its own; `?` shows all that work now. */

import { isAsking, message, undoLast } from "./dialog.js";
import { h } from "./dom.js";

/**
 * @typedef {object} Key
 * @property {(event: KeyboardEvent) => unknown} run
 * @property {string} help
 * @property {boolean} [repeats]
 * @property {[key: string, help: string][]} [then] The keys that may follow.
 */
/** @typedef {{ [key: string]: Key }} KeyMap */

const NAMES = new Map([
  ["ArrowDown", "↓"],
  ["ArrowUp", "↑"],
  ["Escape", "Esc"],
  ["Enter", "↵"],
  [" ", "Space"],
]);

/** @type {KeyMap[]} */
const active = [];
let isOff = false;

/** Lets no key do anything any more. */
export function stopKeys() {
  isOff = true;
}

/** Returns the mark of a key, for the control that does the same. @param {string} name */
export const key = (name) => h("kbd", { "aria-hidden": "true" }, name);

/** Adds keys. Returns a function that takes them away. Later ones come first. @param {KeyMap} map */
export function keys(map) {
  active.push(map);
  return () => {
    const place = active.indexOf(map);
    if (place >= 0) active.splice(place, 1);
  };
}

/** What takes the next key. @type {((key: string) => void) | null} */
let taker = null;

/**
 * Takes the next key, if it comes in time. Whichever it is, it does nothing else.
 *
 * @param {(key: string) => void} take
 * @param {number} time
 */
export function takeNext(take, time) {
  const timer = setTimeout(() => (taker = null), time);
  taker = (key) => {
    clearTimeout(timer);
    taker = null;
    take(key);
  };
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (isOff || isAsking() || isTyping(event) || event.key === "Shift") return;
  if (taker) {
    event.preventDefault();
    return taker(event.key);
  }
  const found = active.findLast((map) => Object.hasOwn(map, event.key))?.[event.key];
  if (!found || (event.repeat && !found.repeats)) return;
  event.preventDefault();
  found.run(event);
});

/** Returns true if the key belongs to the element that has the focus. @param {KeyboardEvent} event */
function isTyping(event) {
  const at = event.target;
  if (!(at instanceof Element)) return false;
  if (at.matches("input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]"))
    return event.key !== "Escape";
  const isActivation = event.key === "Enter" || event.key === " ";
  return isActivation && at.matches("button, a, summary, input");
}

keys({
  "?": { run: showHelp, help: "Show the keys" },
  u: { run: undoLast, help: "Take back what was just done, while the message shows it" },
});

/** Shows the keys that work now. */
export function showHelp() {
  /** @type {Map<string, { names: string[], then: Key["then"] }>} */
  const rows = new Map();
  for (const map of active.toReversed()) {
    // An object has its numbers first. In the list, they are last.
    const inOrder = Object.entries(map).toSorted(([a], [b]) => Number(/\d/.test(a)) - Number(/\d/.test(b)));
    for (const [key, { help, then }] of inOrder) {
      if (help) rows.set(help, { names: [...(rows.get(help)?.names ?? []), NAMES.get(key) ?? key], then });
    }
  }
  const list = [...rows].flatMap(([help, { names, then = [] }]) => [
    h(
      "dt",
      names.map((name) => h("kbd", name)),
    ),
    h(
      "dd",
      help,
      then.map(([name, label]) => [" ", h("span.then", h("kbd", name), " ", label)]),
    ),
  ]);
  void message({ title: "Keys", body: h("dl.keys", list) });
}
