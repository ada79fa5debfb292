/** The start of the page: the session, the frame, and the view that the address names. */

import { onRefusedToken } from "./api.js";
import { followConfig } from "./config.js";
import { toastError } from "./dialog.js";
import { replace } from "./dom.js";
import { onEnd, start, stop } from "./events.js";
import { frame, jumpKeys, markCurrent, PLACES } from "./frame.js";
import { keys, stopKeys } from "./keys.js";
import { tellMissed } from "./missed.js";
import { followNotices } from "./notices.js";
import { empty } from "./say.js";
import { endedNotice, enter } from "./session.js";
import { follow, requests } from "./store.js";

/** @import { View, Session } from "./types.js" */
/** @import { Frame } from "./frame.js" */
/** @typedef {{ view(context: import("./types.js").ViewContext): View }} ViewModule */

/** @type {View | null} */
let current = null;
let isOver = false;

async function boot() {
  const shell = /** @type {HTMLElement} */ (document.getElementById("shell"));
  const session = await enter(shell);
  void requests.refresh();
  const parts = frame(session);
  replace(shell, parts.element);
  onRefusedToken(() => over(parts));
  onEnd(() => over(parts));
  follow();
  followConfig();
  followNotices(parts);
  tellMissed(parts.banner, session);
  start();
  keys(jumpKeys());
  addEventListener("hashchange", () => void show(session, parts));
  await show(session, parts);
}

/** Shows the view that the address names. @param {Session} session @param {Frame} parts */
async function show(session, parts) {
  const [name = "", ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  const known = Object.hasOwn(PLACES, name) ? name : "inbox";
  const address = location.hash;
  markCurrent(parts, known);
  try {
    /** @type {ViewModule} */
    const module = await import(`./${known}.js`);
    if (location.hash !== address) return;
    current?.leave?.();
    current = module.view({ session, parameters: rest.map(decoded) });
    replace(parts.main, current.element);
    document.documentElement.classList.toggle("steady", current.element.matches(".page"));
    parts.setTitle(current.title);
    // The keys are for the view now, and not for the link that led there.
    if (document.activeElement?.closest(".nav")) parts.main.focus({ preventScroll: true });
  } catch (why) {
    console.error(why);
    replace(parts.main, empty("This page did not load", "Reload to try again."));
  }
  scrollTo(0, 0);
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Says that the session has ended. What is on the screen stays readable, and does nothing. @param {Frame} parts */
function over(parts) {
  if (isOver) return;
  isOver = true;
  stop();
  stopKeys();
  parts.main.inert = true;
  parts.main.classList.add("inert");
  replace(parts.banner, endedNotice());
}

void boot().catch(toastError);
