/** The text of the policy file with the numbers of its lines, its mistakes, and the lines that are not in force. */

import { api } from "./api.js";
import { h } from "./dom.js";
import { merged } from "./lines.js";
import { count } from "./say.js";
import { foreign, visible } from "./text.js";

/** @import { Config, FileProblem, GlobView } from "./shapes.js" */
/** @import { Line } from "./lines.js" */

/** The lines that are laid out together. Those off the screen cost nothing. */
const BLOCK = 100;

/**
 * Returns the text of the file.
 *
 * @param {Config} config
 * @param {number | null} wanted The line to show.
 * @param {boolean} isFirst True if the page should go to the wanted line.
 */
export function fileText({ text, inForce, hidden, problems, waiting }, wanted, isFirst) {
  if (text === undefined) {
    return h("p.notice", "The text of the file is not shown to you", hidden && [": ", foreign(hidden)], ".");
  }
  const lines = merged(inForce ?? text, text);
  const rows = lines.map((line) =>
    row(
      line,
      problems.filter((problem) => problem.line === line.now),
      wanted,
    ),
  );
  const shown = rows[lines.findIndex((line) => line.now === wanted)];
  // The rules are those in force, and so are the numbers of their lines.
  void addGlobs((number) => rows[lines.findIndex((line) => line.before === number)]);
  const blocks = [];
  for (let from = 0; from < rows.length; from += BLOCK)
    blocks.push(h("div.file-block", rows.slice(from, from + BLOCK)));
  const element = h("div.file.panel", { role: "region", "aria-label": "The policy file", tabindex: "0" }, blocks);
  if (wanted !== null && isFirst) requestAnimationFrame(() => shown?.scrollIntoView({ block: "center" }));
  return [inForce !== undefined && legend(lines, waiting !== undefined), element];
}

/** Returns the words for the marked lines. @param {Line[]} lines @param {boolean} waits */
function legend(lines, waits) {
  const fresh = lines.filter(({ before }) => before === null).length;
  const gone = lines.filter(({ now }) => now === null).length;
  const rest = waits ? " What the change takes away is in force already." : "";
  return h(
    "p.small.file-legend",
    h("strong", "The file is not what is in force. "),
    fresh > 0 && [h("span.line-mark.fresh", "+"), ` ${count(fresh, "line")} not in force`],
    fresh > 0 && gone > 0 && ", ",
    gone > 0 && [h("span.line-mark.gone", "−"), ` ${count(gone, "line")} in force and not in the file`],
    `.${rest}`,
  );
}

/**
 * @param {Line} line
 * @param {FileProblem[]} problems
 * @param {number | null} wanted
 */
function row({ text, now, before }, problems, wanted) {
  const state = problems.length > 0 ? "wrong" : now !== null && now === wanted ? "wanted" : "";
  const part = before === null ? "fresh" : now === null ? "gone" : "";
  const said = part === "" ? null : h("span.unseen", part === "fresh" ? "Not in force: " : "In force, not in the file: ");
  return h(
    "div",
    { class: `file-line ${state} ${part}` },
    h("span.line-number", { "aria-hidden": "true" }, now),
    h("code.line-text", said, colored(text), problems.map(problemText)),
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

/**
 * Adds what each rule about paths covers now, below the line of the rule.
 *
 * @param {(line: number) => HTMLElement | undefined} rowOf
 */
async function addGlobs(rowOf) {
  /** @type {{ globs: GlobView[] }} */
  const { globs } = await api.get("/v1/config/globs").catch(() => ({ globs: [] }));
  for (const glob of globs) rowOf(glob.line)?.querySelector(".line-text")?.append(globText(glob));
}

/** @param {GlobView} glob */
function globText({ glob, below, covers, more }) {
  const pattern = h("code", foreign(glob, { kind: "path", max: 120 }));
  const path = (/** @type {string} */ text) => foreign(text, { kind: "path", max: 200 });
  const place = glob.startsWith("/**") && [" below ", path(below)];
  if (covers.length === 0)
    return h("span.line-globs", pattern, more ? " matches nothing in the first part of" : " matches nothing now", more ? [" ", path(below)] : place, ".");
  const number = `${more ? "more than " : ""}${count(covers.length, "path")}`;
  return h(
    "details.line-globs",
    h("summary", pattern, ` matches ${number} now`, place),
    h("ul.paths", covers.map((text) => h("li", path(text)))),
  );
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
