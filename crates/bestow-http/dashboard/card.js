/** One request on the screen, from its arrival to its end. */

import { answer, isMine } from "./answer.js";
import { confirm } from "./dialog.js";
import { h, replace } from "./dom.js";
import { Form } from "./form.js";
import { about, everything, facts, times } from "./question.js";
import { permissionList } from "./say.js";
import { requests } from "./store.js";
import { brief, foreign, isFolded, shows } from "./text.js";
import { wishes } from "./wishes.js";
import { objectOf, outcomeWords, sentence } from "./words.js";

/** @import { RequestState, Question } from "./types.js" */

/** The time for which a card takes no answer after it came, or was selected by itself, in milliseconds. */
const FRESH = 1000;
/** The time for which a card that moved takes no click, in milliseconds. */
const MOVED = 500;
/** The beginning of a command that a closed card shows. */
const GLANCE = 200;

let number = 0;

/** One request on the screen. Its body is made when it is about to be seen. */
export class Card {
  /** @param {RequestState} request */
  constructor(request) {
    const label = `card-${++number}`;
    this.id = request.id;
    this.code = request.code;
    this.question = /** @type {Question} */ (request.question);
    this.readyAt = 0;
    this.stillAt = 0;
    /** Where the buttons were when they were drawn last. @type {string | undefined} */
    this.spot = undefined;
    this.isPicked = false;
    this.isOpen = false;
    this.isSending = false;
    this.isRemarked = false;
    this.wasSeen = false;
    /** @type {number | null} */
    this.endedAt = null;
    /** @type {Form | null} */
    this.form = null;
    this.wishes = wishes(this.question.permissions, () => this.form?.show());
    this.sentence = h("p.ask", { id: label }, sentence(this.question));
    this.more = h("div.more", { hidden: true });
    this.glance = h("div.glance");
    this.result = h("div.outcome", { role: "status" });
    this.pick = h("input.pick", { type: "checkbox", "aria-label": "Select this request", tabindex: "-1" });
    this.element = h("article.card.panel.fresh", { tabindex: "-1", "aria-labelledby": label });
    setTimeout(() => this.element.classList.remove("fresh"), FRESH);
    this.element.addEventListener("contentvisibilityautostatechange", () => this.settle());
    for (const act of ["click", "input", "change"]) this.element.addEventListener(act, () => this.acceptSpot());
    this.rest();
  }

  get isWaiting() {
    return requests.get(this.id)?.status === "pending";
  }

  /** True if the card was on the screen for long enough to take an answer. */
  get isReady() {
    return performance.now() >= this.readyAt && this.isWaiting && !this.isSending && this.form !== null;
  }

  /** True if the card shows the whole request: nothing is folded away or left out, and the object is there. */
  get isWhole() {
    const face = [...this.element.children].filter((part) => part !== this.more && part !== this.glance);
    const object = this.question.action?.resource;
    const isTold = !this.question.onceOnly && !face.some(isFolded);
    return isTold && (object === undefined || face.some((part) => shows(part, object)));
  }

  /** True if everything that the request says is shown, and a plain answer for one use is possible. */
  get canBePicked() {
    const isPlain = this.form !== null && !this.form.isDestructive && !this.form.isChanged;
    return this.isReady && isPlain && this.form?.offered()[0] === "once" && this.isWhole;
  }

  /** Makes the body of the card. */
  fill() {
    if (this.form) return;
    const isOne = this.wishes.count === 1;
    replace(this.glance, this.summary(), h("button.button.quiet.small.open-card", "Open"));
    replace(
      this.element,
      h("div.card-head", this.pick, this.sentence, times(this.question)),
      this.glance,
      about(this.question) ?? (isOne ? null : this.wishes.element),
      facts(this.question, this.question.action ? this.wishes.element : isOne ? this.wishes.place : null),
      this.more,
    );
    this.form = new Form(this.question, this.wishes, () => this.isWhole, {
      allow: this.byPointer(() => this.answer("allow")),
      deny: this.byPointer(() => this.answer("deny")),
      details: () => this.toggleDetails(),
    });
    this.form.element.addEventListener("input", () => this.forgetRemark());
    this.element.append(this.form.element, this.result);
    this.element.addEventListener("unfold", () => this.form?.show());
    if (!this.isWaiting) this.end();
  }

  /** Returns the object in short, for a card that is not the current one. */
  summary() {
    const { action, permissions } = this.question;
    if (!action) return h("span.clip", permissionList(permissions));
    const kind = action.operation === "command.execute" ? "command" : "path";
    return h("code.clip", brief(action.resource, GLANCE, kind));
  }

  /**
   * Shows all of the card, or its beginning. Its buttons take no click for a moment after they appear.
   *
   * @param {boolean} isOpen
   */
  setOpen(isOpen) {
    if (this.element.classList.toggle("open", isOpen) === this.isOpen) return;
    this.isOpen = isOpen;
    if (!isOpen) return this.forgetRemark();
    this.stillAt = performance.now() + MOVED;
    this.showBusy();
  }

  /** @param {boolean} isPicked */
  setPicked(isPicked) {
    this.isPicked = isPicked;
    this.element.classList.toggle("picked", isPicked);
    this.pick.checked = isPicked;
  }

  /** Takes no click for a moment if its buttons have moved. The click may be meant for what was there before. */
  settle() {
    const isDrawn = this.form?.element.checkVisibility({ contentVisibilityAuto: true });
    const spot = isDrawn ? this.form?.spot : undefined;
    if (spot && this.spot && this.spot !== spot) {
      this.stillAt = performance.now() + MOVED;
      this.showBusy();
    }
    this.spot = spot;
  }

  /** Takes the place of the buttons as it is. What the person does on the card itself may move them. */
  acceptSpot() {
    if (performance.now() >= this.stillAt) this.spot = this.form?.spot;
  }

  /** Takes no answer for a moment, because the person may not have seen it yet. */
  rest() {
    this.readyAt = performance.now() + FRESH;
    this.showBusy();
  }

  /** Tells screen readers that the card is busy while it takes no answer. */
  showBusy() {
    const left = Math.max(this.readyAt, this.stillAt) - performance.now();
    this.element.ariaBusy = left > 0 ? "true" : null;
    if (left > 0) setTimeout(() => this.showBusy(), left + 1);
  }

  /** Looks where the paths lead. */
  look() {
    if (this.isWaiting) void this.wishes.look(this.id);
  }

  toggleDetails() {
    if (!this.more.firstChild) replace(this.more, everything(this.question, this.code, this.wishes.covered));
    this.more.hidden = !this.more.hidden;
    this.form?.setDetails(!this.more.hidden);
  }

  /**
   * Returns a listener for a button that answers. The second click of a double click does nothing, and a click on a
   * button that has only just come under the pointer does nothing. A press of a key on the button has no `detail`.
   *
   * @param {() => unknown} run
   */
  byPointer(run) {
    return (/** @type {MouseEvent} */ { detail }) => {
      if (detail > 1) return;
      this.settle();
      if (detail === 1 && performance.now() < this.stillAt) this.remark("This has just moved. Look, then click.");
      else run();
    };
  }

  /**
   * Returns true if the buttons that answer are on the screen. Otherwise they are brought there: a key does only what
   * the person sees.
   */
  showsButtons() {
    const { top, bottom } = this.form?.buttons.getBoundingClientRect() ?? { top: 0, bottom: 0 };
    if (top >= 0 && bottom <= innerHeight) return true;
    this.form?.element.scrollIntoView({ block: "nearest" });
    this.rest();
    this.remark("This request was not on the screen. Read it, then answer.");
    return false;
  }

  /** Answers with what is chosen on the card. @param {"allow" | "deny"} decision */
  async answer(decision) {
    if (!this.form || !this.isWaiting || this.isSending) return;
    if (!this.isReady) {
      this.rest();
      return this.remark("This request has only just appeared here. Read it, then answer.");
    }
    this.forgetRemark();
    const obstacle = decision === "allow" && this.form.obstacle();
    if (obstacle) return this.remark(obstacle);
    if (decision === "allow" && this.form.isDestructive && !(await this.confirmed())) return;
    await this.send(decision);
  }

  /** Sends an answer, and shows what became of it. @param {"allow" | "deny"} decision @param {string} [scope] */
  async send(decision, scope) {
    if (!this.form || !this.isReady) return;
    this.isSending = true;
    this.element.classList.add("sending");
    this.isRemarked = false;
    this.form.forgive();
    try {
      await answer(this.id, this.form.body(decision, scope));
    } catch (why) {
      this.form.fail(why);
    }
    this.isSending = false;
    this.element.classList.remove("sending");
    if (!this.isWaiting) this.end();
  }

  confirmed() {
    const object = h("code.code", foreign(this.form?.object() ?? "", { max: 300, kind: "command" }));
    const body = h("div.stack", h("p", "It is destructive, and nothing here can take it back."), object);
    return confirm({
      title: "Allow a destructive action?",
      body,
      action: "Allow it once",
      danger: true,
      typed: this.code,
    });
  }

  /**
   * Says why an answer was not given. It stays until the next answer or choice, or until another card is the current
   * one: nobody has to read it in time.
   *
   * @param {string} text
   */
  remark(text) {
    if (!this.form) return;
    replace(this.form.error, text);
    this.isRemarked = true;
  }

  /** Takes the remark back. */
  forgetRemark() {
    if (this.isRemarked) this.form?.forgive();
    this.isRemarked = false;
  }

  /** Shows that the request has ended, and by whom. What was typed stays readable. */
  end() {
    if (this.isSending) return;
    const request = requests.get(this.id);
    this.element.classList.add("ended");
    if (!request || !this.form) return;
    if (this.form.element.contains(document.activeElement)) this.element.focus({ preventScroll: true });
    this.form.element.inert = true;
    const isChanged = request.resolution?.updatedInput !== undefined;
    const changed = isChanged && [": ", h("code", brief(objectOf(request), 160, "command"))];
    replace(this.result, outcomeWords(request, isMine(this.id)), changed);
  }
}
