/** Suggestions: rules for what people approve again and again, and permissions that nobody uses. */

import { api, path } from "./api.js";
import { toast, toastError } from "./dialog.js";
import { h, replace } from "./dom.js";
import { revoke } from "./revoke.js";
import { agent, agentLink, count, empty, failure, loading, permission, placeLink } from "./say.js";
import { foreign } from "./text.js";
import { duration, live, now } from "./time.js";
import { permissionWords } from "./words.js";

/** @import { Suggestion } from "./shapes.js" */
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
      const added = suggestions.filter((/** @type {Suggestion} */ one) => one.kind === "add_rule");
      const unused = suggestions.filter((/** @type {Suggestion} */ one) => one.kind === "unused");
      replace(
        element,
        h("p.small.muted", "From what happened in the last ", span(since), ". Nothing changes by itself."),
        suggestions.length === 0 &&
          empty(
            "Nothing to suggest",
            "Permissions that you give again and again, and those that nobody uses, appear here.",
          ),
        added.length > 0 && section("Given by hand again and again", added.map(rule)),
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

/** @param {AddRule} suggestion */
function rule({ agentId, permission: text, times, table, line, covers = [], more = false }) {
  const copy = h("button.button.small", { onclick: () => void copied(line) }, "Copy the line");
  return h(
    "article.panel.suggestion",
    h(
      "p",
      h("strong", `${count(times, "time")} `),
      "a person gave ",
      permission(text),
      " to ",
      agent(agentId),
      ". With this line in the policy file, nobody is asked any more:",
    ),
    h("div.code", foreign(`${table}\n${line}`, { kind: "command", max: 1000 })),
    covered(text, covers, more),
    h("div.row", copy),
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

/** @param {string} line */
async function copied(line) {
  try {
    await navigator.clipboard.writeText(line);
    toast("The line is copied.");
  } catch {
    toast("The browser did not let the page copy. Mark the line and copy it.", { kind: "error" });
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
