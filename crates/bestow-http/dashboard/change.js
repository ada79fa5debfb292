/** A change of an action by the person. It is judged before it can be sent. */

import { api, path, Problem } from "./api.js";
import { h, isObject, object, replace } from "./dom.js";
import { tierBadge } from "./say.js";
import { foreign, isRedacted } from "./text.js";
import { permissionWords } from "./words.js";

/** @import { Action, Question } from "./types.js" */
/** @import { Explanation } from "./shapes.js" */
/**
 * @typedef {object} Change
 * @property {HTMLElement} element
 * @property {() => string | Record<string, unknown> | undefined} value The input to approve instead, if it differs.
 * @property {() => boolean} isReady True if nothing was changed, or the change was judged and may be sent.
 * @property {() => boolean} isDestructive
 * @property {() => void} focus
 */

/** The time without a keystroke after which a change is judged, in milliseconds. */
const PAUSE = 300;
const TIERS = ["safe", "dangerous", "destructive"];

/**
 * Returns true if a person may write another input. One with hidden secrets cannot be written again.
 *
 * @param {Question} question
 */
export function canChange({ action, onceOnly }) {
  if (!action || onceOnly || isRedacted(action.resource + JSON.stringify(action.input))) return false;
  return action.operation === "command.execute" || isObject(action.input);
}

/**
 * Returns the field in which the action is changed.
 *
 * @param {Question} question
 * @param {() => void} changed
 * @returns {Change}
 */
export function changeField(question, changed) {
  const action = /** @type {Action} */ (question.action);
  const isCommand = action.operation === "command.execute";
  const before = isCommand ? action.resource : JSON.stringify(action.input, null, 2);
  const area = h("textarea.input.code", {
    rows: Math.min(10, before.split("\n").length + 1),
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
  });
  area.value = before;
  const verdict = h("div.verdict", { role: "status" });
  /** @type {{ text: string, explained: Explanation } | null} */
  let judged = null;
  let timer = 0;

  const judge = async () => {
    const text = area.value;
    if (!differs()) return replace(verdict);
    const asked = isCommand ? commandBody(action, text) : toolBody(action, text);
    if (!asked) return replace(verdict, h("span.entry-error", "This is not a JSON object."));
    try {
      const explained = await api.post(path`/v1/agents/${question.agentId}/explain`, asked);
      if (text !== area.value) return;
      judged = { text, explained };
      replace(verdict, verdictWords(explained, action));
    } catch (why) {
      replace(verdict, h("span.entry-error", why instanceof Problem ? why.message : String(why)));
    }
    changed();
  };
  area.addEventListener("input", () => {
    judged = null;
    clearTimeout(timer);
    timer = window.setTimeout(() => void judge(), PAUSE);
    replace(verdict, differs() && h("span.muted", "Judging …"));
    changed();
  });

  const differs = () => area.value.trim() !== before.trim();
  const current = () => (judged?.text === area.value ? judged.explained : null);
  return {
    element: h("label.field", isCommand ? "The command to allow instead" : "The input to allow instead", area, verdict),
    value: () =>
      !differs()
        ? undefined
        : isCommand
          ? area.value.trim()
          : /** @type {Record<string, unknown>} */ (object(area.value)),
    isReady: () => !differs() || mayBeSent(current(), action),
    isDestructive: () => current()?.decision.tier === "destructive",
    focus: () => area.focus(),
  };
}

/**
 * Returns true if the changed action was judged, is not denied, and is not more harmful than the asked one.
 *
 * @param {Explanation | null} explained
 * @param {Action} action
 */
function mayBeSent(explained, action) {
  return explained !== null && explained.decision.decision !== "deny" && !isWorse(explained, action);
}

/** @param {Explanation} explained @param {Action} action */
function isWorse(explained, action) {
  return TIERS.indexOf(explained.decision.tier) > TIERS.indexOf(action.tier);
}

/** @param {Action} action @param {string} text */
function commandBody({ operation, resource, tool, input }, text) {
  // The server writes an action without a tool call as `{"resource": …}`.
  const fields = isObject(input) ? Object.keys(input).filter((name) => input[name] === resource) : [];
  const field = fields.find((name) => name !== "resource");
  return field && isObject(input)
    ? { toolName: tool, toolInput: { ...input, [field]: text } }
    : { operation, resource: text };
}

/** @param {Action} action @param {string} text */
function toolBody(action, text) {
  const input = object(text);
  return input && { toolName: action.tool, toolInput: input };
}

/** @param {Explanation} explained @param {Action} action */
function verdictWords(explained, action) {
  const { decision } = explained;
  if (decision.decision === "deny") {
    return [h("span.badge.bad", "denied"), " It cannot be allowed: ", foreign(decision.reason, { max: 300 })];
  }
  if (isWorse(explained, action)) {
    return [
      tierBadge(decision.tier),
      " It is more harmful than what the agent asked for. Deny the request, and tell the agent what to do instead.",
    ];
  }
  const needs = decision.missing.map((permission) => h("li", "It needs to ", permissionWords(permission)));
  return [tierBadge(decision.tier), " ", foreign(decision.reason, { max: 300 }), h("ul", needs)];
}
