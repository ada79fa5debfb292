/** The policy file as the server tells of it, for every place of the page that shows something of it. */

import { api, Problem } from "./api.js";
import { onEnd, onEvent, onGap, tellEach } from "./events.js";

/** @import { Config } from "./shapes.js" */

/** The time after which the file is read again, in milliseconds. Only operators get the events of the file. */
const AGAIN = 3_000;

/** @type {Set<(config: Config) => void>} */
const listeners = new Set();
/** @type {Config | null} */
let known = null;
let text = "";

/** The policy file. */
export const config = {
  /**
   * Calls a listener with the state of the file: now, if it is known, and at each change.
   *
   * @param {(config: Config) => void} listener
   */
  onChange(listener) {
    if (known) listener(known);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  /** Returns the state of the file as it was read last. */
  now: () => known,
  /** Reads the state of the file. */
  async refresh() {
    /** @type {Config} */
    const now = await api.get("/v1/config");
    if (text === JSON.stringify(now)) return;
    text = JSON.stringify(now);
    known = now;
    tellEach(listeners, now);
  },
};

/** Begins to follow the file. A server without a policy file is not asked again. */
export function followConfig() {
  const read = () => {
    config.refresh().catch((why) => {
      if (why instanceof Problem && [401, 403, 404].includes(why.status)) clearInterval(timer);
    });
  };
  const timer = setInterval(() => document.hidden || read(), AGAIN);
  onEvent((event) => event.type.startsWith("config.") && read());
  onGap(read);
  onEnd(() => clearInterval(timer));
  read();
}

/** Returns the words for what waits for a person in the file, or null if nothing does. @param {Config} config */
export function needsPerson({ waiting, problems }) {
  if (problems.length > 0) return "The policy file has mistakes";
  return waiting ? "A change of the policy file waits for you" : null;
}
