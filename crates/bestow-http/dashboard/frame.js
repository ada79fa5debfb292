/** The frame around every view: the places to go, the state of the connection, the person. */

import { config, needsPerson } from "./config.js";
import { go, h, replace } from "./dom.js";
import { onState } from "./events.js";
import { icon } from "./icon.js";
import { showHelp, takeNext } from "./keys.js";
import { optionsButton } from "./notices.js";
import { signOut } from "./session.js";
import { requests } from "./store.js";

/** @import { Session } from "./types.js" */
/**
 * @typedef {object} Frame
 * @property {HTMLElement} element
 * @property {HTMLElement} main
 * @property {HTMLElement} banner
 * @property {Map<string, HTMLAnchorElement>} links
 * @property {(title: string) => void} setTitle
 */

const STATES = { connecting: "Connecting …", live: "Live", lost: "Connection lost" };

/** The time within which the second key of a jump must follow, in milliseconds. */
const SECOND_KEY = 1500;

/** The views: their names, the letter that goes there after `g`, and the strokes of their pictures. */
export const PLACES = {
  inbox: {
    label: "Inbox",
    letter: "i",
    strokes: [
      "M2.5 10.5h3.4l1.2 2h3.8l1.2-2h3.4",
      "M4.6 4h8.8l2.1 6.5v3.2c0 .7-.6 1.3-1.3 1.3H3.8c-.7 0-1.3-.6-1.3-1.3v-3.2z",
    ],
  },
  agents: {
    label: "Agents",
    letter: "n",
    strokes: [
      "M9 3.2v3.6M9 6.8 4.6 10.6M9 6.8l4.4 3.8",
      "M9 4.6a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2z",
      "M4.2 14.6a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM13.8 14.6a2 2 0 1 0 0-4 2 2 0 0 0 0 4z",
    ],
  },
  activity: { label: "Activity", letter: "c", strokes: ["M2 9.5h3l2-5.5 3.6 10 2.2-4.5H16"] },
  policy: {
    label: "Policy",
    letter: "p",
    strokes: ["M9 2l5.5 2v4.6c0 3.4-2.3 5.7-5.5 7-3.2-1.3-5.5-3.6-5.5-7V4z", "M6.6 8.8l1.7 1.7 3.1-3.4"],
  },
  tasks: { label: "Tasks", letter: "t", strokes: ["M9 16A7 7 0 1 0 9 2a7 7 0 0 0 0 14z", "M9 5v4.2l2.7 1.6"] },
};

/** Returns the frame. @param {Session} session @returns {Frame} */
export function frame(session) {
  const links = new Map(Object.entries(PLACES).map(([name, place]) => [name, link(name, place)]));
  const main = h("main.main", { id: "main", tabindex: "-1" });
  const banner = h("div.banner", { role: "status" });
  const nav = h("nav.nav", { "aria-label": "Views" }, [...links.values()]);
  const side = h("header.side", h("div.brand", logo(), "bestow"), nav, foot(session));
  const element = h("div.frame", side, h("div", banner, main));
  showCount(links);
  showPolicyMark(links);
  return { element, main, banner, links, setTitle: (title) => (document.title = `${title} · bestow`) };
}

/** Marks the place that is shown. @param {Frame} parts @param {string} name */
export function markCurrent(parts, name) {
  for (const [other, element] of parts.links) {
    if (other === name) element.setAttribute("aria-current", "page");
    else element.removeAttribute("aria-current");
  }
}

/** Returns the keys that go to the views: `g`, and then the letter of one. */
export function jumpKeys() {
  const places = Object.entries(PLACES);
  const jump = (/** @type {string} */ key) => {
    const found = places.find(([, { letter }]) => letter === key);
    if (found) go(`#/${found[0]}`);
  };
  /** @type {[string, string][]} */
  const then = places.map(([, { letter, label }]) => [letter, label]);
  return { g: { run: () => takeNext(jump, SECOND_KEY), help: "Go to a view:", then } };
}

/** @param {string} name @param {{ label: string, strokes: string[] }} place */
function link(name, { label, strokes }) {
  return h("a", { href: `#/${name}` }, icon(...strokes), h("span", label));
}

function logo() {
  return icon("M3.5 9.5 7 13l7.5-8.5", "M9 16.2A7.2 7.2 0 1 1 15.4 5.7");
}

/** @param {Session} session */
function foot(session) {
  const state = h("div.state", { role: "status" });
  onState((now) => {
    state.dataset.state = now;
    replace(state, STATES[now]);
  });
  const who = session.by ?? (session.role === "operator" ? "operator" : session.credentialId);
  const out = h(
    "button.button.quiet.small",
    { onclick: () => void signOut() },
    icon("M7 3H4.2C3.5 3 3 3.5 3 4.2v9.6c0 .7.5 1.2 1.2 1.2H7", "M11.5 12 15 9l-3.5-3M15 9H7"),
    h("span", "Sign out"),
  );
  out.setAttribute("aria-label", "Sign out");
  const help = h(
    "button.button.quiet.small",
    { "aria-label": "Keys", onclick: showHelp },
    icon("M2.5 5h13v8h-13z", "M5 7.8h.1M8 7.8h.1M11 7.8h.1M13 7.8h.1M6 10.4h6"),
    h("span", "Keys"),
  );
  const person = h("div.person", h("span", "You are ", h("strong", who)));
  return h("div.side-foot", state, person, optionsButton(), help, out);
}

/** Marks the policy if it needs a person. @param {Map<string, HTMLElement>} links */
function showPolicyMark(links) {
  const words = h("span.unseen");
  const mark = h("span.count", { hidden: true }, h("span", { "aria-hidden": "true" }, "!"), words);
  links.get("policy")?.append(mark);
  config.onChange((now) => {
    const need = needsPerson(now);
    mark.hidden = need === null;
    replace(words, need && ` ${need}`);
  });
}

/** @param {Map<string, HTMLElement>} links */
function showCount(links) {
  const count = h("span.count", { hidden: true });
  const unit = h("span.unseen", " waiting");
  links.get("inbox")?.append(count);
  const show = () => {
    const number = requests.waiting().length;
    replace(count, number > 999 ? "999+" : number, unit);
    count.hidden = number === 0;
  };
  show();
  requests.onChange(show);
}
