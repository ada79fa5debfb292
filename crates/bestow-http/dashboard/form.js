/** The part of a card in which a person answers: for how long, with which words, and with which change. */

import { canChange, changeField } from "./change.js";
import { h, replace } from "./dom.js";
import { key } from "./keys.js";
import { scopePicker } from "./scope.js";
import { foreign } from "./text.js";
import { fresh } from "./time.js";
import { allowLabel, consequence } from "./words.js";

/** @import { Question, ScopeName } from "./types.js" */
/** @import { Wishes } from "./wishes.js" */
/** @import { AnswerBody } from "./answer.js" */
/** @typedef {{ allow(event: MouseEvent): void, deny(event: MouseEvent): void, details(): void }} Clicks */

/** The form of one request. */
export class Form {
  /**
   * @param {Question} question
   * @param {Wishes} wishes
   * @param {() => boolean} isWhole Returns true if the card shows the whole request.
   * @param {Clicks} clicks
   */
  constructor(question, wishes, isWhole, clicks) {
    this.question = question;
    this.wishes = wishes;
    this.isWhole = isWhole;
    this.error = h("p.entry-error", { role: "alert" });
    this.hint = h("p.hint");
    this.allow = h("button.button.allow", { onclick: clicks.allow });
    this.deny = h("button.button", { onclick: clicks.deny }, "Deny ", key("d"));
    this.scope = scopePicker(this.offered(), firstScope(question), () => this.show());
    const placeholder = "A few words to the agent";
    this.words = h("input.input", { maxlength: 2000, placeholder, "aria-label": placeholder, hidden: true });
    /** @type {import("./change.js").Change | null} */
    this.change = null;
    this.changePlace = h("div");
    this.details = quiet("Details", "↵", clicks.details);
    this.details.setAttribute("aria-expanded", "false");
    const change = canChange(question) && quiet("Change it", "e", () => this.openChange());
    const extras = h(
      "div.extras",
      quiet("Add words", "w", () => this.openWords()),
      change,
      this.details,
    );
    this.buttons = h("div.buttons", this.deny, this.allow);
    this.element = h(
      "div.controls",
      this.changePlace,
      this.words,
      h("div.answers", this.scope.element, this.buttons),
      this.error,
      h("div.under", this.hint, extras),
    );
    this.show();
  }

  /** Returns where its buttons are on the page, wherever the person has scrolled to. */
  get spot() {
    const { left, top } = this.deny.getBoundingClientRect();
    return `${Math.round(left + scrollX)} ${Math.round(top + scrollY)}`;
  }

  /** Returns the scopes that may be offered. More than one use needs a request that is shown whole. */
  offered() {
    const { scopes, onceOnly } = this.question;
    /** @type {ScopeName[]} */
    const offered = scopes ?? (onceOnly ? ["once"] : ["once", "session"]);
    return this.isWhole() ? offered : offered.filter((scope) => scope === "once");
  }

  get isDestructive() {
    return this.question.action?.destructive === true || (this.change?.isDestructive() ?? false);
  }

  get isChanged() {
    return this.change?.value() !== undefined;
  }

  /** Shows what the answer would be now. */
  show() {
    const offered = this.offered();
    this.scope.offer(offered);
    const scope = this.scope.name();
    this.wishes.split(this.wishes.count > 1 && (!this.question.action || scope !== "once"));
    const part = this.wishes.chosen().length;
    const label = () => allowLabel(scope, this.scope.end(), part, this.wishes.count);
    const shown = scope === "until" ? fresh(h("span"), label) : label();
    replace(this.allow, shown, this.isChanged ? ", as changed " : " ", key("a"));
    this.allow.disabled = this.obstacle() !== null;
    this.allow.classList.toggle("danger", this.isDestructive);
    const rest = part < this.wishes.count && " The others are denied.";
    replace(this.hint, consequence(this.question, scope), this.remark(offered), rest);
  }

  /** Returns why the request cannot be allowed as it is chosen now, or null if it can. */
  obstacle() {
    if (this.wishes.count > 0 && this.wishes.chosen().length === 0)
      return "Choose at least one permission, or deny the request.";
    if (!this.offered().includes(this.scope.name())) return "Show the whole request to allow more than one use.";
    if (this.scope.value() === null) return "Choose a time that is still to come.";
    return this.change?.isReady() === false ? "The change cannot be allowed before it was judged." : null;
  }

  /** Returns why a scope is missing, or what the chosen one covers. @param {ScopeName[]} offered */
  remark(offered) {
    const { scopes, onceOnly, action } = this.question;
    if (onceOnly) return " The request does not show everything, so it can be allowed once only.";
    if ((scopes?.length ?? 0) > offered.length) return " Only once, because a part of the request is not shown here.";
    const isLasting = ["until", "always"].includes(this.scope.name());
    const form = isLasting && action?.shape;
    return form ? [" The form: ", foreign(form, { max: Infinity, kind: "path" })] : limit(this.question, offered);
  }

  /**
   * Returns the answer with what is chosen and typed. A batch gives its own scope.
   *
   * @param {"allow" | "deny"} decision
   * @param {string} [scope]
   * @returns {AnswerBody}
   */
  body(decision, scope) {
    const feedback = this.words.value.trim();
    const words = feedback === "" ? {} : { feedback };
    if (decision === "deny") return { decision, ...words };
    const chosen = this.wishes.chosen();
    const change = this.change?.value();
    return {
      decision,
      scope: scope ?? this.scope.value() ?? "once",
      ...(chosen.length < this.wishes.count && { permissions: chosen }),
      ...(change !== undefined && { modifiedInput: change }),
      ...words,
    };
  }

  /** Returns the action as it would be allowed. */
  object() {
    const changed = this.change?.value();
    return typeof changed === "string"
      ? changed
      : changed
        ? JSON.stringify(changed)
        : (this.question.action?.resource ?? "");
  }

  openWords() {
    this.words.hidden = false;
    this.words.focus();
  }

  openChange() {
    if (!canChange(this.question)) return;
    this.change ??= changeField(this.question, () => this.show());
    this.changePlace.append(this.change.element);
    this.change.focus();
  }

  /** @param {unknown} why */
  fail(why) {
    replace(this.error, why instanceof Error ? why.message : String(why));
  }

  /** Takes a failure back: the server can be reached again. */
  forgive() {
    replace(this.error);
  }

  /** @param {boolean} isOpen */
  setDetails(isOpen) {
    this.details.setAttribute("aria-expanded", String(isOpen));
  }
}

/**
 * Returns why no longer scope is offered, or null if all of them are.
 *
 * @param {Question} question
 * @param {ScopeName[]} offered
 */
function limit({ scope, action, onlyLacks }, offered) {
  if (offered.includes("always")) return null;
  if (action?.destructive) return " A destructive action can be allowed once only.";
  if (scope !== undefined) return " The agent asks for no longer.";
  if (!action || onlyLacks) return " It cannot be given for longer.";
  if (action.operation === "command.execute" || action.operation === "fs.exec")
    return " This command has no form that could be allowed for longer.";
  return " An action of this kind cannot be allowed for longer.";
}

/**
 * Returns the scope that is chosen at first: one use for an action, and for permissions the run, if the agent does not
 * ask for less.
 *
 * @param {Question} question
 * @returns {ScopeName}
 */
function firstScope({ action, scope }) {
  return action || scope === "once" ? "once" : "session";
}

/**
 * @param {string} label
 * @param {string} letter
 * @param {() => void} run
 */
const quiet = (label, letter, run) => h("button.button.quiet.small", { onclick: run }, label, " ", key(letter));
