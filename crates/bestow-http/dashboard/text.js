/**
 * Text of agents, as text. What the eye would miss is made visible: hidden characters, letters of another script that
 * look alike, and how much of a long text is folded away.
 */

import { h } from "./dom.js";

/**
 * The kinds of texts: `text` is shown as one paragraph, `command` and `content` with their line breaks, and `path` on
 * one line. In a `path` and a `command` each letter counts, so what looks like another letter or sign is marked there.
 *
 * @typedef {"text" | "path" | "command" | "content"} Kind
 */

/** Characters that are invisible, or that change how the text around them is read. */
const HIDDEN = new RegExp(
  "[\\p{Cc}\\p{Cf}\\p{Co}\\p{Cn}\\p{Cs}\\p{Zl}\\p{Zp}" +
    "\\u034F\\u115F\\u1160\\u17B4\\u17B5\\u180B-\\u180F\\u2800\\u3164\\uFE00-\\uFE0F\\uFFA0\\u{E0100}-\\u{E01EF}]",
  "u",
);
const ODD_SPACE = /[\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000]/u;
const NAMES = new Map([
  [0x00, "null"],
  [0x07, "bell"],
  [0x08, "backspace"],
  [0x09, "tab"],
  [0x0a, "line break"],
  [0x0d, "carriage return"],
  [0x1b, "escape"],
  [0x7f, "delete"],
  [0xa0, "no-break space"],
  [0xad, "soft hyphen"],
  [0x200b, "zero-width space"],
  [0x200c, "zero-width non-joiner"],
  [0x200d, "zero-width joiner"],
  [0x200e, "left-to-right mark"],
  [0x200f, "right-to-left mark"],
  [0x202a, "left-to-right embedding"],
  [0x202b, "right-to-left embedding"],
  [0x202c, "end of direction"],
  [0x202d, "left-to-right override"],
  [0x202e, "right-to-left override"],
  [0x2066, "left-to-right isolate"],
  [0x2067, "right-to-left isolate"],
  [0x2068, "first-strong isolate"],
  [0x2069, "end of isolate"],
  [0x2028, "line separator"],
  [0x2029, "paragraph separator"],
  [0xfeff, "byte order mark"],
]);

/** Letters of other scripts that look like Latin ones. */
const LOOKALIKE = new RegExp(
  "[\\u0391\\u0392\\u0395-\\u0397\\u0399\\u039A\\u039C\\u039D\\u039F\\u03A1\\u03A4\\u03A5\\u03A7" +
    "\\u03B1\\u03B3\\u03B9\\u03BA\\u03BD\\u03BF\\u03C1\\u03C5\\u03C7" +
    "\\u0405\\u0406\\u0408\\u0410\\u0412\\u0415\\u041A\\u041C-\\u041E\\u0420-\\u0422\\u0425\\u0430" +
    "\\u0435\\u043E\\u0440\\u0441\\u0443\\u0445\\u0455\\u0456\\u0458\\u04BB\\u04CF\\u0501\\u051B\\u051D" +
    "\\u0561\\u0578\\u057D\\u0585]",
  "u",
);
/** Letters that are plain beside those of ASCII: the Latin ones that the languages of Europe and Vietnam use. */
const PLAIN = /[A-Za-z\u00C0-\u0130\u0132-\u0137\u0139-\u01BF\u01C4-\u024F\u1EA0-\u1EF9]/u;
/** Signs that look like signs of ASCII, by what they look like. */
const SIGNS = Object.entries({
  "/": "\u1735\u2044\u2215\u2571\u27CB\u29F8\u3033",
  "\\": "\u2216\u29F5\u29F9",
  ".": "\u00B7\u0660\u06D4\u0701\u0702\u2024\u2025\u2027\u2219\u22C5\u3002\u30FB\uA4F8\uFF61",
  ":": "\u02D0\u02F8\u0589\u05C3\u0703\u0704\u16EC\u1803\u1809\u205A\u2236\uA4FD\uA789\uFE30",
  ";": "\u037E\u061B\u204F",
  ",": "\u060D\u066B\u201A",
  "'": "\u00B4\u02B9-\u02BF\u02C8\u02CA\u02CB\u0374\u0384\u055A\u055D\u05F3\u07F4\u07F5\u1FBD\u1FBF" +
    "\u1FEF\u1FFD\u1FFE\u2018-\u201B\u2032\u2035\uA78B\uA78C",
  '"': "\u02BA\u02DD\u02EE\u05F4\u201C-\u201F\u2033\u2036",
  "-": "\u02D7\u2010-\u2015\u2043\u2212\u2500\u2796",
  "|": "\u00A6\u01C0\u2223\u2758",
  "<": "\u02C2\u2039\u276E",
  ">": "\u02C3\u203A\u276F",
  "!": "\u01C3\u2D51",
  "*": "\u066D\u204E\u2217",
  "~": "\u02DC\u2053\u223C",
  "=": "\u30A0\uA78A",
}).map(([sign, likes]) => /** @type {const} */ ([sign, new RegExp(`[${likes}]`, "u")]));
const SCRIPTS = ["Latin", "Cyrillic", "Greek", "Armenian", "Cherokee", "Hebrew", "Arabic", "Han", "Hangul"];
/** Scripts of languages whose words stand in paths. The letters of any other script are marked. */
const USUAL = new RegExp(
  ["Cyrillic", "Greek", "Armenian", "Georgian", "Hebrew", "Arabic", "Han", "Hangul", "Hiragana", "Katakana"]
    .concat("Thai", "Devanagari", "Bengali", "Tamil")
    .map((name) => `\\p{Script_Extensions=${name}}`)
    .join("|"),
  "u",
);
const SCRIPT_TESTS = SCRIPTS.map((name) => /** @type {const} */ ([name, new RegExp(`\\p{Script=${name}}`, "u")]));
/** Words that Japanese and Korean write with Latin letters are no reason to warn. */
const HARMLESS = new Set(["Latin", "Han", "Hangul", ""]);

/** The most lines of a text that are shown unfolded. */
const LINES = 14;
/** What stands for text that is not shown: the buttons that unfold it, and the words for what the server left out. */
const NOT_SHOWN = ".fold, .unshown";
/** The most combining marks on one letter. */
const STACK = 4;

/**
 * Returns a node with a text of an agent.
 *
 * @param {string} text
 * @param {{ max?: number, kind?: Kind }} [options]
 * @returns {HTMLElement}
 */
export function foreign(text, { max = 400, kind = "text" } = {}) {
  const element = h("span", {
    class: `foreign foreign-${kind}`,
    dir: kind === "text" ? "auto" : "ltr",
    translate: "no",
  });
  const letters = [...text];
  const lines = kind === "command" || kind === "content" ? text.split("\n").length : 1;
  if (letters.length <= max && lines <= LINES) element.append(...visible(text, kind));
  else fold(element, letters, max, kind);
  return element;
}

/**
 * Returns the beginning of a text, for a place where the whole text is not needed.
 *
 * @param {string} text
 * @param {number} max
 * @param {Kind} [kind]
 * @returns {HTMLElement}
 */
export function brief(text, max, kind = "text") {
  const letters = [...text];
  const shown = letters.slice(0, max).join("").replaceAll("\n", " ");
  const element = h("span", {
    class: `foreign foreign-${kind}`,
    dir: kind === "text" ? "auto" : "ltr",
    translate: "no",
  });
  element.append(...visible(shown, kind), letters.length > max ? "…" : "");
  return element;
}

/** Returns true if a part of what this element tells is folded away or left out. @param {Element} element */
export const isFolded = (element) => element.matches(NOT_SHOWN) || element.querySelector(NOT_SHOWN) !== null;

/**
 * Returns true if a text of an agent can be read here, from its first letter to its last.
 *
 * @param {Element} element
 * @param {string} text
 */
export function shows(element, text) {
  return text !== "" && [...element.querySelectorAll(".foreign")].some((one) => written(one) === text);
}

/** Returns the text of an agent that a node shows, without our marks. @param {Node} node @returns {string} */
function written(node) {
  const shown = node.textContent ?? "";
  if (!(node instanceof Element)) return shown;
  if (node.matches(".mark")) return String.fromCodePoint(parseInt(shown.replace("⟨U+", ""), 16));
  if (node.matches(".break")) return "\n";
  if (node.matches(".warn-mark")) return "";
  return [...node.childNodes].map(written).join("");
}

/**
 * Returns the first rows of a list, and a button for the rest.
 *
 * @param {HTMLElement[]} rows
 * @param {number} max
 * @param {string} name The name of the rows.
 */
export function firstRows(rows, max, name) {
  if (rows.length <= max) return rows;
  const last = h("li");
  last.append(foldButton(`show all ${rows.length} ${name}`, () => last.replaceWith(...rows.slice(max))));
  return [...rows.slice(0, max), last];
}

/** Returns true if the server replaced a secret in this text. @param {string} text */
export const isRedacted = (text) => /\[redacted \d+\]/.test(text);

/**
 * Returns a text as one line of plain text, with its hidden characters as escapes. It is for places without elements.
 *
 * @param {string} text
 * @param {number} [max]
 */
export function plain(text, max = 120) {
  const letters = [...text];
  const line = letters
    .slice(0, max)
    .map((letter) => (HIDDEN.test(letter) ? `⟨${code(letter)}⟩` : letter))
    .join("");
  return letters.length > max ? `${line}…` : line;
}

/**
 * Shows the beginning of a text, and a path or a command with its end, and a button for the rest.
 *
 * @param {HTMLElement} element
 * @param {string[]} letters
 * @param {number} max
 * @param {Kind} kind
 */
function fold(element, letters, max, kind) {
  const [from, to] = kept(letters, max, kind);
  const open = () => element.replaceChildren(...visible(letters.join(""), kind));
  const button = foldButton(`show all ${letters.length.toLocaleString()} characters`, open);
  element.append(...visible(letters.slice(0, from).join(""), kind), h("span.gap", "…"), button);
  if (to < letters.length) element.append(h("span.gap", "…"), ...visible(letters.slice(to).join(""), kind));
}

/** Returns the button that shows what is folded away. @param {string} label @param {() => void} open */
function foldButton(label, open) {
  const button = h("button.fold", label);
  button.addEventListener("click", () => {
    const around = button.closest("[tabindex]");
    open();
    around?.dispatchEvent(new CustomEvent("unfold", { bubbles: true }));
    if (around instanceof HTMLElement) around.focus({ preventScroll: true });
  });
  return button;
}

/**
 * Returns the end of the shown beginning, and the beginning of the shown end.
 *
 * @param {string[]} letters
 * @param {number} max
 * @param {Kind} kind
 */
function kept(letters, max, kind) {
  let from = Math.min(max, letters.length);
  for (let place = 0, lines = 0; place < from; place++) {
    if (letters[place] === "\n" && ++lines >= LINES - 2) from = place;
  }
  if (kind === "text") return [from, letters.length];
  const end = Math.min(Math.floor(max / 4), letters.length - from);
  return [Math.max(1, from - end), letters.length - end];
}

/**
 * Returns a text as nodes, with marks for what the eye would miss.
 *
 * @param {string} text
 * @param {Kind} kind
 * @returns {Node[]}
 */
export function visible(text, kind) {
  /** @type {Node[]} */
  const out = [];
  for (const word of text.split(/([^\p{L}\p{M}\p{N}_-]+)/u)) {
    const others = kind === "path" || kind === "command" ? strictLookalikes(word) : lookalikes(word);
    const nodes = letters(word, kind, others);
    if (others.size === 0) out.push(...nodes);
    else out.push(h("span.mixed", ...nodes, warning(others)));
  }
  return out;
}

/**
 * @param {string} word
 * @param {Kind} kind
 * @param {Map<string, string>} others
 */
function letters(word, kind, others) {
  /** @type {Node[]} */
  const out = [];
  let run = "";
  let stacked = 0;
  const put = (/** @type {Node} */ node) => {
    if (run) out.push(document.createTextNode(run));
    run = "";
    out.push(node);
  };
  for (const letter of word) {
    stacked = /\p{M}/u.test(letter) ? stacked + 1 : 0;
    if (letter === "\n" && kind === "text") put(h("span.break", { "aria-label": "line break", role: "img" }, " ⏎ "));
    else if (stacked > STACK || isHidden(letter, kind)) put(mark(letter));
    else if (others.has(letter)) put(h("span.lookalike", letter));
    else run += letter;
  }
  if (run) out.push(document.createTextNode(run));
  return out;
}

/** @param {string} letter @param {Kind} kind */
function isHidden(letter, kind) {
  if (letter === "\n") return kind === "path";
  if (letter === "\t") return kind !== "text";
  return HIDDEN.test(letter) || (kind !== "text" && ODD_SPACE.test(letter));
}

/** @param {string} letter */
function mark(letter) {
  const name = NAMES.get(letter.codePointAt(0) ?? 0);
  const label = `hidden character ${code(letter)}${name ? `, ${name}` : ""}`;
  return h("span.mark", { role: "img", "aria-label": label, title: label }, `⟨${code(letter)}⟩`);
}

/** @param {string} letter */
function code(letter) {
  return `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/**
 * Returns the letters of a word that could be taken for others, with their scripts. It is empty for an ordinary word.
 *
 * @param {string} word
 * @returns {Map<string, string>}
 */
function lookalikes(word) {
  /** @type {Map<string, string>} */
  const others = new Map();
  if (/^[\x20-\x7e\s]*$/.test(word)) return others;
  const found = [...word].filter((letter) => /\p{L}/u.test(letter));
  const isMixed = found.some((letter) => script(letter) === "Latin");
  const looksLatin = found.length > 0 && found.every((letter) => LOOKALIKE.test(letter));
  for (const letter of [...word]) {
    const of = script(letter);
    if (isStyled(letter)) others.set(letter, "another form of a common letter");
    else if ((isMixed || looksLatin) && !HARMLESS.has(of)) others.set(letter, of);
  }
  return others;
}

/**
 * Returns the letters and signs of a word that could be taken for those of ASCII. Here, a letter of no usual script, or
 * of another script in a word with ASCII letters or digits, is never plain.
 *
 * @param {string} word
 * @returns {Map<string, string>}
 */
function strictLookalikes(word) {
  const others = lookalikes(word);
  const isMixed = /[A-Za-z0-9]/.test(word);
  for (const letter of word) {
    if (letter <= "\x7f") continue;
    const like = SIGNS.find(([, test]) => test.test(letter))?.[0] ?? asciiForm(letter);
    if (like) others.set(letter, `like ${like}`);
    else if (/[\p{Nd}\p{Nl}]/u.test(letter) && isMixed) others.set(letter, "a digit of another script");
    else if (/\p{L}/u.test(letter) && !PLAIN.test(letter) && (isMixed || !USUAL.test(letter)))
      others.set(letter, script(letter) || "another script");
  }
  return others;
}

/** Returns the sign of ASCII of which a character is another form. @param {string} letter */
function asciiForm(letter) {
  const plain = letter.normalize("NFKC");
  return /^[\x21-\x7e]$/.test(plain) ? plain : undefined;
}

/** @param {string} letter */
function script(letter) {
  return SCRIPT_TESTS.find(([, test]) => test.test(letter))?.[0] ?? "";
}

/** Returns true for a full-width or mathematical form of an ASCII letter or digit. @param {string} letter */
function isStyled(letter) {
  return letter > "\x7f" && /^[A-Za-z0-9./\\-]$/.test(letter.normalize("NFKC"));
}

/** @param {Map<string, string>} others */
function warning(others) {
  const list = [...others]
    .slice(0, 4)
    .map(([letter, of]) => `${code(letter)} (${of})`)
    .join(", ");
  const label = `This word has letters that look like others: ${list}. It is not the word it seems to be.`;
  return h("span.warn-mark", { role: "img", "aria-label": label, title: label }, "looks alike");
}

/** Returns true if a name says no more than the id that it names. @param {string} name @param {string} id */
export const isSame = (name, id) => name.toLowerCase() === id.toLowerCase();
