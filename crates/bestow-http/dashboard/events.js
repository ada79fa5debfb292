/** The events of the server, in order. A lost connection is made again, and goes on where it ended. */

import { Problem, reach, token } from "./api.js";

/** @import { Envelope, Connection } from "./types.js" */

/** The time without a sign of the server after which the connection counts as lost. The server sends one every 15 s. */
const SILENCE = 40_000;
const SHORTEST_PAUSE = 250;
const LONGEST_PAUSE = 5_000;

/** @type {Set<(event: Envelope) => void>} */
const listeners = new Set();
/** @type {Set<(state: Connection) => void>} */
const stateListeners = new Set();
/** @type {Set<() => void>} */
const gapListeners = new Set();
/** @type {Set<() => void>} */
const endListeners = new Set();

/** @type {Connection} */
let state = "connecting";
/** @type {number | null} */
let last = null;
/** @type {AbortController | null} */
let running = null;

/**
 * Calls a listener with every event, also after a reconnect.
 *
 * @param {(event: Envelope) => void} listener
 */
export const onEvent = (listener) => added(listeners, listener);

/**
 * Calls a listener with the state of the connection, now and at each change.
 *
 * @param {(state: Connection) => void} listener
 */
export function onState(listener) {
  listener(state);
  return added(stateListeners, listener);
}

/**
 * Calls a listener when events may be missing: the state must be read again.
 *
 * @param {() => void} listener
 */
export const onGap = (listener) => added(gapListeners, listener);

/**
 * Calls a listener when the server does not accept the token any more.
 *
 * @param {() => void} listener
 */
export const onEnd = (listener) => added(endListeners, listener);

/**
 * @template T
 * @param {Set<T>} set
 * @param {T} listener
 */
function added(set, listener) {
  set.add(listener);
  return () => void set.delete(listener);
}

/** Begins to listen. */
export function start() {
  stop();
  running = new AbortController();
  void listen(running.signal);
}

/** Ends to listen. */
export function stop() {
  running?.abort();
  running = null;
}

/** @param {Connection} now */
function become(now) {
  if (state === now) return;
  state = now;
  for (const listener of stateListeners) listener(now);
}

/** @param {AbortSignal} stopped */
async function listen(stopped) {
  let pause = SHORTEST_PAUSE;
  while (!stopped.aborted) {
    become(state === "lost" ? "lost" : "connecting");
    const wasOpened = await connect(stopped);
    if (stopped.aborted) return;
    become("lost");
    pause = wasOpened ? SHORTEST_PAUSE : Math.min(pause * 2, LONGEST_PAUSE);
    await rest(pause * (0.75 + Math.random() / 2), stopped);
  }
}

/**
 * Waits. The wait ends early when the network is back or the tab is looked at again.
 *
 * @param {number} time
 * @param {AbortSignal} stopped
 */
function rest(time, stopped) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      for (const name of ["online", "focus"]) removeEventListener(name, done);
      resolve(undefined);
    };
    const timer = setTimeout(done, time);
    for (const name of ["online", "focus"]) addEventListener(name, done);
    stopped.addEventListener("abort", done, { once: true });
  });
}

/**
 * Opens one stream and reads it to its end. Returns true if it was opened.
 *
 * @param {AbortSignal} stopped
 */
async function connect(stopped) {
  const broken = new AbortController();
  const signal = AbortSignal.any([stopped, broken.signal]);
  let timer = setTimeout(() => broken.abort(), SILENCE);
  let wasOpened = false;
  try {
    const response = await reach(`/v1/events${last === null ? "" : `?lastEventId=${last}`}`, {
      headers: { Authorization: `Bearer ${token.get() ?? ""}`, Accept: "text/event-stream" },
      signal,
    });
    if (!response.ok || !response.body) return refused(response.status);
    wasOpened = true;
    const isFirst = last === null;
    become("live");
    if (isFirst) told(gapListeners);
    const decode = new TextDecoder();
    const reader = response.body.getReader();
    for (let buffer = ""; ;) {
      const { done, value } = await reader.read();
      if (done) return true;
      clearTimeout(timer);
      timer = setTimeout(() => broken.abort(), SILENCE);
      buffer = taken(buffer + decode.decode(value, { stream: true }));
    }
  } catch (why) {
    if (!(why instanceof Problem) && !signal.aborted && !(why instanceof TypeError)) console.error(why);
    return wasOpened;
  } finally {
    clearTimeout(timer);
    broken.abort();
  }
}

/** @param {number} status */
function refused(status) {
  if (status === 401) told(endListeners);
  // The server does not have the events after this number: it may have been restarted.
  if (status === 410 || status === 400) last = null;
  return status === 410;
}

/** @param {Set<() => void>} set */
function told(set) {
  for (const listener of set) listener();
}

/**
 * Hands on the complete messages of a text. Returns the rest.
 *
 * @param {string} text
 */
function taken(text) {
  const messages = text.split(/\r?\n\r?\n/);
  const rest = messages.pop() ?? "";
  for (const message of messages) hand(message);
  return rest;
}

/** @param {string} message */
function hand(message) {
  const lines = message.split(/\r?\n/);
  const field = (/** @type {string} */ name) =>
    lines
      .filter((line) => line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).trimStart())
      .join("\n");
  const data = field("data");
  if (!data) return;
  const parsed = JSON.parse(data);
  if (field("event") === "end") return parsed.code === "unauthorized" ? told(endListeners) : undefined;
  last = Number(field("id")) || last;
  for (const listener of listeners) {
    try {
      listener(parsed);
    } catch (why) {
      console.error(why);
    }
  }
}
