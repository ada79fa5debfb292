/** One request on the screen, and the person's answer to it. */

import { answer, isMine } from "./answer.js";
import { api, path } from "./api.js";
import { canChange, changeField } from "./change.js";
import { allParts, commandLine, judgement, tierBadge } from "./command.js";
import { content } from "./content.js";
import { confirm } from "./dialog.js";
import { h, replace } from "./dom.js";
import { leads } from "./leads.js";
import { scopePicker } from "./scope.js";
import { requests } from "./store.js";
import { foreign, isFolded } from "./text.js";
import { ago, duration, exact, live, now } from "./time.js";
import { allowLabel, consequence, outcomeWords, permissionWords, sentence, useWords } from "./words.js";

/** @typedef {import("./types.js").RequestState} RequestState */
/** @typedef {import("./types.js").Question} Question */
/** @typedef {import("./types.js").ScopeName} ScopeName */
/** @typedef {import("./types.js").PermissionPreview} PermissionPreview */

/** The time for which a new card takes no answer, in milliseconds. It may be meant for the card before. */
const FRESH = 1000;
/** The time after which the disk is looked at again. */
const LOOKED = 15_000;
/** The time before the end at which the card says that it ends soon. */
const SOON = 60_000;
/** The uses that are listed before the others are folded away. */
const LISTED = 4;

let number = 0;

/** One request on the screen. Its body is made when it is about to be seen. */
export class Card {
  /** @param {RequestState} request */
  constructor(request) {
    this.id = request.id;
    this.question = /** @type {Question} */ (request.question);
    this.readyAt = performance.now() + FRESH;
    this.isPicked = false;
    this.wasSeen = false;
    /** @type {number | null} */
    this.endedAt = null;
    this.isSending = false;
    this.lookedAt = -Infinity;
    const label = `card-${++number}`;
    this.head = h("p", { class: "ask", id: label }, sentence(this.question));
    this.element = h("article", { class: "card panel fresh", tabindex: "-1", "aria-labelledby": label });
    setTimeout(() => this.element.classList.remove("fresh"), FRESH);
  }

  get isWaiting() {
    return requests.get(this.id)?.status === "pending";
  }

  /** True if the card is long enough on the screen to take an answer. */
  get isReady() {
    return performance.now() >= this.readyAt && this.isWaiting && !this.isSending && this.isFilled;
  }

  get isFilled() {
    return this.element.firstChild !== null;
  }

  /** True if everything that the request says is shown, and a plain approval for one use is possible. */
  get canBePicked() {
    const isPlain = !this.isDestructive() && this.change?.value() === undefined;
    return this.isReady && isPlain && this.offered()[0] === "once" && !isFolded(this.element);
  }

  /** @param {boolean} isPicked */
  setPicked(isPicked) {
    this.isPicked = isPicked;
    this.element.classList.toggle("picked", isPicked);
    if (this.pick) this.pick.checked = isPicked;
  }

  /** Takes no answer for a moment, because the card has moved under the pointer. */
  settle() {
    this.readyAt = Math.max(this.readyAt, performance.now() + FRESH / 2);
  }

  /** Makes the body of the card. */
  fill() {
    if (this.isFilled) return;
    const { action, permissions } = this.question;
    this.error = h("p", { class: "entry-error", role: "alert" });
    this.hint = h("p", { class: "hint" });
    this.result = h("div", { class: "result", role: "status" });
    this.allow = h("button", {
      type: "button",
      class: "button allow",
      onclick: this.byPointer(() => this.answer("allow")),
    });
    this.deny = h(
      "button",
      { type: "button", class: "button", onclick: this.byPointer(() => this.answer("deny")) },
      "Deny ",
      key("d"),
    );
    this.scope = scopePicker(this.offered(), firstScope(this.question), () => this.show());
    this.words = h("input", {
      class: "input",
      maxlength: 2000,
      placeholder: "A few words to the agent",
      "aria-label": "Words to the agent",
    });
    this.wordsField = h("div", { hidden: true }, this.words);
    this.changePlace = h("div");
    this.boxes = permissions.map((permission) => ({ permission, box: checked(() => this.show()) }));
    this.places = new Map(permissions.map((permission) => [permission, h("div")]));
    this.more = h("div", { class: "more", hidden: true });
    this.pick = h("input", { type: "checkbox", class: "pick", "aria-label": "Select this request", tabindex: "-1" });
    this.controls = h(
      "div",
      { class: "controls" },
      this.changePlace,
      this.wordsField,
      this.error,
      h("div", { class: "answers" }, this.scope.element, h("div", { class: "buttons" }, this.deny, this.allow)),
      h("div", { class: "under" }, this.hint, this.extras()),
    );
    replace(
      this.element,
      h("div", { class: "card-head" }, this.pick, this.head, this.times()),
      h("div", { class: "card-body" }, action ? this.about(action) : this.wanted(), this.facts(), this.more),
      this.controls,
      this.result,
    );
    this.element.addEventListener("unfold", () => this.show());
    this.show();
    if (!this.isWaiting) this.end();
  }

  /** Returns the time for which the request waits, and its end. */
  times() {
    const { since, expiresAt, action } = this.question;
    const left = live(expiresAt, (element) => {
      const rest = Date.parse(expiresAt) - now();
      element.classList.toggle("soon", rest < SOON);
      return rest > 0 ? `${duration(rest)} left` : "expired";
    });
    left.title = `Expires ${exact(expiresAt)}`;
    const tier = action && (action.destructive ? tierBadge("destructive") : tierBadge(action.tier));
    return h("div", { class: "times" }, tier, h("span", null, ago(since)), left);
  }

  /** Returns what the agent wants to do. @param {import("./types.js").Action} action */
  about(action) {
    const { details } = this.question;
    const isCommand = action.operation === "command.execute";
    const what = isCommand
      ? commandLine(action)
      : h("code", { class: "code command" }, foreign(action.resource, { max: 600, kind: "path" }));
    return h(
      "div",
      { class: "stack tight" },
      what,
      judgement(action),
      details && !isCommand && content(details, action.resource),
    );
  }

  /** Returns the permissions that an approval gives. */
  wanted() {
    if (!this.boxes || this.boxes.length === 0) return null;
    const rows = this.boxes.map(({ permission, box }) =>
      h(
        "li",
        null,
        h("label", { class: "wish" }, box, h("span", null, permissionWords(permission))),
        this.places?.get(permission),
      ),
    );
    return h("ul", { class: "wishes" }, rows);
  }

  /** Returns the facts about the request, one on each line. */
  facts() {
    const { hooks = [], action } = this.question;
    const uses = (action?.uses ?? []).filter((use) => use.origin !== "own");
    const listed = uses.slice(0, LISTED).map((use) => h("li", null, useWords(use)));
    const rest =
      uses.length > LISTED && h("li", { class: "muted" }, `and ${uses.length - LISTED} more, see the details`);
    const { impactScope, impact_scope, rollbackAdvice, rollback_advice } = action?.impact ?? {};
    const [affected, advice] = [impactScope ?? impact_scope, rollbackAdvice ?? rollback_advice];
    return h(
      "dl",
      { class: "facts" },
      affected && fact("Affects", foreign(affected)),
      advice && fact("Way back", foreign(advice)),
      action && this.question.permissions.length > 0 && fact("Needs", this.wanted()),
      uses.length > 0 && fact("Does", h("ul", null, listed, rest)),
      hooks.length > 0 &&
        fact(
          "A hook says",
          h(
            "ul",
            null,
            hooks.map((said) => h("li", null, foreign(said, { max: 300 }))),
          ),
        ),
      fact("Agent", this.agent()),
    );
  }

  /** Returns what the agent is, and who is above it. */
  agent() {
    const { above = [], agentKind = "agent", ownerId } = this.question;
    const chain = above.flatMap((agent) => [", created by ", foreign(agent, { max: 60, kind: "path" })]);
    return [agentKind, chain, ", of ", foreign(ownerId, { max: 60, kind: "path" })];
  }

  /** Returns the buttons for words, a change and the details. */
  extras() {
    const quiet = (/** @type {string} */ label, /** @type {string} */ letter, /** @type {() => void} */ run) =>
      h("button", { type: "button", class: "button quiet small", onclick: run }, label, " ", key(letter));
    this.moreButton = quiet("Details", "↵", () => this.toggleMore());
    this.moreButton.setAttribute("aria-expanded", "false");
    return h(
      "div",
      { class: "extras" },
      quiet("Add words", "w", () => this.openWords()),
      canChange(this.question) && quiet("Change it", "e", () => this.openChange()),
      this.moreButton,
    );
  }

  /** Returns the scopes that may be offered. `always` needs a text that is shown whole. */
  offered() {
    const { scopes, onceOnly } = this.question;
    const offered = scopes ?? (onceOnly ? ["once"] : ["once", "session"]);
    return /** @type {ScopeName[]} */ (
      isFolded(this.element) ? offered.filter((scope) => scope !== "always") : offered
    );
  }

  /** Shows what the answer would be now. */
  show() {
    if (!this.scope || !this.allow || !this.hint || !this.boxes) return;
    const offered = this.offered();
    this.scope.offer(offered);
    const scope = this.scope.name();
    const isSplit = this.mayBeSplit();
    for (const { box } of this.boxes) {
      box.hidden = !isSplit;
      if (!isSplit) box.checked = true;
    }
    const part = this.boxes.filter(({ box }) => box.checked).length;
    const isChanged = this.change?.value() !== undefined;
    replace(
      this.allow,
      isChanged ? `${allowLabel(scope, 1, 1)}, as changed ` : `${allowLabel(scope, part, this.boxes.length)} `,
      key("a"),
    );
    this.allow.disabled = (isSplit && part === 0) || this.scope.value() === null || !(this.change?.isReady() ?? true);
    this.allow.classList.toggle("danger", this.isDestructive());
    replace(
      this.hint,
      consequence(this.question, scope),
      this.limits(offered),
      part < this.boxes.length && " The others are denied.",
    );
  }

  /** Returns why a scope is missing. @param {ScopeName[]} offered */
  limits(offered) {
    const { scopes, onceOnly, action } = this.question;
    if (onceOnly) return " The request does not show everything, so it can be allowed once only.";
    if (scopes?.includes("always") && !offered.includes("always")) return " Show the whole text to allow it always.";
    if (action?.shape && ["until", "always"].includes(this.scope?.name() ?? "")) {
      return [" The form: ", foreign(action.shape, { max: 300, kind: "command" })];
    }
    return null;
  }

  /** Returns true if the person may allow a part of the permissions. */
  mayBeSplit() {
    return this.question.permissions.length > 1 && (!this.question.action || this.scope?.name() !== "once");
  }

  isDestructive() {
    return this.question.action?.destructive === true || (this.change?.isDestructive() ?? false);
  }

  /** Looks where the paths lead, unless it was done just now. */
  async look() {
    const hasPath = this.question.permissions.some((permission) => /^@(read|write):/.test(permission));
    if (!hasPath || !this.isWaiting || performance.now() - this.lookedAt < LOOKED) return;
    this.lookedAt = performance.now();
    try {
      /** @type {{ permissions: PermissionPreview[] }} */
      const { permissions } = await api.get(path`/v1/requests/${this.id}/preview`);
      for (const preview of permissions) {
        const place = this.places?.get(preview.permission);
        if (place) replace(place, leads(preview));
      }
    } catch {
      this.lookedAt = -Infinity;
    }
  }

  openWords() {
    if (this.wordsField) this.wordsField.hidden = false;
    this.words?.focus();
  }

  openChange() {
    if (!canChange(this.question)) return;
    if (!this.change) {
      this.change = changeField(this.question, () => this.show());
      this.changePlace?.append(this.change.element);
    }
    this.change.focus();
  }

  /** Shows or hides everything about the request. */
  toggleMore() {
    if (!this.more) return;
    if (!this.more.firstChild) replace(this.more, everything(requests.get(this.id), this.question));
    this.more.hidden = !this.more.hidden;
    this.moreButton?.setAttribute("aria-expanded", String(!this.more.hidden));
  }

  /** Returns a listener for a button that answers. The second click of a double click, and one too early, do nothing. */
  byPointer(/** @type {() => unknown} */ run) {
    return (/** @type {MouseEvent} */ event) => {
      if (event.detail > 1) return;
      if (this.isReady) run();
      else this.tooEarly();
    };
  }

  /** Says that the answer came too early to be meant for this card. */
  tooEarly() {
    if (!this.isWaiting || this.isSending || !this.error) return;
    const error = this.error;
    replace(error, "This request has only just appeared here. Read it, then answer.");
    setTimeout(() => replace(error), 2500);
  }

  /**
   * Sends the answer. Returns true if the request has ended.
   *
   * @param {"allow" | "deny"} decision
   */
  async answer(decision) {
    if (!this.isReady || !this.scope || !this.boxes) return this.tooEarly();
    if (decision === "allow" && this.allow?.disabled) return;
    const change = this.change?.value();
    if (decision === "allow" && this.isDestructive() && !(await this.confirmed())) return;
    await this.send(decision, this.scope.value() ?? "once", change);
  }

  /**
   * Sends an answer with what is checked and typed on the card.
   *
   * @param {"allow" | "deny"} decision
   * @param {string} scope
   * @param {string | Record<string, unknown>} [change]
   */
  async send(decision, scope, change) {
    if (!this.isReady || !this.error || !this.boxes) return;
    const feedback = this.words?.value.trim();
    const only = this.boxes.filter(({ box }) => box.checked).map(({ permission }) => permission);
    const approval = {
      scope,
      ...(only.length < this.boxes.length && { permissions: only }),
      ...(change !== undefined && { modifiedInput: change }),
    };
    this.isSending = true;
    this.element.classList.add("sending");
    replace(this.error);
    try {
      await answer(this.id, { decision, ...(decision === "allow" && approval), ...(feedback && { feedback }) });
    } catch (why) {
      replace(this.error, why instanceof Error ? why.message : String(why));
    }
    this.isSending = false;
    this.element.classList.remove("sending");
    if (!this.isWaiting) this.end();
  }

  confirmed() {
    const { code = "" } = requests.get(this.id) ?? {};
    const command = h(
      "code",
      { class: "code" },
      foreign(String(this.change?.value() ?? this.question.action?.resource ?? ""), { max: 300, kind: "command" }),
    );
    const body = h("div", { class: "stack" }, h("p", null, "This cannot be undone."), command);
    return confirm({ title: "Allow a destructive action?", body, action: "Allow it once", danger: true, typed: code });
  }

  /** Shows that the request has ended, and by whom. What was typed stays readable. */
  end() {
    if (this.isSending) return;
    const request = requests.get(this.id);
    this.element.classList.add("ended");
    if (!request || !this.controls || !this.result) return;
    if (this.controls.contains(document.activeElement)) this.element.focus({ preventScroll: true });
    this.controls.inert = true;
    replace(this.result, outcomeWords(request, isMine(this.id)));
  }
}

/**
 * Returns the scope that is chosen at first: one use for an action, and for permissions what the agent asks for, but not
 * longer than the run.
 *
 * @param {Question} question
 * @returns {ScopeName}
 */
function firstScope({ action, scope }) {
  return action || scope === "once" ? "once" : "session";
}

/** @param {string} name */
const key = (name) => h("kbd", { "aria-hidden": "true" }, name);

/** @param {() => void} changed */
function checked(changed) {
  const box = h("input", { type: "checkbox" });
  box.checked = true;
  box.addEventListener("change", changed);
  return box;
}

/**
 * @param {string} name
 * @param {import("./types.js").Child} content
 */
const fact = (name, content) => [h("dt", null, name), h("dd", null, content)];

/**
 * Returns everything about a request that the card does not show at once.
 *
 * @param {RequestState | undefined} request
 * @param {Question} question
 */
function everything(request, { action, route, runId, since, expiresAt, ownerId, scope, text }) {
  const uses = action?.uses ?? [];
  const code = (/** @type {string} */ shown) =>
    h("code", { class: "code" }, foreign(shown, { max: 2000, kind: "command" }));
  return h(
    "dl",
    { class: "facts" },
    action?.parts && action.parts.length > 0 && fact("Parts", allParts(action.parts)),
    uses.length > 0 &&
      fact(
        "Uses",
        h(
          "ul",
          null,
          uses.map((use) => h("li", null, useWords(use), h("span", { class: "muted" }, ` (${use.origin})`))),
        ),
      ),
    action && fact("Tool", foreign(action.tool, { max: 80 })),
    action && fact("Input", code(JSON.stringify(action.input, null, 2))),
    action && fact("Judged", foreign(action.tierReason)),
    scope && fact("Asks for", foreign(scope, { max: 80 })),
    fact("As text", foreign(text, { max: 1500 })),
    fact("Shown", foreign(route, { max: 120 })),
    fact("Run", foreign(runId, { max: 120, kind: "path" })),
    fact("Owner", foreign(ownerId, { max: 120, kind: "path" })),
    fact("Code", [h("code", null, request?.code ?? ""), h("span", { class: "muted" }, " for the terminal")]),
    fact("Since", exact(since)),
    fact("Expires", exact(expiresAt)),
  );
}
