/** Dialogs and short messages. */

import { h, replace } from "./dom.js";

/** @typedef {{ label: string, run: () => unknown, seconds: number }} Undo */

/** The time for which a message stays, in seconds. */
const STAY = 5;

/** @type {(() => void) | null} */
let lastUndo = null;

/**
 * Asks the person to confirm. With `typed`, the action can be chosen only after this text was typed.
 *
 * @param {{ title: string, body: Node, action: string, danger?: boolean, typed?: string }} question
 * @returns {Promise<boolean>}
 */
export function confirm({ title, body, action, danger = false, typed }) {
  const go = h("button", { type: "submit", class: `button ${danger ? "danger" : "primary"}` }, action);
  const cancel = h("button.button", "Cancel");
  const field = typed === undefined ? null : typedField(typed, go);
  const { dialog, form, closed } = opened(title, [body, field], [cancel, go]);
  let isAgreed = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    isAgreed = !go.disabled;
    if (isAgreed) dialog.close();
  });
  cancel.addEventListener("click", () => dialog.close());
  ((field && form.querySelector("input")) ?? (danger ? cancel : go)).focus();
  return closed.then(() => isAgreed);
}

/** Shows something in a dialog until the person closes it. @param {{ title: string, body: Node }} content */
export function message({ title, body }) {
  return opened(title, [body], [h("button.button", { type: "submit" }, "Close")]).closed;
}

/**
 * Opens a dialog. The focus returns to where it was when the dialog closes.
 *
 * @param {string} title
 * @param {(Node | null)[]} body
 * @param {HTMLElement[]} buttons
 */
function opened(title, body, buttons) {
  const head = h("h2", { id: "dialog-title" }, title);
  const form = h("form", { method: "dialog" }, head, h("div.dialog-body", body), h("div.dialog-buttons", buttons));
  const dialog = h("dialog.dialog", { "aria-labelledby": "dialog-title" }, form);
  const closed = new Promise((resolve) => dialog.addEventListener("close", resolve)).then(() => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return { dialog, form, closed };
}

/**
 * Returns a field that enables the button while its text is the wanted one.
 *
 * @param {string} wanted
 * @param {HTMLButtonElement} go
 */
function typedField(wanted, go) {
  const input = h("input.input", { type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
  go.disabled = true;
  input.addEventListener("input", () => (go.disabled = input.value.trim() !== wanted));
  return h("label.field", h("span", "Type ", h("code", wanted), " to go on"), input);
}

/** Returns true while a dialog is open. */
export const isAsking = () => document.querySelector("dialog[open]") !== null;

/**
 * Shows a message for a few seconds. With `undo`, the person can take back what was done.
 *
 * @param {string} text
 * @param {{ undo?: Undo, kind?: "info" | "error" }} [options]
 */
export function toast(text, { undo, kind = "info" } = {}) {
  const element = h("div", { class: `toast toast-${kind}` }, h("span", text));
  const seconds = undo?.seconds ?? (kind === "error" ? STAY * 2 : STAY);
  const end = () => {
    clearTimeout(timer);
    element.remove();
    if (lastUndo === takeBack) lastUndo = null;
  };
  const takeBack = () => {
    end();
    void undo?.run();
  };
  const timer = setTimeout(end, seconds * 1000);
  if (undo) {
    const bar = h("span.toast-time");
    bar.style.animationDuration = `${undo.seconds}s`;
    const key = h("kbd", { "aria-hidden": "true" }, "u");
    element.append(h("button.button.small", { onclick: takeBack }, undo.label, " ", key), bar);
    lastUndo = takeBack;
  } else {
    element.append(h("button.toast-close", { "aria-label": "Close", onclick: end }, "×"));
  }
  region(kind).append(element);
}

/** Takes back what the last message offers to take back. Returns false if there is nothing. */
export function undoLast() {
  lastUndo?.();
  return lastUndo !== null;
}

/** Shows an error as a message. @param {unknown} why */
export function toastError(why) {
  toast(why instanceof Error ? why.message : String(why), { kind: "error" });
}

/** Returns the place for messages. Screen readers announce what is added to it. @param {"info" | "error"} kind */
function region(kind) {
  const id = `toasts-${kind}`;
  const found = document.getElementById(id);
  if (found) return found;
  const live = kind === "error" ? { role: "alert" } : { role: "status", "aria-live": "polite" };
  const made = h("div.toasts", { id, ...live });
  (document.getElementById("toasts") ?? document.body).append(made);
  return made;
}

/** Says something to screen readers only. @param {string} text */
export function announce(text) {
  const place = document.getElementById("announcer");
  if (place) replace(place, text);
}
