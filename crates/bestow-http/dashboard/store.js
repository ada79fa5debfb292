/** The requests that wait, and those that ended while the page was open. The server says what is so. */

import { api, path, Problem } from "./api.js";
import { onEvent, onState, tellEach } from "./events.js";

/** @import { RequestState } from "./types.js" */
/** @typedef {{ added: string[], ended: string[] }} Change */

/** The most requests that are read one by one. For more, the list is read again. */
const FEW = 16;
/** How much longer than the reading of the whole list the store rests after it. */
const REST = 2;

/** @type {Map<string, RequestState>} */
const known = new Map();
/** @type {Set<(change: Change) => void>} */
const listeners = new Set();
/** @type {Set<string>} */
const stale = new Set();

let isWholeListStale = true;
let isReading = false;
let isLoaded = false;

/** The requests. */
export const requests = {
  /** Returns those that wait, oldest first. */
  waiting: () => [...known.values()].filter((request) => request.status === "pending"),
  /** @param {string} id */
  get: (id) => known.get(id),
  isLoaded: () => isLoaded,
  /** @param {(change: Change) => void} listener */
  onChange(listener) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  /** Takes the state of a request that the server just told. @param {RequestState} state */
  learn: (state) => apply([state]),
  refresh() {
    isWholeListStale = true;
    return read();
  },
};

/** Begins to follow the server. */
export function follow() {
  onEvent((event) => {
    if (!event.requestId || !["permission.requested", "permission.resolved", "permission.routed"].includes(event.type))
      return;
    stale.add(event.requestId);
    void read();
  });
  onState((state) => {
    if (state === "live") void requests.refresh();
  });
}

/** Reads what is stale. There is one reader at a time; what becomes stale meanwhile is read by it as well. */
async function read() {
  if (isReading) return;
  isReading = true;
  try {
    while (isWholeListStale || stale.size > 0) {
      const ids = [...stale];
      const isList = isWholeListStale || ids.length > FEW;
      isWholeListStale = false;
      stale.clear();
      if (isList) await readAllAndRest();
      else apply((await Promise.all(ids.map(readOne))).filter((state) => state !== null));
    }
  } catch (why) {
    if (!(why instanceof Problem)) throw why;
    // The next event or reconnect reads again.
    isWholeListStale = true;
  } finally {
    isReading = false;
  }
}

/** Reads the whole list, and then rests, so that a flood of requests leaves time for the person. */
async function readAllAndRest() {
  const begin = performance.now();
  await readAll();
  const pause = isWholeListStale || stale.size > 0 ? (performance.now() - begin) * REST : 0;
  await new Promise((resolve) => setTimeout(resolve, pause));
}

async function readAll() {
  const { requests: list } = await api.get("/v1/requests");
  const waiting = new Set(list.map((/** @type {RequestState} */ state) => state.id));
  const gone = requests.waiting().filter((state) => !waiting.has(state.id));
  const ended = await Promise.all(gone.map((state) => readOne(state.id)));
  isLoaded = true;
  apply([...list, ...ended.filter((state) => state !== null)], true);
}

/**
 * Reads one request. A request that the server does not remember has ended, and nobody knows how.
 *
 * @param {string} id
 * @returns {Promise<RequestState | null>}
 */
async function readOne(id) {
  try {
    return await api.get(path`/v1/requests/${id}`);
  } catch (why) {
    const before = known.get(id);
    if (!(why instanceof Problem) || why.status !== 404) throw why;
    return before ? { ...before, status: "unknown" } : null;
  }
}

/** @param {RequestState[]} states @param {boolean} [always] */
function apply(states, always = false) {
  /** @type {Change} */
  const change = { added: [], ended: [] };
  for (const state of states) {
    const before = known.get(state.id);
    if (state.status === "pending") {
      if (before) continue;
      known.set(state.id, state);
      change.added.push(state.id);
    } else if (before && before.status === "pending") {
      known.set(state.id, { ...state, ...(before.question && { question: before.question }) });
      change.ended.push(state.id);
    }
  }
  if (always || change.added.length > 0 || change.ended.length > 0) tellEach(listeners, change);
}

/** Forgets a request that has ended. @param {string} id */
export function forget(id) {
  if (known.get(id)?.status !== "pending") known.delete(id);
}
