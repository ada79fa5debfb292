/** Enabling a destructive action for one use: by a person, explicitly, with a reason and a typed word. */

import { api, path } from "./api.js";
import { confirm, toastError } from "./dialog.js";
import { h, replace } from "./dom.js";
import { agent, agentLink } from "./say.js";
import { foreign, isRedacted, visible } from "./text.js";

/** @import { ActionBody, Explanation, Impact } from "./shapes.js" */
/**
 * @typedef {object} Enabling
 * @property {string} agentId
 * @property {ActionBody} action
 * @property {boolean} isWhole False if a part of the action is not known here.
 * @property {Impact} [impact]
 * @property {string} [digest] The digest of the input that was denied.
 */

/** The word to type. */
const WORD = "enable";

/**
 * Returns the way to enable an action, if nothing but its being destructive denies it.
 *
 * @param {Explanation} explanation
 * @param {Enabling} enabling
 *
 */
export function enablePart({ decision, decidedBy, details }, enabling) {
  if (decision.decision !== "deny" || decidedBy !== "destructive") return null;
  const text = textOf(enabling.action);
  if (!enabling.isWhole || isRedacted(text)) {
    const why = "It cannot be enabled here, because a part of its text is hidden or was left out.";
    return h("p.small.muted", why);
  }
  const why = details.stages.find(({ stage }) => stage === "destructive")?.reason ?? decision.reason;
  const place = h("div", { role: "status" });
  const open = async () => {
    if (await enabled(enabling, text, why)) replace(place, done(enabling.agentId));
  };
  place.append(h("button.button", { onclick: () => void open() }, "Enable once …"));
  return place;
}

/**
 * Asks the person, and enables the action. Resolves with true if it was enabled.
 *
 * @param {Enabling} enabling
 * @param {string} text
 * @param {string} why
 */
async function enabled({ agentId, action, impact, digest }, text, why) {
  const reason = h("input.input", { required: true, maxlength: "500", autocomplete: "off" });
  const body = h(
    "div.stack",
    h("p", "The agent ", agent(agentId), " may then do exactly this, one time."),
    h("code.code", action.toolName && [foreign(action.toolName), " "], visible(text, "command")),
    h(
      "dl.card-facts",
      h("dt", "Affects"),
      h("dd", foreign(impact?.impactScope ?? why, { max: 600 })),
      impact && [h("dt", "Way back"), h("dd", foreign(impact.rollbackAdvice, { max: 600 }))],
    ),
    h("label.field", "Reason, for the records", reason),
  );
  const title = "Enable a destructive action?";
  if (!(await confirm({ title, body, action: "Enable once", danger: true, typed: WORD }))) return false;
  try {
    const body = { action, reason: reason.value.trim() };
    const { savedDecisionId } = await api.post(path`/v1/agents/${agentId}/enable`, body);
    if (digest === undefined || (await isAbout(savedDecisionId, digest))) return true;
    await api.delete(path`/v1/decisions/${savedDecisionId}`);
    throw new Error("It was not enabled: the records do not have the whole input of this call.");
  } catch (problem) {
    toastError(problem);
    return false;
  }
}

/** Returns true if a saved decision is about the input with this digest. @param {string} id @param {string} digest */
async function isAbout(id, digest) {
  const { events } = await api.get("/v1/events/recent?limit=500");
  const made = events.find(
    (/** @type {any} */ { type, payload }) => type === "ruling.made" && payload.ruling.id === id,
  );
  return made?.payload.ruling.about.input === digest;
}

/** @param {string} agentId */
function done(agentId) {
  return h(
    "div.notice",
    h(
      "p",
      h("strong", "Enabled for one use. "),
      "Nothing has run yet: the agent has to try again, with exactly this input. Until then, you can revoke it on the page of ",
      agentLink(agentId),
      ".",
    ),
  );
}

/** @param {ActionBody} action */
function textOf({ resource, toolInput }) {
  return resource ?? JSON.stringify(toolInput, null, 2);
}
