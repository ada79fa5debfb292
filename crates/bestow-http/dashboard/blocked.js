/** The line that tells of destructive actions that were denied: nobody was asked about them. */

import { api } from "./api.js";
import { count } from "./say.js";
import { h, replace } from "./dom.js";
import { onEvent, onGap } from "./events.js";
import { isBlocked } from "./sentence.js";
import { now } from "./time.js";

/** @import { Envelope } from "./types.js" */

const HOUR = 3_600_000;
/** The events that are looked at, the time until they are read, and the time until the line is made anew. */
const LOOKED_AT = 500;
const LATER = 300;
const AGAIN = 60_000;

/** Returns the line. It is hidden while there is nothing to tell. */
export function blockedLine() {
  /** The times by the numbers of the events. @type {Map<number, number>} */
  const times = new Map();
  const element = h("p.small.muted.blocked", { hidden: true });
  const learn = (/** @type {Envelope} */ event) => {
    if (!isBlocked(event)) return;
    times.set(event.sequence, Date.parse(event.timestamp));
    show();
  };
  const show = () => {
    const recent = [...times.values()].filter((time) => time > now() - HOUR).length;
    element.hidden = recent === 0;
    const what = `${count(recent, "destructive action")} ${recent === 1 ? "was" : "were"} blocked in the last hour: `;
    replace(element, what, h("a", { href: "#/activity/blocked" }, "see Activity"));
  };
  const read = () =>
    api.get(`/v1/events/recent?limit=${LOOKED_AT}`).then(
      ({ events }) => events.forEach(learn),
      () => {},
    );
  const first = setTimeout(read, LATER);
  const timer = setInterval(show, AGAIN);
  const ends = [onEvent(learn), onGap(() => void read()), () => clearTimeout(first), () => clearInterval(timer)];
  return { element, leave: () => ends.forEach((end) => end()) };
}
