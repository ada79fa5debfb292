/** One event in full: what was decided, why, and what belongs to it. */

import { api, path } from "./api.js";
import { withoutTier } from "./command.js";
import { h, object, replace } from "./dom.js";
import { agent, agentLink, fact, failure, loading, permission, permissionList, tierBadge } from "./say.js";
import { sentence } from "./sentence.js";
import { foreign, isRedacted } from "./text.js";
import { ago, clock, exact } from "./time.js";
import { answerBadge, explained } from "./verdict.js";

/** @import { Told } from "./sentence.js" */
/** @import { ActionBody } from "./shapes.js" */
/** @typedef {{ all: Told[], choose(sequence: number): void }} Surroundings */

/** The most other events that are listed. */
const MOST = 12;

/** What the sources of decisions are, in words. @type {{ [source: string]: string }} */
const SOURCES = {
  rule: "a rule or a policy",
  mode: "the mode",
  hook: "a hook",
  classifier: "the tier of the action",
  human: "a person",
  host_policy: "the settings",
  sandbox_override: "the sandbox, which denied it before",
  tool_contract: "what the tool requires",
};

/** Returns the panel of an event. @param {Told} told @param {Surroundings} surroundings */
export function eventPanel(told, { all, choose }) {
  const { event } = told;
  const { type, agentId, timestamp, payload } = event;
  const { decision, request, resolution, grant } = /** @type {any} */ (payload);
  const action = (decision ?? request ?? resolution)?.action;
  const ids = [
    ["Run", event.runId],
    ["Request", event.requestId],
    ["Decision", event.decisionId],
    ["Permission", event.grantId],
  ];
  return h(
    "div.detail",
    h(
      "div.stack",
      h("p.small.muted", exact(timestamp), " · ", ago(timestamp)),
      h("h2.event-title", sentence(told, agentLink)),
    ),
    action && actionPart(action),
    decision && decisionPart(decision),
    grant &&
      h("p.small", permission(grant.right?.permission ?? ""), grant.reason && [": “", foreign(grant.reason), "”"]),
    action && agentId && nowPart(agentId, action),
    relatedPart(event, all, choose),
    h(
      "section.stack",
      h(
        "dl.facts",
        [["Type", type], ["Number", String(event.sequence)], ...ids].map(
          ([name = "", value]) => value && fact(name, h("code", foreign(value, { kind: "path" }))),
        ),
      ),
      h(
        "details",
        h("summary", "The event as it was recorded"),
        h("div.code", foreign(JSON.stringify(payload, null, 2), { kind: "command", max: 4000 })),
      ),
    ),
  );
}

/** @param {any} action */
function actionPart({ resource, operation, tier, tierReason }) {
  return h(
    "section.stack",
    h("div.code", foreign(resource, { kind: operation === "command.execute" ? "command" : "path", max: 1200 })),
    tier && h("div.small", tierBadge(tier), " ", foreign(withoutTier(tierReason ?? ""), { max: 300 })),
  );
}

/** @param {any} decision */
function decisionPart({ action, decision, decisionSource, decisionReason, missing = [] }) {
  return h(
    "section.stack",
    h("h3", "The decision then"),
    h(
      "div.row",
      answerBadge(decision),
      h("span.small.muted", `because of ${SOURCES[decisionSource] ?? decisionSource}`),
    ),
    decisionReason !== action?.tierReason && h("p.small", foreign(decisionReason ?? "", { max: 600 })),
    missing.length > 0 && h("p.small", "The agent lacked ", permissionList(missing), "."),
  );
}

/**
 * Returns the stages that the same action would pass now. The stages of then are not kept.
 *
 * @param {string} id
 * @param {any} action
 *
 */
function nowPart(id, action) {
  const place = h("div", loading());
  const { body, isWhole } = bodyOf(action);
  const enabling = { agentId: id, action: body, isWhole, impact: action.destructive, digest: action.input };
  void api.post(path`/v1/agents/${id}/explain`, body).then(
    (explanation) => replace(place, explained(explanation, enabling, action.tierReason)),
    (why) => replace(place, failure(why)),
  );
  return h(
    "section.stack",
    h("h3", "The same action now"),
    h(
      "p.small.muted",
      "What each stage would say if it were asked now.",
      !isWhole && " A part of the action is not recorded, so this is about what is left of it.",
    ),
    place,
  );
}

/**
 * Returns a recorded action as it would be sent, and whether nothing of it was left out of the records.
 *
 * @param {any} action
 * @returns {{ body: ActionBody, isWhole: boolean }}
 */
function bodyOf({ operation, resource, tool, details, cut = false }) {
  const input = object(details?.shown);
  const isWhole = !cut && !isRedacted(resource + (details?.shown ?? "")) && (details === undefined || input !== null);
  if (operation === "tool" || (input && isWhole)) return { body: { toolName: tool, toolInput: input ?? {} }, isWhole };
  return { body: { operation, resource, toolName: tool }, isWhole };
}

/**
 * Returns the other events about the same request, decision or grant.
 *
 * @param {import("./types.js").Envelope} event
 * @param {Told[]} all
 * @param {(sequence: number) => void} choose
 */
function relatedPart(event, all, choose) {
  const isShared = (/** @type {"requestId" | "decisionId" | "grantId"} */ id, /** @type {Told} */ other) =>
    event[id] !== undefined && other.event[id] === event[id];
  const related = all.filter(
    (other) =>
      other.event.sequence !== event.sequence &&
      (isShared("requestId", other) || isShared("decisionId", other) || isShared("grantId", other)),
  );
  if (related.length === 0) return null;
  const rows = related
    .slice(0, MOST)
    .reverse()
    .map((other) =>
      h(
        "li",
        h(
          "button.related",
          { onclick: () => choose(other.event.sequence) },
          h("span.muted", clock(new Date(other.event.timestamp))),
          h("span.clip", sentence(other, agent)),
        ),
      ),
    );
  return h("section.stack", h("h3", "What belongs to it"), h("ul", rows));
}
