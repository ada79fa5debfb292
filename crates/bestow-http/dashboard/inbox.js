/** The requests that wait, oldest first. They are never sorted anew, and nothing moves under the pointer. */

import { isMine } from "./answer.js";
import { policyLine } from "./attention.js";
import { batchBar } from "./batch.js";
import { blockedLine } from "./blocked.js";
import { Card } from "./card.js";
import { announce } from "./dialog.js";
import { h, replace } from "./dom.js";
import { onState } from "./events.js";
import { keys } from "./keys.js";
import { recentList } from "./recent.js";
import { keyOf } from "./scope.js";
import { forget, requests } from "./store.js";
import { plainSentence } from "./words.js";

/** @import { View } from "./types.js" */

/** The cards that are made at once. The others are made when they are near the screen, or when there is time. */
const FIRST = 10;
/** The time that must be left to make a further card, in milliseconds. */
const ROOM = 5;
/** The time for which cards are made at least, once the browser has time at all, in milliseconds. */
const LEAST = 8;
/** The time for which a browser without idle callbacks waits. */
const IDLE = 50;
/** The time for which the result of an answer is seen before the card leaves, in milliseconds. */
const SEEN = 1200;
const NEAR = "600px 0px";

/** Returns the inbox. @returns {View} */
export function view() {
  const inbox = new Inbox();
  return { element: inbox.element, title: "Inbox", leave: () => inbox.leave() };
}

class Inbox {
  constructor() {
    /** The cards, in the order in which they came. @type {Map<string, Card>} */
    this.cards = new Map();
    /** @type {Card | null} */
    this.current = null;
    this.isPointerHere = false;
    this.isPicking = false;
    this.isFilling = false;
    this.isBegun = false;
    this.isLooking = false;
    /** @type {WeakMap<Element, Card>} */
    this.byElement = new WeakMap();
    this.list = h("div.cards");
    this.empty = h("div.empty", { hidden: true });
    this.count = h("span.muted");
    this.legend = legend();
    this.title = h("h1", { tabindex: "-1" }, "Inbox ", this.count);
    this.recent = recentList();
    this.blocked = blockedLine();
    this.policy = policyLine();
    this.below = h("button.button.below", { hidden: true, onclick: () => this.showNew() });
    this.batch = batchBar({
      cards: () => [...this.cards.values()],
      isOn: () => this.isPicking,
      ended: () => this.setPicking(false),
    });
    this.several = h(
      "button.button.quiet.small.several",
      { hidden: true, onclick: () => this.setPicking(!this.isPicking) },
      "Select several",
    );
    this.element = h(
      "div.page.page-narrow.inbox",
      h("header.page-head", this.title, this.legend.element, this.several),
      this.policy.element,
      this.list,
      this.empty,
      this.blocked.element,
      this.recent.element,
      this.below,
      this.batch.element,
    );
    this.near = new IntersectionObserver((entries) => this.seen(entries), { rootMargin: NEAR });
    this.sizes = new ResizeObserver(() => this.settle());
    const above = document.querySelectorAll(".banner");
    for (const element of [document.body, ...above, ...this.element.children]) this.sizes.observe(element);
    this.ends = [
      requests.onChange((change) => this.take(change)),
      keys(this.keys()),
      () => this.near.disconnect(),
      () => this.sizes.disconnect(),
      () => this.blocked.leave(),
      this.policy.leave,
      onState((state) => state === "live" && this.cards.forEach((card) => card.form?.forgive())),
      () => clearInterval(tidying),
    ];
    this.listenToPointer();
    const tidying = setInterval(() => this.tidy(), SEEN / 2);
    this.take({ added: requests.waiting().map(({ id }) => id), ended: [] });
  }

  /**
   * Begins or ends the selection of several requests. While it lasts, the cards show no choices of their own, and the
   * keys are those of the bar.
   *
   * @param {boolean} on
   */
  setPicking(on) {
    this.isPicking = on;
    this.element.classList.toggle("picking", on);
    this.several.setAttribute("aria-pressed", String(on));
    if (!on) for (const card of this.cards.values()) card.setPicked(false);
    this.batch.show();
    this.current?.element.scrollIntoView({ block: "nearest" });
  }

  leave() {
    for (const end of this.ends) end();
  }

  /** Takes a change of the requests. @param {import("./store.js").Change} change */
  take({ added, ended }) {
    const fresh = added.filter((id) => !this.cards.has(id));
    const made = fresh.flatMap((id) => {
      const request = requests.get(id);
      return request?.question ? [new Card(request)] : [];
    });
    for (const card of made) {
      this.cards.set(card.id, card);
      this.byElement.set(card.element, card);
      this.near.observe(card.element);
      this.sizes.observe(card.element);
    }
    made.slice(0, Math.max(0, FIRST - this.cards.size + made.length)).forEach((card) => card.fill());
    this.list.append(...made.map((card) => card.element));
    for (const id of ended) this.end(id);
    if (this.current === null) this.selectFirst();
    this.fillRest();
    this.showState();
    this.tell(made);
  }

  /** Tells that requests came. Those of the first list are no news. @param {Card[]} made */
  tell(made) {
    const last = made.at(-1);
    if (!this.isBegun) for (const card of made) card.wasSeen = true;
    this.isBegun ||= requests.isLoaded();
    if (!last) return;
    announce(made.length === 1 ? plainSentence(last.question) : `${made.length} requests wait.`);
    this.showBelow();
  }

  /** @param {string} id */
  end(id) {
    const card = this.cards.get(id);
    if (!card) return;
    card.setPicked(false);
    card.endedAt = performance.now();
    card.end();
    this.batch.show();
  }

  /** Moves ended cards to the list of those that ended, unless this would move something under the pointer. */
  tidy() {
    if (this.isPointerHere) return;
    const due = [...this.cards.values()].filter((card) => isDue(card));
    if (due.length === 0) return;
    const hadFocus = due.some((card) => card.element === document.activeElement);
    for (const card of due) {
      const request = requests.get(card.id);
      if (request) this.recent.add(request);
      this.near.unobserve(card.element);
      this.sizes.unobserve(card.element);
      card.element.remove();
      this.cards.delete(card.id);
      forget(card.id);
      if (this.current === card) this.current = null;
    }
    this.settle();
    if (this.current === null) this.selectFirst();
    if (hadFocus) this.title.focus({ preventScroll: true });
    this.showState();
  }

  /** Lets the cards that moved take no click for a moment. */
  settle() {
    for (const card of this.cards.values()) card.settle();
  }

  /** Selects the first card. It takes no answer for a moment: the last key may be meant for the card before. */
  selectFirst() {
    const first = [...this.cards.values()].find((card) => card.isWaiting) ?? null;
    first?.rest();
    this.select(first, false);
  }

  showState() {
    const waiting = requests.waiting().length;
    replace(this.count, waiting > 0 && waiting);
    this.several.hidden = waiting < 2 && !this.isPicking;
    this.empty.hidden = this.cards.size > 0 || !requests.isLoaded();
    this.legend.element.hidden = this.cards.size === 0;
    if (!this.empty.firstChild) {
      replace(
        this.empty,
        h("h2", "Nothing waits"),
        h("p", "When an agent needs your answer, its request appears here."),
      );
    }
  }

  /** @param {IntersectionObserverEntry[]} entries */
  seen(entries) {
    for (const { isIntersecting, target } of entries) {
      const card = this.byElement.get(target);
      if (!isIntersecting || !card) continue;
      card.fill();
      card.look();
    }
  }

  /** Makes the other cards, a few at a time. */
  fillRest() {
    if (this.isFilling) return;
    this.isFilling = true;
    const go = (/** @type {IdleDeadline} */ deadline) => {
      const rest = [...this.cards.values()].filter((card) => card.form === null);
      const end = performance.now() + LEAST;
      do rest.shift()?.fill();
      while (rest.length > 0 && (deadline.timeRemaining() > ROOM || performance.now() < end));
      this.isFilling = rest.length > 0;
      if (this.isFilling) whenIdle(go);
    };
    whenIdle(go);
  }

  /** Makes a card the one that the keys are for. @param {Card | null} card @param {boolean} [focus] */
  select(card, focus = true) {
    if (this.current !== card) this.current?.setOpen(false);
    this.current?.element.classList.remove("current");
    this.current?.element.setAttribute("tabindex", "-1");
    this.current = card;
    card?.fill();
    this.legend.show(card);
    if (!card) return;
    card.element.classList.add("current");
    card.setOpen(true);
    card.element.setAttribute("tabindex", "0");
    if (!focus) return;
    card.element.focus({ preventScroll: true });
    card.element.scrollIntoView({ block: "nearest" });
    card.look();
  }

  /** Selects a card that the pointer is on. It stays where it is, as far as the page can be scrolled. @param {Card} card */
  selectInPlace(card) {
    const before = card.element.getBoundingClientRect().top;
    this.select(card, false);
    scrollBy({ top: card.element.getBoundingClientRect().top - before, behavior: "instant" });
    card.look();
  }

  /** Selects the next or the previous card. @param {1 | -1} step */
  move(step) {
    this.isPointerHere = false;
    const cards = [...this.cards.values()];
    const place = this.current ? cards.indexOf(this.current) : -1;
    const isShown = this.current?.element.contains(document.activeElement);
    const next = isShown ? cards[place + step] : (this.current ?? cards[0]);
    if (next) this.select(next);
  }

  /**
   * Answers the current request. The next one is selected, and takes no answer for a moment.
   *
   * @param {"allow" | "deny"} decision
   */
  async answer(decision) {
    this.isPointerHere = false;
    if (this.isPicking) return this.batch.answer(decision);
    const card = this.current;
    if (!card?.isWaiting || !card.showsButtons()) return;
    await card.answer(decision);
    if (card.isWaiting || !isMine(card.id) || this.current !== card) return;
    const cards = [...this.cards.values()];
    const place = cards.indexOf(card);
    const next =
      cards.slice(place + 1).find((other) => other.isWaiting) ??
      cards.slice(0, place).findLast((other) => other.isWaiting);
    if (!next) return;
    next.rest();
    this.select(next);
  }

  /** @returns {import("./keys.js").KeyMap} */
  keys() {
    const down = { run: () => this.move(1), help: "Next request", repeats: true };
    const up = { run: () => this.move(-1), help: "Previous request", repeats: true };
    const scope = (/** @type {number} */ place) => ({
      run: () => this.form()?.scope.choose(place),
      help: "Choose how long an approval holds",
    });
    return {
      j: down,
      ArrowDown: down,
      k: up,
      ArrowUp: up,
      a: { run: () => this.answer("allow"), help: "Allow" },
      d: { run: () => this.answer("deny"), help: "Deny" },
      1: scope(0),
      2: scope(1),
      3: scope(2),
      4: scope(3),
      Enter: { run: () => this.current?.toggleDetails(), help: "Show or hide the details" },
      w: { run: () => this.form()?.openWords(), help: "Add words to the agent" },
      e: { run: () => this.form()?.openChange(), help: "Change what is allowed" },
      x: { run: () => this.pick(this.current), help: "Select several, to allow or deny them once" },
      Escape: { run: () => this.back(), help: "Back to the request" },
    };
  }

  /** Returns the choices of the current card, if the card shows them. */
  form() {
    return this.isPicking || !this.current?.isWaiting ? null : this.current.form;
  }

  /** Leaves a selection, or else a field. */
  back() {
    if (this.isPicking) this.setPicking(false);
    if (this.current) this.select(this.current);
  }

  /** @param {Card | null} card */
  pick(card) {
    if (this.several.hidden) return;
    if (!card?.isPicked && !card?.canBePicked) return;
    card.setPicked(!card.isPicked);
    this.setPicking(true);
  }

  listenToPointer() {
    const at = (/** @type {Event} */ event) => {
      const element = event.target instanceof Element ? event.target.closest(".card") : null;
      return element ? this.byElement.get(element) : undefined;
    };
    this.list.addEventListener("pointermove", () => (this.isPointerHere = true));
    this.list.addEventListener("pointerleave", () => (this.isPointerHere = false));
    this.list.addEventListener("focusin", (event) => {
      const card = at(event);
      const isOpener = event.target instanceof Element && event.target.matches(".open-card");
      if (card && card !== this.current && !isOpener) this.selectInPlace(card);
    });
    this.list.addEventListener("unfold", () => this.legend.show(this.current));
    this.list.addEventListener("click", (event) => {
      const card = at(event);
      if (event.target instanceof Element && event.target.matches(".pick") && card) {
        event.preventDefault();
        setTimeout(() => this.pick(card));
      }
      if (event.target instanceof Element && event.target.matches(".open-card") && card) {
        this.selectInPlace(card);
        card.element.focus({ preventScroll: true });
      }
    });
    const watch = () => {
      this.showBelow();
      if (!this.batch.element.hidden) this.batch.show();
    };
    addEventListener("scroll", watch, { passive: true });
    this.ends.push(() => removeEventListener("scroll", watch));
  }

  /** Offers to go to requests that arrived below the screen. */
  showBelow() {
    if (this.isLooking) return;
    this.isLooking = true;
    requestAnimationFrame(() => {
      this.isLooking = false;
      this.lookBelow();
    });
  }

  lookBelow() {
    const fresh = [...this.cards.values()].filter((card) => !card.wasSeen && card.isWaiting);
    const hidden = fresh.filter((card) => card.element.getBoundingClientRect().top > innerHeight - 80);
    for (const card of fresh) if (!hidden.includes(card)) card.wasSeen = true;
    this.below.hidden = hidden.length === 0;
    replace(this.below, `↓ ${hidden.length} more below`);
  }

  showNew() {
    const next = [...this.cards.values()].find((card) => !card.wasSeen && card.isWaiting);
    if (next) this.select(next);
  }
}

/**
 * Calls a function when the browser has time. Not every browser says when.
 *
 * @param {(deadline: IdleDeadline) => void} run
 */
function whenIdle(run) {
  if ("requestIdleCallback" in window) requestIdleCallback(run);
  else setTimeout(() => run({ didTimeout: false, timeRemaining: () => 0 }), IDLE);
}

/** Returns true if the card has ended, its result was seen, and the person is not in it. @param {Card} card */
function isDue({ isWaiting, endedAt, element }) {
  const isInside = element !== document.activeElement && element.contains(document.activeElement);
  return !isWaiting && !isInside && performance.now() - (endedAt ?? 0) > SEEN;
}

/** Returns the line with the most important keys. Those for the scope are the ones that the current card offers. */
function legend() {
  const one = (/** @type {string[]} */ names, /** @type {string} */ help) =>
    h(
      "span",
      names.map((name) => h("kbd", name)),
      " ",
      help,
    );
  const scopes = h("span.scopes");
  const element = h(
    "div.hints",
    { "aria-hidden": "true" },
    one(["j", "k"], "move"),
    one(["a"], "allow"),
    one(["d"], "deny"),
    scopes,
    one(["?"], "all keys"),
  );
  return {
    element,
    /** @param {Card | null} card */
    show(card) {
      const offered = card?.form?.offered() ?? [];
      scopes.hidden = offered.length < 2;
      replace(scopes, one(offered.map(keyOf), "how long"));
    },
  };
}
