/** Times for people. All relative times on the page are kept fresh by one timer. */

const STEP = 1_000;
let timer = 0;

/** The seconds for which a text is kept fresh while it is not on the page. */
const PATIENCE = 20;

/** @type {Map<HTMLElement, { text: (element: HTMLElement) => string, unseen: number }>} */
const shown = new Map();

/** Returns the time, in milliseconds. */
export function now() {
  return Date.now();
}

/** Returns a time in full, in the form of the person's language. @param {string} iso */
export function exact(iso) {
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? iso : at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

/** Returns a span of time, such as `3 min`. @param {number} ms */
export function duration(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  const hours = Math.floor(seconds / 3600);
  if (hours < 48) return `${hours} h${seconds % 3600 >= 60 ? ` ${Math.floor((seconds % 3600) / 60)} min` : ""}`;
  return `${Math.floor(hours / 24)} days`;
}

/** Returns a time as its distance from now: `3 min ago`, `in 2 min`. @param {string} iso */
export function ago(iso) {
  return live(iso, () => {
    const distance = Date.parse(iso) - now();
    if (Math.abs(distance) < 1500) return "now";
    return distance < 0 ? `${duration(-distance)} ago` : `in ${duration(distance)}`;
  });
}

/**
 * Returns an element with a text about a time that is kept fresh while it is on the page.
 *
 * @param {string} iso
 * @param {(element: HTMLElement) => string} text
 * @returns {HTMLElement}
 */
export function live(iso, text) {
  const element = document.createElement("time");
  element.dateTime = iso;
  element.title = exact(iso);
  element.textContent = text(element);
  shown.set(element, { text, unseen: 0 });
  timer ||= window.setInterval(freshen, STEP);
  return element;
}

function freshen() {
  if (document.hidden) return;
  for (const [element, kept] of shown) {
    kept.unseen = element.isConnected ? 0 : kept.unseen + 1;
    if (kept.unseen > PATIENCE) shown.delete(element);
    if (!element.isConnected) continue;
    const fresh = kept.text(element);
    if (element.textContent !== fresh) element.textContent = fresh;
  }
}
