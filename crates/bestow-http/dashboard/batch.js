/** Answering several requests at once: those on the screen, for one use. */

import { h, replace } from "./dom.js";
import { key } from "./keys.js";

/** @import { Card } from "./card.js" */

/** How far a card may reach out of the screen, in pixels. */
const SLACK = 8;
/** The place that the bar of the batch takes at the bottom. */
const BAR = 64;

/**
 * Returns the bar that answers the selected requests. It is there as long as requests are selected.
 *
 * @param {{ cards: () => Card[], isOn: () => boolean, ended: () => void }} inbox
 */
export function batchBar({ cards, isOn, ended }) {
  const label = h("span", { role: "status" });
  const allow = h("button.button.allow.small", "Allow once");
  const deny = h("button.button.small", "Deny");
  const close = h("button.button.quiet.small", "Cancel ", key("Esc"));
  const element = h(
    "div.batch",
    { role: "region", "aria-label": "Selected requests", hidden: true },
    label,
    allow,
    deny,
    close,
  );

  const picked = () => cards().filter((card) => card.isPicked && card.isWaiting);
  const show = () => {
    const all = picked();
    const seen = all.filter(isOnScreen);
    element.hidden = !isOn();
    const away = all.length - seen.length;
    const number = seen.length > 0 ? `${seen.length} ` : "";
    const selected = `${seen.length} selected${away > 0 ? `, and ${away} not on the screen` : ""}`;
    replace(label, all.length > 0 ? selected : "Select requests");
    replace(allow, `Allow ${number}once `, key("a"));
    replace(deny, `Deny ${number}`, key("d"));
    allow.disabled = deny.disabled = seen.length === 0;
  };
  const answer = async (/** @type {"allow" | "deny"} */ decision) => {
    const chosen = picked().filter((card) => isOnScreen(card) && card.canBePicked);
    if (chosen.length === 0) return;
    await Promise.all(chosen.map((card) => card.send(decision, "once")));
    ended();
  };
  allow.addEventListener("click", (event) => event.detail <= 1 && void answer("allow"));
  deny.addEventListener("click", (event) => event.detail <= 1 && void answer("deny"));
  close.addEventListener("click", ended);
  return { element, show, answer };
}

/** @param {Card} card */
function isOnScreen(card) {
  const { top, bottom, height } = card.element.getBoundingClientRect();
  return height > 0 && top >= -SLACK && bottom <= innerHeight - BAR + SLACK;
}
