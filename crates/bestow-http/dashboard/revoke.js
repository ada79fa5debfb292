/** Revoking a grant: what falls with it is shown before, and all of it can be given again for some seconds. */

import { api, path } from "./api.js";
import { confirm, toast, toastError } from "./dialog.js";
import { h } from "./dom.js";
import { cascadePicture } from "./chain.js";
import { agent, count, permission } from "./say.js";
import { plain } from "./text.js";

/** @import { Grant } from "./shapes.js" */

/** The seconds in which a revocation can be taken back. */
export const UNDO = 5;

/**
 * Asks the person, and revokes a grant. Resolves with true if it was revoked.
 *
 * @param {Grant} grant
 * @returns {Promise<boolean>}
 */
export async function revoke(grant) {
  try {
    const { wouldEnd } = await api.get(path`/v1/grants/${grant.id}/cascade`);
    const reason = h("input.input", { maxlength: "500", autocomplete: "off" });
    const isAgreed = await confirm({
      title: "Revoke this permission?",
      body: question(grant, wouldEnd, reason),
      action: wouldEnd.length === 0 ? "Revoke" : `Revoke ${count(wouldEnd.length + 1, "permission")}`,
      danger: true,
    });
    if (!isAgreed) return false;
    const why = reason.value.trim();
    const { alsoEnded } = await api.delete(path`/v1/grants/${grant.id}` + (why && path`?reason=${why}`));
    toast(told(grant, alsoEnded.length), {
      undo: { label: "Undo", run: () => giveAgain(grant, alsoEnded.length), seconds: UNDO },
    });
    return true;
  } catch (why) {
    toastError(why);
    return false;
  }
}

/**
 * @param {Grant} grant
 * @param {Grant[]} wouldEnd
 * @param {HTMLInputElement} reason
 */
function question(grant, wouldEnd, reason) {
  const sentence =
    wouldEnd.length === 0
      ? h("p", "Nothing else depends on it.")
      : h(
          "p",
          h("strong", `${count(wouldEnd.length, "more permission")} `),
          wouldEnd.length === 1 ? "depends on it and falls with it:" : "depend on it and fall with it:",
        );
  return h(
    "div.stack",
    h("p", agent(grant.agentId), " loses ", permission(grant.permission), "."),
    sentence,
    wouldEnd.length > 0 && cascadePicture(grant, wouldEnd),
    h("p.muted.small", undoPromise(wouldEnd.length)),
    h("label.field", "Words to the agent (optional)", reason),
  );
}

/** @param {number} fallen */
function undoPromise(fallen) {
  const start = `It ends at once. For ${UNDO} seconds you can undo this: the permission is then given again, by you`;
  return fallen === 0 ? `${start}.` : `${start}, and what fell with it comes back, if nothing else changed.`;
}

/** @param {Grant} grant @param {number} fallen */
function told(grant, fallen) {
  const start = `${plain(grant.agentId, 40)} lost ${plain(grant.permission, 60)}.`;
  return fallen === 0 ? start : `${start} ${count(fallen, "more permission")} fell with it.`;
}

/** Undoes a revocation. Everything comes back, or nothing. @param {Grant} grant @param {number} fallen */
async function giveAgain(grant, fallen) {
  try {
    await undoGrant(grant.id);
    const rest = fallen === 0 ? "" : ` ${count(fallen, "permission")} that fell with it came back.`;
    toast(`${plain(grant.agentId, 40)} holds ${plain(grant.permission, 60)} again, given by you.${rest}`);
  } catch (why) {
    toastError(why);
  }
}

/** Undoes the revocation of a grant. @param {string} id */
export const undoGrant = (id) => api.post(path`/v1/grants/${id}/undo`);

/** Undoes the revocation of a saved decision. @param {string} id */
export const undoDecision = (id) => api.post(path`/v1/decisions/${id}/undo`);
