/** A decision with its reasons: the nine stages, what the action uses, and what would change it. */

import { h } from "./dom.js";
import { enablePart } from "./enable.js";
import { badge, permissionList, placeLink, tierBadge } from "./say.js";
import { foreign } from "./text.js";
import { originWords, useWords } from "./words.js";

/** @import { Explanation, StageResult } from "./shapes.js" */
/** @import { Tone } from "./sentence.js" */

/** What each stage asks, in the order of their strength. @type {{ [stage: string]: string }} */
const STAGES = {
  protected: "Is a protected path used?",
  denied: "Does a rule, a policy, a hook or a person deny it?",
  mode: "Does the mode of the agent forbid it?",
  destructive: "Is it destructive?",
  held: "Does the agent lack a permission?",
  ask_rule: "Must a person be asked?",
  allow_rule: "Does a person, a rule or a policy allow it?",
  tier: "Is it safe or dangerous?",
  default: "Otherwise",
};

/** The words for each answer, and their colours. @type {{ [answer: string]: [string, Tone] }} */
const ANSWERS = {
  allow: ["allowed", "ok"],
  sandboxed: ["confined", "accent"],
  confined: ["confined", "accent"],
  ask: ["asks", "warn"],
  deny: ["denied", "bad"],
  unavailable: ["nobody to ask", "bad"],
};

/** What an answer means for the action. @type {{ [answer: string]: string }} */
const MEANINGS = {
  allow: "The action may happen.",
  sandboxed: "The action may happen inside a sandbox, and nowhere else.",
  ask: "A person must decide.",
  deny: "The action may not happen.",
  unavailable: "A person must decide, and nobody can be asked. So the action may not happen.",
};

/** The badge of an answer. @param {string} answer */
export function answerBadge(answer) {
  const [words, tone] = ANSWERS[answer] ?? [answer, ""];
  return badge(words, tone);
}

/**
 * Returns an explained decision.
 *
 * @param {Explanation} explanation
 * @param {import("./enable.js").Enabling} enabling
 * @param {string} [said] A reason that is on the page already.
 */
export function explained(explanation, enabling, said) {
  const { decision, decidedBy, waysOut, details } = explanation;
  return h(
    "div.stack.verdict",
    h("div.row", answerBadge(decision.decision), h("strong", MEANINGS[decision.decision]), tierBadge(decision.tier)),
    stages(details.stages, decidedBy, said),
    decision.missing.length > 0 && h("div.small", "The agent lacks ", permissionList(decision.missing), "."),
    waysOut.length > 0 &&
      h(
        "div.stack",
        h("h3", waysOut.length > 1 ? "What would allow it, all of it together" : "What would allow it"),
        h(
          "ul.ways",
          waysOut.map((way, place) => h("li", place > 0 && "and ", foreign(way, { max: 600 }))),
        ),
        enablePart(explanation, enabling),
      ),
    details.uses.length > 0 &&
      h("details", h("summary", `What it uses (${details.uses.length})`), usesList(details.uses)),
  );
}

/**
 * @param {StageResult[]} results
 * @param {string} decidedBy
 * @param {string} [said]
 */
function stages(results, decidedBy, said) {
  const told = new Set([said]);
  const rows = results.map(({ stage, says, reason, ruleRefs = [] }) => {
    const decides = stage === decidedBy;
    const why = reason && (told.has(reason) ? h("span.muted", "as said above") : foreign(reason, { max: 300 }));
    told.add(reason);
    return h(
      "tr",
      { class: decides ? "decides" : says ? "" : "silent" },
      h("td", STAGES[stage] ?? stage, decides && h("span.unseen", " (this decides)")),
      h("td", says ? answerBadge(says) : h("span.muted", "–")),
      h(
        "td",
        why,
        ruleRefs.flatMap((ref) => lineButton(ref)),
      ),
    );
  });
  return h(
    "div.scroll",
    h(
      "table.table.stages",
      h("caption.unseen", "The nine stages, the strongest first"),
      h(
        "thead",
        h(
          "tr",
          ["Stage", "Answer", "Why"].map((name) => h("th", { scope: "col" }, name)),
        ),
      ),
      h("tbody", rows),
    ),
  );
}

/**
 * Returns a button to the line of a rule, if the source is one.
 *
 * @param {unknown} ref
 */
function lineButton(ref) {
  const place = /** @type {any} */ (ref)?.rule?.place ?? /** @type {any} */ (ref)?.ofParent?.rule?.rule?.place;
  if (!place) return [];
  return [" ", placeLink(`${place.file}:${place.line}`)];
}

/** @param {Explanation["details"]["uses"]} uses */
function usesList(uses) {
  const origin = (/** @type {string} */ from) => originWords(from) && h("span.muted", ` · ${originWords(from)}`);
  return h(
    "ul.uses",
    uses.map((use) => h("li", { class: use.decides ? "decides" : "" }, useWords(use), origin(use.origin))),
  );
}
