/** Suggestions: rules for what people approve again and again, and permissions that nobody uses. */

import { api, path } from "./api.js";
import { toast, toastError } from "./dialog.js";
import { h, replace } from "./dom.js";
import { revoke } from "./revoke.js";
import { agent, agentLink, count, empty, failure, jump, loading, permission, placeLink } from "./say.js";
import { foreign } from "./text.js";
import { duration, live, now } from "./time.js";
import { permissionWords } from "./words.js";

/** @import { Edit, Suggestion } from "./shapes.js" */
/** @typedef {Extract<Suggestion, { kind: "add_permission" }>} AddPermission */
/** @typedef {Extract<Suggestion, { kind: "add_rule" }>} AddRule */
/** @typedef {Extract<Suggestion, { kind: "unused" }>} Unused */

/** Returns the time from then to now. @param {string} since */
const span = (since) => live(since, () => duration(now() - Date.parse(since)));

/** Returns the list of the suggestions. */
export function suggestionList() {
  const element = h("div.stack.suggestions", loading());
  const load = async () => {
    try {
      const { since, suggestions } = await api.get("/v1/suggestions");
      const added = suggestions.filter((/** @type {Suggestion} */ one) => one.kind === "add_permission");
      const allowed = suggestions.filter((/** @type {Suggestion} */ one) => one.kind === "add_rule");
      const unused = suggestions.filter((/** @type {Suggestion} */ one) => one.kind === "unused");
      replace(
        element,
        h("p.small.muted", "From what happened in the last ", span(since), ". Nothing changes by itself."),
        suggestions.length === 0 &&
          empty(
            "Nothing to suggest",
            "Permissions and actions that you allow again and again, and permissions that nobody uses, appear here.",
          ),
        added.length > 0 && section("Given by hand again and again", added.map(permissionCard)),
        allowed.length > 0 && section("Allowed by hand again and again", allowed.map(ruleCard)),
        unused.length > 0 &&
          section(
            "Never used",
            unused.map((/** @type {Unused} */ one) => idle(one, load)),
          ),
      );
    } catch (why) {
      replace(element, failure(why));
    }
  };
  void load();
  return element;
}

/** @param {string} title @param {HTMLElement[]} cards */
function section(title, cards) {
  return h("section.stack", h("h2.section-title", title), cards);
}

/** @param {AddPermission} suggestion */
function permissionCard({ agentId, permission: text, times, edit, covers, more }) {
  const said = ["a person gave ", permission(text), " to ", agent(agentId)];
  return card(times, said, edit, covered(text, covers, more));
}

/** @param {AddRule} suggestion */
function ruleCard({ agentId, action, times, edit }) {
  const said = ["a person allowed ", agent(agentId), " ", h("code", foreign(action, { kind: "command", max: 300 }))];
  return card(times, said, edit, h("p.small.muted", "It allows actions of exactly this form, and nothing else."));
}

/**
 * @param {number} times
 * @param {import("./types.js").Child} said
 * @param {Edit} edit
 * @param {HTMLElement} effect
 */
function card(times, said, { line, old, new: lines }, effect) {
  const copy = h("button.button.small", { onclick: () => void copied(lines) }, "Copy the lines");
  const code = (/** @type {string} */ text) => h("div.code", foreign(text, { kind: "command", max: 1000 }));
  const what = old === "" ? "With these lines in the policy file" : "With this change of the policy file";
  return h(
    "article.panel.suggestion",
    h("p", h("strong", `${count(times, "time")} `), said, `. ${what}, nobody is asked any more:`),
    old !== "" && [h("p.small.muted", `In place of line ${line}:`), h("div.replaced", code(old))],
    h("p.small.muted", old === "" ? `Before line ${line}:` : "the new lines:"),
    code(lines),
    effect,
    h("div.row", copy, jump("Show the place", `#/policy/${Math.max(1, line - (old === "" ? 1 : 0))}`)),
  );
}

/**
 * @param {string} text
 * @param {string[]} covers
 * @param {boolean} more
 */
function covered(text, covers, more) {
  if (covers.length === 0)
    return h(
      "p.small.muted",
      "It lets the agent ",
      permissionWords(text),
      text.startsWith("@network") ? "." : ", with everything below it.",
    );
  return h(
    "details",
    h("summary", `It covers ${more ? "more than " : ""}${count(covers.length, "path")} now`),
    h(
      "ul.paths",
      covers.map((one) => h("li", foreign(one, { kind: "path", max: 200 }))),
    ),
  );
}

/** @param {string} lines */
async function copied(lines) {
  try {
    await navigator.clipboard.writeText(lines);
    toast("The lines are copied.");
  } catch {
    toast("The browser did not let the page copy. Mark the lines and copy them.", { kind: "error" });
  }
}

/**
 * @param {Unused} suggestion
 *
 * @param {() => Promise<void>} done
 */
function idle({ agentId, permission: text, grantId, since, place }, done) {
  const end = async () => {
    try {
      if (await revoke(await api.get(path`/v1/grants/${grantId}`))) await done();
    } catch (why) {
      toastError(why);
    }
  };
  const way =
    place === undefined ? h("button.button.small", { onclick: () => void end() }, "Revoke …") : placeLink(place);
  return h(
    "article.panel.suggestion.idle",
    h("p", agentLink(agentId), " has held ", permission(text), " for ", span(since), " and never used it."),
    way,
  );
}
