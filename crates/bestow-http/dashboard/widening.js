/** The change of the policy file that waits for a person. */

import { api, path } from "./api.js";
import { confirm, toast, toastError } from "./dialog.js";
import { h } from "./dom.js";
import { agent, permission } from "./say.js";
import { foreign } from "./text.js";

/** @import { WaitingChange } from "./shapes.js" */

/** Returns the panel of the change. @param {WaitingChange} change @param {() => void} done */
export function changePanel(change, done) {
  const button = h("button.button.primary", { onclick: () => void agree(change, done) }, "Agree …");
  return h(
    "section.notice.warn.waiting-change",
    { "aria-label": "A change that waits" },
    h(
      "div.stack",
      h(
        "div",
        h("strong", "A change of the file waits for you. "),
        "It allows more than before. What it takes away is in force already. What it gives waits until you agree.",
      ),
      list(change),
    ),
    button,
  );
}

/** @param {WaitingChange} change */
function list({ wouldGain, besides }) {
  return h(
    "ul.gains",
    wouldGain.map(({ agentId, permission: text }) => h("li", agent(agentId), " gains ", permission(text))),
    besides.map(({ agentId, text }) => h("li", agentId && [agent(agentId), ": "], foreign(text, { max: 300 }))),
  );
}

/** @param {WaitingChange} change @param {() => void} done */
async function agree(change, done) {
  const body = h("div.stack", h("p", "From then on:"), list(change));
  if (!(await confirm({ title: "Agree to this change?", body, action: "Agree" }))) return;
  try {
    await api.post(path`/v1/config/change/${change.number}/agree`);
    toast("The change is in force.");
  } catch (why) {
    toastError(why);
  }
  done();
}
