/** Notices outside the page: the number in the title, and, if the person wants them, notifications and a sound. */

import { message } from "./dialog.js";
import { h, replace } from "./dom.js";
import { icon } from "./icon.js";
import { requests } from "./store.js";
import { plain } from "./text.js";

/** @import { Frame } from "./frame.js" */

const NOTIFY = "bestow.notify";
const SOUND = "bestow.sound";

/** The shortest time between two sounds, in milliseconds. */
const QUIET = 3000;

let lastSound = 0;

/** Follows the requests, and tells the person about new ones. @param {Frame} parts */
export function followNotices(parts) {
  let title = document.title;
  const badge = () => {
    const number = requests.waiting().length;
    document.title = number > 0 ? `(${number}) ${title}` : title;
  };
  parts.setTitle = (view) => {
    title = `${view} · bestow`;
    badge();
  };
  let isFirst = true;
  requests.onChange(({ added }) => {
    badge();
    if (!isFirst && added.length > 0) tell(added);
    isFirst = false;
  });
}

/** @param {string[]} added */
function tell(added) {
  if (isOn(SOUND)) chime();
  if (!isOn(NOTIFY) || document.hasFocus() || !isAllowed()) return;
  const agent = requests.get(added[0] ?? "")?.question?.agentId ?? "";
  showNotice(added.length === 1 ? `The agent ${plain(agent, 60)} asks.` : `${added.length} requests came.`);
}

/** Returns true if the browser lets the page show notifications. */
const isAllowed = () => "Notification" in window && Notification.permission === "granted";

/** Shows a notification. Returns false if the browser cannot, as those of phones. @param {string} body */
function showNotice(body) {
  try {
    const notice = new Notification("A request waits for you", { body, tag: "bestow" });
    notice.onclick = () => {
      window.focus();
      location.hash = "#/inbox";
      notice.close();
    };
    return true;
  } catch {
    return false;
  }
}

/** Plays two short tones. */
function chime() {
  if (Date.now() - lastSound < QUIET) return;
  lastSound = Date.now();
  const audio = new AudioContext();
  [660, 880].forEach((frequency, place) => {
    const begin = audio.currentTime + place * 0.12;
    const tone = new OscillatorNode(audio, { frequency });
    const volume = new GainNode(audio, { gain: 0 });
    volume.gain.setTargetAtTime(0.08, begin, 0.01);
    volume.gain.setTargetAtTime(0, begin + 0.1, 0.04);
    tone.connect(volume).connect(audio.destination);
    tone.start(begin);
    tone.stop(begin + 0.4);
  });
  setTimeout(() => void audio.close(), 1000);
}

/** @param {string} name */
const isOn = (name) => localStorage.getItem(name) === "on";

/** @param {string} name @param {boolean} on */
const set = (name, on) => localStorage.setItem(name, on ? "on" : "off");

/** Returns the button that opens the settings of the notices. */
export function optionsButton() {
  const button = h("button.button.quiet.small", { "aria-label": "Notifications" });
  button.addEventListener("click", () => void message({ title: "Notifications", body: options() }));
  replace(
    button,
    icon("M4.5 12.5V8a4.5 4.5 0 0 1 9 0v4.5l1 1.2h-11z", "M7.5 15.8a1.6 1.6 0 0 0 3 0"),
    h("span", "Notifications"),
  );
  return button;
}

/** Returns the settings of the notices. They belong to this browser. */
function options() {
  const hint = h("p.small.muted", { role: "status" });
  const notify = choice(
    "Show a notification when a request arrives and this page is not in front",
    NOTIFY,
    async (on) => {
      if (!on) return true;
      if ("Notification" in window) await Notification.requestPermission();
      const isDenied = !isAllowed();
      if (isDenied)
        replace(hint, "This browser does not allow notifications of this page. Its settings can change that.");
      else if (!showNotice("This is how a notification looks."))
        replace(hint, "This browser shows no notifications of pages. The number in the title still tells you.");
      else return true;
      return false;
    },
  );
  const sound = choice("Play a short sound", SOUND, (on) => {
    if (on) chime();
    return true;
  });
  return h("div.stack", notify, sound, hint);
}

/**
 * Returns a setting that is on or off.
 *
 * @param {string} label
 * @param {string} name
 * @param {(on: boolean) => boolean | Promise<boolean>} agree
 */
function choice(label, name, agree) {
  const box = h("input", { type: "checkbox" });
  box.checked = isOn(name);
  box.addEventListener("change", async () => {
    const wanted = box.checked;
    if (!(await agree(wanted))) box.checked = false;
    set(name, box.checked);
  });
  return h("label.choice", box, h("span", label));
}
