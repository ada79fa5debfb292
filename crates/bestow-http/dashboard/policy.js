/** The view of the policy file: as it is in force, what changed, what could change, and how it decides. */

import { Problem } from "./api.js";
import { config } from "./config.js";
import { changePanel } from "./widening.js";
import { go, h, replace } from "./dom.js";
import { fileText } from "./file.js";
import { empty, failure, jump, loading, segmented } from "./say.js";
import { suggestionList } from "./suggestions.js";
import { foreign } from "./text.js";
import { ago } from "./time.js";
import { tryOut } from "./try.js";

/** @import { ViewContext } from "./types.js" */
/** @import { Config } from "./shapes.js" */

/** The parts of the view, by their name in the address. */
const PARTS = /** @type {const} */ ({ file: "File", try: "Try it", suggestions: "Suggestions" });

/** Returns the view. @param {ViewContext} context */
export function view({ parameters }) {
  const [named = "file"] = parameters;
  const line = Number(named) || null;
  /** @type {keyof typeof PARTS} */
  const part = named === "try" || named === "suggestions" ? named : "file";
  const top = h("div.stack");
  const body = h("div.stack", loading());
  const element = h(
    "div.page.policy",
    h(
      "div.page-head",
      h("h1", "Policy"),
      segmented("Part of the policy", Object.entries(PARTS), part, (name) => go(`#/policy/${name}`)),
    ),
    top,
    body,
  );
  let isFirst = true;

  const leave = config.onChange((now) => {
    const { waiting } = now;
    replace(top, waiting && changePanel(waiting, () => void config.refresh().catch(() => {})));
    if (part !== "file") return;
    replace(body, problems(now), about(now), lastChange(now), fileText(now, line, isFirst));
    isFirst = false;
  });
  config.refresh().catch((why) => {
    if (!isFirst) return;
    const isMissing = why instanceof Problem && why.status === 404;
    if (part === "file") replace(body, isMissing ? noFile() : failure(why));
    else if (!isMissing) replace(top, failure(why));
  });
  if (part === "try") replace(body, tryOut({ agentId: parameters[1] ?? "" }));
  if (part === "suggestions") replace(body, suggestionList());
  return { element, title: "Policy", leave };
}

/** Returns the words for a server that follows no policy file. */
function noFile() {
  return empty("No policy file", "Here, agents get their permissions from the host program and from people.");
}

/** @param {Config} config */
function about({ path }) {
  return h(
    "p.small.muted",
    foreign(path, { kind: "path", max: 160 }),
    ". To change it, edit the file. The server reads it again by itself.",
  );
}

/** @param {Config} config */
function lastChange({ lastChange: change }) {
  if (!change || change.widened.length + change.narrowed.length === 0) return null;
  return h(
    "details.panel.change-panel",
    { open: true },
    h("summary", "The last change, ", ago(change.at)),
    h(
      "div.change-columns",
      sentences("Allows more", "ok", change.widened),
      sentences("Allows less", "bad", change.narrowed),
    ),
  );
}

/**
 * @param {string} title
 * @param {string} tone
 * @param {string[]} list
 */
function sentences(title, tone, list) {
  return h(
    "div",
    { class: `change-list ${tone}` },
    h("h2.section-title", title),
    list.length === 0
      ? h("p.small.muted", "Nothing")
      : h(
          "ul",
          list.map((text) => h("li", foreign(text, { max: 300 }))),
        ),
  );
}

/** @param {Config} config */
function problems({ problems: list }) {
  if (list.length === 0) return null;
  return h(
    "div.notice.bad",
    { role: "alert" },
    h(
      "div.stack",
      h("p", h("strong", "The file has mistakes. "), "The last good version stays in force."),
      h(
        "ul",
        list.map(({ line, text: why, help }) =>
          h(
            "li",
            line !== undefined && [jump(`Line ${line}`, `#/policy/${line}`), ": "],
            foreign(why, { max: 600 }),
            help && [" (", foreign(help), ")"],
          ),
        ),
      ),
    ),
  );
}
