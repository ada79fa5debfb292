/** The requests that ended while the page is open, and the way to take an approval back. */

import { isMine } from "./answer.js";
import { api, path, Problem } from "./api.js";
import { confirm, toast, toastError } from "./dialog.js";
import { h, replace } from "./dom.js";
import { UNDO, undoDecision, undoGrant } from "./revoke.js";
import { brief, foreign } from "./text.js";
import { ago } from "./time.js";
import { objectOf, outcomeWords, plainSentence } from "./words.js";

/** @import { RequestState } from "./types.js" */
/** @import { Grant, SavedDecision } from "./shapes.js" */

/** The most that are listed. */
const MOST = 20;

/** Returns the list of the requests that ended. */
export function recentList() {
  const list = h("ol.recent-list");
  const element = h(
    "section.recent",
    { hidden: true, "aria-label": "Ended just now" },
    h("h2.section", "Ended just now"),
    list,
  );
  return {
    element,
    /** @param {RequestState} request */
    add(request) {
      element.hidden = false;
      list.prepend(row(request));
      while (list.children.length > MOST) list.lastChild?.remove();
    },
  };
}

/** @param {RequestState} request */
function row(request) {
  const { question, status, resolution } = request;
  const isApproval = (resolution?.granted.length ?? 0) > 0 || status === "granted";
  const place = h("span");
  // What nobody answered gave nothing that could be revoked here.
  if (isApproval && resolution?.decider.startsWith("by "))
    place.append(h("button.button.quiet.small", { onclick: () => void takeBack(request, place) }, "Revoke"));
  return h(
    "li",
    { class: `recent-row ${isApproval ? "recent-granted" : `recent-${status}`}` },
    h(
      "div.recent-what",
      question && plainSentence(question),
      " ",
      h("span.recent-object", brief(objectOf(request), 160, "command")),
    ),
    h("div.recent-how", outcomeWords(request, isMine(request.id)), resolution && [" · ", ago(resolution.at)]),
    place,
  );
}

/** Revokes what an approval gave. @param {RequestState} request @param {HTMLElement} place */
async function takeBack(request, place) {
  const agent = request.question?.agentId ?? "";
  try {
    const { grants } = await api.get(path`/v1/grants?agentId=${agent}`);
    const { savedDecisions } = await api.get(path`/v1/decisions?agentId=${agent}`);
    /** @type {Grant[]} */
    const given = grants.filter(
      (/** @type {Grant} */ { origin }) => "requestId" in origin && origin.requestId === request.id,
    );
    /** @type {SavedDecision[]} */
    const saved = savedDecisions.filter((/** @type {SavedDecision} */ decision) => decision.requestId === request.id);
    if (given.length + saved.length === 0) return replace(place, h("span.muted.small", "used or ended already"));
    if (!(await agreedToFall(given))) return;
    const undos = await revokeAll(given, saved);
    replace(place, h("span.muted.small", "revoked"));
    const told = saved.length > 0 ? "Revoked. The agent has to ask again." : "Revoked.";
    toast(told, { undo: { label: "Undo", seconds: UNDO, run: () => giveAgain(undos, place) } });
  } catch (why) {
    toastError(why);
  }
}

/**
 * Shows what would end with the grants, if there is more than themselves. Returns true if the person agrees.
 *
 * @param {Grant[]} given
 */
async function agreedToFall(given) {
  const cascades = await Promise.all(given.map((grant) => api.get(path`/v1/grants/${grant.id}/cascade`)));
  const falling = cascades.flatMap((cascade) => cascade.wouldEnd);
  if (falling.length === 0) return true;
  const list = h(
    "ul.stack",
    falling.map((grant) => h("li", foreign(grant.text, { max: 200 }))),
  );
  const body = h("div.stack", h("p", `${falling.length} more permissions were passed on and end with it:`), list);
  return confirm({ title: "Revoke?", body, action: "Revoke all", danger: true });
}

/**
 * Revokes grants and saved decisions. Returns the calls that undo it, the last revocation first.
 *
 * @param {Grant[]} given
 * @param {SavedDecision[]} saved
 */
async function revokeAll(given, saved) {
  /** @type {(() => Promise<unknown>)[]} */
  const undos = [];
  for (const { id } of given) {
    try {
      await api.delete(path`/v1/grants/${id}`);
      undos.unshift(() => undoGrant(id));
    } catch (why) {
      // It fell with one before it, and comes back with that one.
      if (!(why instanceof Problem) || why.status !== 404) throw why;
    }
  }
  for (const { id } of saved) {
    await api.delete(path`/v1/decisions/${id}`);
    undos.unshift(() => undoDecision(id));
  }
  return undos;
}

/** Undoes revocations. @param {(() => Promise<unknown>)[]} undos @param {HTMLElement} place */
async function giveAgain(undos, place) {
  try {
    for (const undo of undos) await undo();
    replace(place, h("span.muted.small", "given again"));
  } catch (why) {
    toastError(why);
  }
}
