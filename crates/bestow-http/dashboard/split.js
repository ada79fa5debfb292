/** A page with a list on one side and what was chosen on the other. On a phone, one after the other. */

import { h, replace } from "./dom.js";
import { icon } from "./icon.js";

/** Returns the page. @param {{ title: string, back: () => void }} options */
export function split({ title, back }) {
  const head = h("div.split-head", h("h1", title));
  const empty = h("div.split-empty", { hidden: true });
  const list = h("div.split-list", empty);
  const choice = h("section.split-choice", { "aria-label": "Details", tabindex: "-1" });
  const side = h("div.split-side", head, list);
  const element = h("div.split", side, choice);
  const backButton = h("button.button.quiet.small", { onclick: back }, icon("M11 4 6 9l5 5"), title);
  return {
    element,
    head,
    list,
    /** Shows a text in place of the list, or the list. @param {Node | string | null} text */
    setEmpty(text) {
      empty.hidden = text === null;
      replace(empty, text);
    },
    /** Shows what was chosen. @param {Node} node @param {boolean} isChosen */
    setChoice(node, isChosen) {
      replace(choice, isChosen && h("h1.split-back", backButton), node);
      choice.scrollTop = 0;
      element.classList.toggle("has-choice", isChosen);
      const isListGone = isChosen && side.offsetParent === null;
      if (!isListGone) return;
      scrollTo(0, 0);
      choice.focus({ preventScroll: true });
    },
  };
}
