/** The view of what happened: the events as they come, and the requests over time. */

import { api } from "./api.js";
import { chart, numbers, Questions } from "./chart.js";
import { h, replace } from "./dom.js";
import { onEvent, onGap } from "./events.js";
import { eventPanel } from "./event.js";
import { keys } from "./keys.js";
import { agent, badge, count, failure, loading, segmented } from "./say.js";
import { GROUPS, isStep, OUTCOMES, sentence, tell } from "./sentence.js";
import { split } from "./split.js";
import { plain } from "./text.js";
import { clock, isToday, moment, now } from "./time.js";
import { virtualList } from "./virtual.js";

/** @import { Envelope, ViewContext } from "./types.js" */
/** @import { Told } from "./sentence.js" */

const ROW = 36;
/** The number of events that are read at once, and that are kept. */
const PAGE = 500;
const KEPT = 10_000;
const MINUTE = 60_000;
/** The times after which the list and the chart show what is new, in milliseconds. */
const SOON = 80;
const REDRAW = 1_000;

/** @type {[number, string][]} */
const SPANS = [
  [15 * MINUTE, "15 min"],
  [60 * MINUTE, "1 h"],
  [360 * MINUTE, "6 h"],
  [1440 * MINUTE, "24 h"],
];

/** What stays when the person leaves the view and comes back. */
const chosen = { agent: "", group: "", outcome: "", text: "" };
/** @type {number} */
let span = 60 * MINUTE;

/** Returns the view. @param {ViewContext} context */
export function view({ parameters }) {
  if (parameters[0] === "blocked") Object.assign(chosen, { agent: "", group: "", outcome: "blocked", text: "" });
  const page = split({ title: "Activity", back: () => choose(null) });
  page.element.classList.add("timeline");
  /** The newest first. @type {Told[]} */
  let told = [];
  /** The events that came while the list is paused, the newest first. @type {Told[]} */
  let later = [];
  /** @type {Set<number>} */
  const seen = new Set();
  let questions = new Questions();
  let isPaused = false;
  let planned = 0;
  let isOver = false;
  let round = 0;
  /** The time from which on the server keeps events. */
  let since = 0;

  const list = virtualList({
    label: "Events, the newest first",
    role: "listbox",
    rowHeight: ROW,
    draw: row,
    keyOf: (/** @type {Told} */ one) => one.event.sequence,
    choose: (one) => choose(one.event.sequence),
  });
  const summary = h("p.small.muted", { role: "status" });
  const figures = h("div.figures");
  const pause = h("button.button.small", { "aria-pressed": "false", onclick: () => turn() }, "Pause");
  const filter = filters(() => show());

  function show() {
    planned = 0;
    const fits = filter.test();
    const all = filter.hasKind() ? told : told.filter(({ event }) => !isStep(event));
    const shown = fits ? all.filter(fits) : all;
    list.set(shown);
    const number = count(shown.length, "event");
    const kept = since > 0 && [" since ", moment(new Date(since))];
    replace(summary, fits ? `${number} of ${all.length.toLocaleString()}` : number, kept);
    page.setEmpty(shown.length > 0 ? null : told.length > 0 ? "No event fits." : "Nothing happened yet.");
    replace(pause, isPaused ? `Go on${later.length > 0 ? ` (${count(later.length, "new event")})` : ""}` : "Pause");
  }

  function plan() {
    planned ||= window.setTimeout(show, SOON);
  }

  function drawChart() {
    filter.offer(told);
    const to = now();
    const shown = questions.since(to - span);
    replace(figures, numbers(shown), chart(shown, to - span, to, since));
  }

  function turn() {
    isPaused = !isPaused;
    pause.setAttribute("aria-pressed", String(isPaused));
    if (!isPaused) {
      told = [...later, ...told].slice(0, KEPT);
      later = [];
    }
    show();
  }

  /** @param {Envelope} event */
  function take(event) {
    if (seen.has(event.sequence)) return;
    seen.add(event.sequence);
    questions.learn(event);
    (isPaused ? later : told).unshift(tell(event));
    if (told.length > KEPT) told.length = KEPT;
    plan();
  }

  /** Reads the kept events, page by page, the newest first. */
  async function load() {
    const mine = ++round;
    try {
      for (let before = ""; ;) {
        const { events, complete, since: kept } = await api.get(`/v1/events/recent?limit=${PAGE}${before}`);
        if (isOver || mine !== round) return;
        since = Date.parse(kept);
        const fresh = events.filter((/** @type {Envelope} */ event) => !seen.has(event.sequence));
        for (const event of fresh) {
          seen.add(event.sequence);
          questions.learn(event);
        }
        told.push(...fresh.map(tell).reverse());
        const oldest = events[0]?.sequence;
        if (before === "") openFirst();
        plan();
        drawChart();
        if (oldest === undefined || complete || told.length >= KEPT) return;
        before = `&before=${oldest}`;
      }
    } catch (why) {
      if (told.length === 0) page.setEmpty(failure(why));
    }
  }

  function again() {
    told = [];
    later = [];
    seen.clear();
    questions = new Questions();
    void load();
  }

  function openFirst() {
    show();
    const sequence = Number(parameters[0]);
    if (sequence) open(sequence);
  }

  /** @param {number | null} sequence */
  function choose(sequence) {
    const hash = sequence === null ? "#/activity" : `#/activity/${sequence}`;
    if (location.hash !== hash) history.pushState(null, "", hash);
    open(sequence);
  }

  /** @param {number | null} sequence */
  function open(sequence) {
    const one = told.find(({ event }) => event.sequence === sequence);
    list.mark(one ? sequence : null);
    page.setChoice(one ? eventPanel(one, { all: told, choose }) : h("div"), one !== undefined);
  }

  const spans = segmented("Span of the chart", SPANS, span, (length) => {
    span = length;
    drawChart();
  });
  page.head.append(h("div.head-tools", spans, pause), figures, filter.element, summary);
  page.list.append(list.element);
  page.setEmpty(loading());
  drawChart();
  void load();

  const timer = setInterval(() => document.hidden || drawChart(), REDRAW);
  const pick = () => {
    const one = list.current();
    if (one) choose(one.event.sequence);
  };
  const ends = [
    onEvent(take),
    onGap(again),
    () => clearInterval(timer),
    () => clearTimeout(planned),
    keys({
      "/": { run: () => filter.focus(), help: "Search" },
      p: { run: turn, help: "Pause, or go on" },
      j: { run: () => list.move(1), help: "Next", repeats: true },
      k: { run: () => list.move(-1), help: "Previous", repeats: true },
      Enter: { run: pick, help: "Open" },
      Escape: { run: () => choose(null), help: "Close what is open" },
    }),
  ];
  return {
    element: page.element,
    title: "Activity",
    leave() {
      isOver = true;
      ends.forEach((end) => end());
    },
  };
}

/** @param {Told} told */
function row(told) {
  const { event, outcome } = told;
  const at = new Date(event.timestamp);
  const day = isToday(at) ? "" : at.toLocaleDateString(undefined, { day: "numeric", month: "short" });
  const tone = OUTCOMES[outcome] ?? "";
  return h(
    "div.event-row",
    { role: "option" },
    h("time.event-time", { datetime: event.timestamp }, day, day && " ", clock(at)),
    h("span", { class: `event-dot ${tone}`, "aria-hidden": "true" }),
    h("span.clip", sentence(told, (id) => h("strong", agent(id)))),
    outcome && badge(outcome === "unanswered" ? "no answer" : outcome, tone),
  );
}

/** Returns the fields that choose among the events. @param {() => void} changed */
function filters(changed) {
  const text = h("input.input.slim", {
    type: "search",
    placeholder: "Search",
    "aria-label": "Search in the events",
    value: chosen.text,
  });
  const agents = h("select.input.slim", { "aria-label": "Agent" });
  const group = choice("Kind", "Any kind", Object.entries(GROUPS), chosen.group);
  const outcome = choice(
    "Outcome",
    "Any outcome",
    Object.keys(OUTCOMES).map((name) => [name, name === "unanswered" ? "no answer" : name]),
    chosen.outcome,
  );
  /** @type {Set<string>} */
  let offered = new Set();
  const read = () => {
    Object.assign(chosen, {
      agent: agents.value,
      group: group.value,
      outcome: outcome.value,
      text: text.value.trim().toLowerCase(),
    });
    changed();
  };
  text.addEventListener("input", read);
  for (const field of [agents, group, outcome]) field.addEventListener("change", read);

  return {
    element: h("div.filters", text, agents, group, outcome),
    focus: () => text.focus(),
    /** Returns true if one kind of events is chosen. All events of that kind are listed then. */
    hasKind: () => chosen.group !== "",
    /** Offers the agents of these events. @param {Told[]} told */
    offer(told) {
      const ids = new Set(told.flatMap(({ event }) => event.agentId ?? []));
      if (chosen.agent) ids.add(chosen.agent);
      if (agents === document.activeElement || (agents.length > 0 && ids.size === offered.size)) return;
      offered = ids;
      replace(
        agents,
        option("", "Any agent", chosen.agent),
        [...ids].sort().map((id) => option(id, plain(id, 60), chosen.agent)),
      );
    },
    /** Returns the test of an event, or null if every event fits. */
    test() {
      if (Object.values(chosen).every((value) => value === "")) return null;
      return (/** @type {Told} */ one) =>
        (chosen.agent === "" || one.event.agentId === chosen.agent) &&
        (chosen.group === "" || one.group === chosen.group) &&
        ["", one.outcome, one.outcome === "blocked" && "denied"].includes(chosen.outcome) &&
        one.words.includes(chosen.text);
    },
  };
}

/**
 * @param {string} label
 * @param {string} all
 * @param {string[][]} names
 * @param {string} value
 */
function choice(label, all, names, value) {
  const options = names.map(([name = "", words = name]) => option(name, words, value));
  return h("select.input.slim", { "aria-label": label }, option("", all, value), options);
}

/**
 * @param {string} value
 * @param {string} words
 * @param {string} now
 */
function option(value, words, now) {
  return h("option", { value, selected: value === now }, words);
}
