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

/** The time for which the hour alone names a time that is still to come, in milliseconds. */
const NEAR = 20 * 3_600_000;

/** The hours of a day are counted to 24 everywhere on the page. @type {Intl.DateTimeFormatOptions} */
const HOURS = { hourCycle: "h23" };

/** Returns a time in full, in the form of the person's language. @param {string} iso */
export function exact(iso) {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  return at.toLocaleString(undefined, { ...HOURS, dateStyle: "medium", timeStyle: "medium" });
}

/** Returns the time of a day, to the second. @param {Date} at */
export function clock(at) {
  return at.toLocaleTimeString(undefined, { ...HOURS, hour: "2-digit", minute: "2-digit", second: "2-digit" });
}

/** Returns a time to the minute, with its day if that is another one. @param {Date} at */
export function moment(at) {
  /** @type {Intl.DateTimeFormatOptions} */
  const time = { ...HOURS, hour: "2-digit", minute: "2-digit" };
  /** @type {Intl.DateTimeFormatOptions} */
  const day = { month: "short", day: "numeric" };
  const isThisYear = at.getFullYear() === new Date(now()).getFullYear();
  if (isToday(at)) return at.toLocaleTimeString(undefined, time);
  return at.toLocaleString(undefined, { ...time, ...day, ...(!isThisYear && { year: "numeric" }) });
}

/**
 * Returns a time that is still to come, to the minute. It has its day if the hour alone could be of another day.
 *
 * @param {Date} at
 */
export function coming(at) {
  const isNear = at.getTime() - now() < NEAR;
  return isNear ? at.toLocaleTimeString(undefined, { ...HOURS, hour: "2-digit", minute: "2-digit" }) : moment(at);
}

/** @param {Date} at */
export function isToday(at) {
  return at.toDateString() === new Date(now()).toDateString();
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
  return fresh(element, text);
}

/**
 * Fills an element with a text that is kept fresh while it is on the page. Returns the element.
 *
 * @param {HTMLElement} element
 * @param {(element: HTMLElement) => string} text
 */
export function fresh(element, text) {
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
