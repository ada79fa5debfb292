/** The line that tells of destructive actions that were denied: nobody was asked about them. */

import { api } from "./api.js";
import { count } from "./say.js";
import { h, replace } from "./dom.js";
import { onEvent, onGap, onState } from "./events.js";
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
  let times = new Map();
  /** Those that came since the last reading began. Its answer may lack them. @type {Map<number, number>} */
  let heard = new Map();
  const element = h("p.small.muted.blocked", { hidden: true });
  const learn = (/** @type {Envelope} */ event) => {
    if (!isBlocked(event)) return;
    for (const known of [times, heard]) known.set(event.sequence, Date.parse(event.timestamp));
    show();
  };
  const show = () => {
    const recent = [...times.values()].filter((time) => time > now() - HOUR).length;
    element.hidden = recent === 0;
    const what = `${count(recent, "destructive action")} ${recent === 1 ? "was" : "were"} blocked in the last hour: `;
    replace(element, what, h("a", { href: "#/activity/blocked" }, "see Activity"));
  };
  // A server that was started again keeps no events from before, and Activity cannot show them either.
  const read = async () => {
    heard = new Map();
    const { events } = await api.get(`/v1/events/recent?limit=${LOOKED_AT}`);
    times = new Map(heard);
    events.forEach(learn);
    show();
  };
  const readSoon = () => {
    clearTimeout(reading);
    reading = setTimeout(() => read().catch(() => {}), LATER);
  };
  let reading = 0;
  const timer = setInterval(show, AGAIN);
  const ends = [
    onEvent(learn),
    onState((state) => state === "live" && readSoon()),
    onGap(readSoon),
    () => clearTimeout(reading),
    () => clearInterval(timer),
  ];
  return { element, leave: () => ends.forEach((end) => end()) };
}
