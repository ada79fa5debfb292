/** The text of the policy file with the numbers of its lines, and its mistakes where they are. */

import { h } from "./dom.js";
import { foreign, visible } from "./text.js";

/** @import { Config, FileProblem } from "./shapes.js" */

/** The lines that are laid out together. Those off the screen cost nothing. */
const BLOCK = 100;

/**
 * Returns the text of the file.
 *
 * @param {Config} config
 * @param {number | null} wanted The line to show.
 * @param {boolean} isFirst True if the page should go to the wanted line.
 */
export function fileText({ text, hidden, problems }, wanted, isFirst) {
  if (text === undefined) {
    return h("p.notice", "The text of the file is not shown to you", hidden && [": ", foreign(hidden)], ".");
  }
  const lines = text.replace(/\n$/, "").split("\n");
  const rows = lines.map((line, place) =>
    row(
      line,
      place + 1,
      problems.filter((problem) => problem.line === place + 1),
      wanted,
    ),
  );
  const blocks = [];
  for (let from = 0; from < rows.length; from += BLOCK)
    blocks.push(h("div.file-block", rows.slice(from, from + BLOCK)));
  const element = h("div.file.panel", { role: "region", "aria-label": "The policy file", tabindex: "0" }, blocks);
  if (wanted !== null && isFirst) requestAnimationFrame(() => rows[wanted - 1]?.scrollIntoView({ block: "center" }));
  return element;
}

/**
 * @param {string} line
 * @param {number} number
 * @param {FileProblem[]} problems
 * @param {number | null} wanted
 */
function row(line, number, problems, wanted) {
  const state = problems.length > 0 ? "wrong" : number === wanted ? "wanted" : "";
  return h(
    "div",
    { class: `file-line ${state}` },
    h("span.line-number", { "aria-hidden": "true" }, number),
    h("code.line-text", colored(line), problems.map(problemText)),
  );
}

/** Returns a line of TOML with its parts told apart: comments, headers, keys, texts. @param {string} line */
function colored(line) {
  const parts = /^(\s*)(\[.*?\]+)?([\w.-]+(?=\s*=))?((?:"(?:[^"\\]|\\.)*"|'[^']*'|[^#"'])*)(#.*)?(.*)$/su.exec(line);
  if (!parts) return visible(line, "command");
  const [, space = "", header = "", key = "", value = "", comment = "", rest = ""] = parts;
  return [
    visible(space, "command"),
    part("header", header),
    part("key", key),
    visible(value, "command"),
    part("comment", comment, "content"),
    visible(rest, "command"),
  ];
}

/**
 * @param {string} name
 * @param {string} text
 * @param {import("./text.js").Kind} [kind] The signs of a comment are those of prose.
 */
function part(name, text, kind = "command") {
  return text === "" ? [] : [h("span", { class: `toml-${name}` }, visible(text, kind))];
}

/** @param {FileProblem} problem */
function problemText({ column, text, help }) {
  return h(
    "span.line-problem",
    column !== undefined && `Column ${column}: `,
    foreign(text, { max: 600 }),
    help && [" (", foreign(help, { max: 300 }), ")"],
  );
}
