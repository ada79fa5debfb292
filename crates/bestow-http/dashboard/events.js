/** The events of the server, in order. A lost connection is made again, and goes on where it ended. */

import { api, reach, token } from "./api.js";

/** @import { Envelope, Connection } from "./types.js" */

/** The time without an event after which the page asks if the connection still works. */
const SILENCE = 40_000;
/** The code with which the server closes a socket whose credential is not valid any more. */
const UNAUTHORIZED = 4001;
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

/** Calls a listener with every event, also after a reconnect. @param {(event: Envelope) => void} listener */
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

/** Calls a listener when events may be missing: the state must be read again. @param {() => void} listener */
export const onGap = (listener) => added(gapListeners, listener);

/** Calls a listener when the server does not accept the token any more. @param {() => void} listener */
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

/** Returns the number of the last event that came, or null if none has come. */
export const lastEvent = () => last;

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
  tellEach(stateListeners, now);
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
 * Opens one socket, and hands on its events until it ends. Returns true if it was opened. A WebSocket is not among the
 * few connections that a browser has for all its tabs, as a stream would be.
 *
 * @param {AbortSignal} stopped
 * @returns {Promise<boolean>}
 */
function connect(stopped) {
  const address = new URL(`/v1/events/ws${after()}`, location.href);
  address.protocol = address.protocol.replace("http", "ws");
  const socket = new WebSocket(address, ["bestow", `bearer.${token.get()}`]);
  const { promise, resolve } = Promise.withResolvers();
  let wasOpened = false;
  let heardAt = Date.now();
  const end = () => {
    clearInterval(timer);
    stopped.removeEventListener("abort", end);
    socket.onclose = socket.onmessage = null;
    socket.close();
    resolve(wasOpened);
  };
  const timer = setInterval(() => {
    if (Date.now() - heardAt < SILENCE) return;
    heardAt = Date.now();
    void isBehind().then((behind) => behind && end());
  }, SILENCE / 4);
  stopped.addEventListener("abort", end);
  socket.onopen = () => {
    wasOpened = true;
    become("live");
    if (last === null) tellAll(gapListeners);
  };
  socket.onmessage = ({ data }) => {
    heardAt = Date.now();
    hand(JSON.parse(data));
  };
  socket.onclose = async ({ code }) => {
    if (code === UNAUTHORIZED) tellAll(endListeners);
    else if (!wasOpened) await askWhy();
    end();
  };
  return promise;
}

/** Returns the part of an address that says after which event to go on. */
const after = () => (last === null ? "" : `?lastEventId=${last}`);

/** Asks for the reason of a refusal, because a browser does not tell it to the page of a WebSocket. */
async function askWhy() {
  const asking = new AbortController();
  const headers = { Authorization: `Bearer ${token.get()}` };
  const { status } = await reach(`/v1/events${after()}`, { headers, signal: asking.signal }).catch(() => ({
    status: 0,
  }));
  asking.abort();
  if (status === 401) tellAll(endListeners);
  // The server does not have the events after this number: it may have been restarted.
  if (status === 410 || status === 400) last = null;
}

/** Returns true if the server cannot be reached, or has told of an event that did not arrive here. */
async function isBehind() {
  try {
    const { events } = await api.get("/v1/events/recent?limit=1");
    return (events[0]?.sequence ?? 0) > (last ?? Infinity);
  } catch {
    return true;
  }
}

/** @param {Set<(nothing: undefined) => void>} set */
const tellAll = (set) => tellEach(set, undefined);

/**
 * Calls each listener. One that fails does not keep the others from what happened.
 *
 * @template T
 * @param {Set<(value: T) => void>} set
 * @param {T} value
 */
export function tellEach(set, value) {
  for (const listener of set) {
    try {
      listener(value);
    } catch (why) {
      console.error(why);
    }
  }
}

/** @param {Envelope} event */
function hand(event) {
  last = event.sequence;
  tellEach(listeners, event);
}
