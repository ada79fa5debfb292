/** The chart of requests and answers over time, and what can be read from it in numbers. */

import { h, svg } from "./dom.js";
import { count } from "./say.js";
import { isInPart } from "./sentence.js";
import { duration, moment } from "./time.js";

/** @import { Envelope } from "./types.js" */
/** @typedef {{ asked?: number, ended?: number, outcome?: string, isByPerson?: boolean }} Question */

const BARS = 48;
const WIDTH = 600;
const HEIGHT = 72;
/** The kinds of a bar from its bottom to its top. */
const KINDS = /** @type {const} */ (["granted", "part", "denied", "unanswered", "waiting"]);
const NAMES = {
  granted: "allowed",
  part: "in part",
  denied: "denied",
  unanswered: "no answer",
  waiting: "still waiting",
};

/** The most requests that are remembered. */
const KEPT = 10_000;

/** The requests that were seen, and how they ended. */
export class Questions {
  /** @type {Map<string, Question>} */
  #known = new Map();

  /** Takes what an event tells about a request. Events may come in any order. @param {Envelope} event */
  learn({ type, requestId, timestamp, payload }) {
    if (requestId === undefined) return;
    const known = this.#known.get(requestId);
    const at = Date.parse(timestamp);
    if (type === "permission.requested") {
      this.#known.set(requestId, { ...known, asked: at });
    } else if (type === "permission.resolved") {
      const { resolution } = /** @type {any} */ (payload);
      const outcome = isInPart(resolution) ? "part" : resolution?.outcome;
      this.#known.set(requestId, { ...known, ended: at, outcome, isByPerson: Boolean(resolution?.decider?.person) });
    }
    const [oldest] = this.#known.keys();
    if (this.#known.size > KEPT && oldest !== undefined) this.#known.delete(oldest);
  }

  /** Returns the requests from a time on. @param {number} from */
  since(from) {
    return [...this.#known.values()].filter((question) => beginOf(question) >= from);
  }
}

/** @param {Question} question */
function beginOf({ asked, ended = 0 }) {
  return asked ?? ended;
}

/** Returns the time until a person answered, if one did. @param {Question} question */
function waitOf({ asked, ended, isByPerson }) {
  return isByPerson && asked !== undefined && ended !== undefined ? ended - asked : undefined;
}

/** @param {Question} question @returns {typeof KINDS[number]} */
function kindOf({ outcome }) {
  if (outcome === undefined) return "waiting";
  return outcome === "granted" || outcome === "part" || outcome === "denied" ? outcome : "unanswered";
}

/**
 * Returns the chart of a span of time that ends now. The time from which nothing is known is grey.
 *
 * @param {Question[]} questions
 * @param {number} from
 * @param {number} to
 * @param {number} since The time from which on the server keeps events.
 */
export function chart(questions, from, to, since) {
  const bars = Array.from({ length: BARS }, () => ({ granted: 0, part: 0, denied: 0, unanswered: 0, waiting: 0 }));
  for (const question of questions) {
    const bar = bars[Math.min(BARS - 1, Math.floor(((beginOf(question) - from) / (to - from)) * BARS))];
    if (bar) bar[kindOf(question)]++;
  }
  const most = Math.max(1, ...bars.map((bar) => KINDS.reduce((sum, kind) => sum + bar[kind], 0)));
  const wide = WIDTH / BARS;
  const drawn = bars.flatMap((bar, place) => {
    let top = HEIGHT;
    return KINDS.filter((kind) => bar[kind] > 0).map((kind) => {
      const high = (bar[kind] / most) * (HEIGHT - 2);
      top -= high;
      return svg("rect", {
        class: `bar bar-${kind}`,
        x: place * wide + 0.75,
        y: top,
        width: wide - 1.5,
        height: Math.max(1.5, high),
      });
    });
  });
  const total = count(questions.length, "request");
  const unknown = Math.min(WIDTH, Math.max(0, ((since - from) / (to - from)) * WIDTH));
  const known = unknown > 0 ? `, records since ${moment(new Date(since))}` : "";
  const label = `Requests over time: ${total}, at most ${most} in ${duration((to - from) / BARS)}${known}`;
  const picture = svg(
    "svg.chart",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label },
    unknown > 0 && svg("rect.unknown", { x: 0, y: 0, width: unknown, height: HEIGHT }),
    svg("line.base", { x1: 0, y1: HEIGHT, x2: WIDTH, y2: HEIGHT }),
    drawn,
  );
  return h(
    "figure.chart-box",
    picture,
    questions.length > 0 && h("span.chart-most", { "aria-hidden": "true" }, most),
    h("figcaption.small.muted", h("span", `${duration(to - from)} ago${known}`), legend(), h("span.chart-now", "now")),
  );
}

function legend() {
  return h(
    "span.legend",
    KINDS.map((kind) => h("span", { class: `legend-key bar-${kind}` }, NAMES[kind])),
  );
}

/** Returns the numbers about some requests. @param {Question[]} questions */
export function numbers(questions) {
  const waits = questions.flatMap((question) => waitOf(question) ?? []).sort((a, b) => a - b);
  const answered = questions.filter(({ isByPerson }) => isByPerson);
  const parts = answered.filter(({ outcome }) => outcome === "part").length;
  const approved = answered.filter(({ outcome }) => outcome === "granted").length + parts;
  const at = (/** @type {number} */ share) => {
    const wait = waits[Math.min(waits.length - 1, Math.floor(waits.length * share))];
    if (wait === undefined) return "–";
    return wait < 1000 ? "< 1 s" : duration(wait);
  };
  return h(
    "dl.numbers",
    number(String(questions.length), questions.length === 1 ? "request" : "requests"),
    number(answered.length === 0 ? "–" : `${Math.round((approved / answered.length) * 100)} %`, approvedWords(parts)),
    number(at(0.5), "usual time to answer"),
    number(at(0.9), "or longer for 1 in 10"),
  );
}

/** @param {number} parts The approvals of a part of a request. */
const approvedWords = (parts) => (parts === 0 ? "allowed by people" : `allowed by people, ${parts} in part`);

/** @param {string} value @param {string} name */
function number(value, name) {
  return h("div", h("dt", name), h("dd", value));
}
