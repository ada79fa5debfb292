/** What happened while the connection was lost. */

import { api } from "./api.js";
import { config } from "./config.js";
import { toast } from "./dialog.js";
import { h, replace } from "./dom.js";
import { lastEvent, onState } from "./events.js";
import { count } from "./say.js";
import { isInPart } from "./sentence.js";
import { requests } from "./store.js";
import { duration } from "./time.js";

/** @import { Envelope } from "./types.js" */
/** @typedef {{ at: number, event: number | null }} Loss */

/** The shortest loss that is told, in milliseconds. A shorter one is told only if something was missed. */
const SHORT = 10_000;
/** The most events that are counted. */
const MOST = 1000;

/**
 * Tells what was missed, in a place of the page.
 *
 * @param {HTMLElement} place
 * @param {import("./types.js").Session} session
 */
export function tellMissed(place, session) {
  /** @type {Loss | null} */
  let lost = null;
  let isBack = false;
  let version = session.version;
  onState((state) => {
    if (state === "lost" && lost === null) {
      lost = { at: Date.now(), event: lastEvent() };
      replace(place, lostNotice());
    }
    if (state !== "live" || lost === null) return;
    isBack = true;
    void api.get("/v1/session").then(
      (now) => {
        if (now.version !== version)
          toast(`The server is now version ${now.version}. Reload the page to get its dashboard.`);
        version = now.version;
      },
      () => {},
    );
  });
  requests.onChange(({ added, ended }) => {
    if (!isBack || lost === null) return;
    const loss = lost;
    isBack = false;
    lost = null;
    replace(place);
    void missed(loss).then((happened) => {
      const parts = [
        added.length > 0 && `${count(added.length, "request")} came`,
        ended.length > 0 && `${count(ended.length, "request")} ended`,
        ...happened,
      ].filter((part) => part !== false);
      const gone = Date.now() - loss.at;
      if (lost !== null || (gone <= SHORT && parts.length === 0)) return;
      replace(place, summary(gone, parts, () => replace(place)));
    });
  });
}

function lostNotice() {
  const rest = "The page keeps trying. Until then, it shows what was last known.";
  return h("div.notice.warn", h("span", h("strong", "The connection is lost. "), rest));
}

/**
 * Returns what happened since then besides requests, in words.
 *
 * @param {Loss} loss
 * @returns {Promise<string[]>}
 */
async function missed({ at, event }) {
  const [{ events, last }, changedAt] = await Promise.all([
    api.get(`/v1/events/recent?limit=${MOST}`).catch(() => ({ events: [], last: 0 })),
    policyChange(),
  ]);
  // A server that began anew may count its events anew, too.
  const isLater = (/** @type {Envelope} */ { sequence, timestamp }) =>
    event === null ? Date.parse(timestamp) >= at : sequence > event || last < event;
  const later = events.filter(isLater);
  const number = (/** @type {(event: Envelope) => boolean} */ test) => later.filter(test).length;
  const given = number(({ type }) => type === "grant.issued");
  const ended = number(({ type }) => type === "grant.revoked" || type === "grant.expired");
  const denied = number(isDenial);
  return [
    given > 0 && `${count(given, "permission")} ${given === 1 ? "was" : "were"} given`,
    ended > 0 && `${count(ended, "permission")} ended`,
    denied > 0 &&
      `${count(denied, "action or request", "actions or requests")} ${denied === 1 ? "was" : "were"} denied`,
    changedAt >= at && "the policy file changed",
  ].filter((part) => part !== false);
}

/** Returns the time of the last change of the policy file. An approver hears no events of the file. */
async function policyChange() {
  await config.refresh().catch(() => {});
  return Date.parse(config.now()?.lastChange?.at ?? "") || 0;
}

/** Returns true if an event denies something. A request that a person denied is no further decision. @param {Envelope} event */
function isDenial({ type, payload }) {
  const { decision, resolution } = /** @type {any} */ (payload);
  if (type === "permission.evaluated") return decision?.decision === "deny";
  return type === "permission.resolved" && resolution?.outcome === "denied" && !isInPart(resolution);
}

/**
 * @param {number} gone
 * @param {string[]} parts
 * @param {() => void} close
 */
function summary(gone, parts, close) {
  const list = parts.length > 1 ? `${parts.slice(0, -1).join(", ")}, and ${parts.at(-1)}` : parts[0];
  const text = list ? [`Meanwhile ${list}. `, h("a", { href: "#/activity" }, "See Activity")] : "Nothing was missed.";
  return h(
    "div.notice",
    h("span", h("strong", `Connected again${gone < 1000 ? "" : ` after ${duration(gone)}`}. `), text),
    h("button.button.quiet.small", { onclick: close }, "Close"),
  );
}
