/** The view of the scheduled tasks: when they ran, when they run next, and what holds them back. */

import { api } from "./api.js";
import { h, replace } from "./dom.js";
import { onEvent, onGap } from "./events.js";
import { agentLink, badge, count, empty, fact, failure, loading, permissionList, refill } from "./say.js";
import { brief, foreign } from "./text.js";
import { ago, duration, exact, moment } from "./time.js";

/** @import { Task, TaskRun } from "./shapes.js" */

/** The time after which the tasks are read again, in milliseconds. Only operators get the events of their files. */
const AGAIN = 5_000;

/** @type {{ [state: string]: [string, import("./sentence.js").Tone] }} */
const STATES = { started: ["started", "accent"], ended: ["ended", "ok"], skipped: ["did not run", "warn"] };

/** Returns the view. */
export function view() {
  const summary = h("p.small.muted", { role: "status" });
  const list = h("div.tasks", loading());
  const element = h("div.page.page-narrow", h("div.page-head", h("h1", "Tasks"), summary), whoRuns(), list);

  async function load() {
    if (document.hidden) return;
    try {
      const { tasks } = await api.get("/v1/tasks");
      replace(summary, tasks.length > 0 && count(tasks.length, "task"));
      const cards = () => tasks.toSorted(bySoonest).map((/** @type {Task} */ task) => card(task));
      refill(list, tasks, () => (tasks.length === 0 ? none() : cards()));
    } catch (why) {
      refill(list, String(why), () => failure(why));
    }
  }

  const timer = setInterval(() => void load(), AGAIN);
  const ends = [
    onEvent((event) => event.type.startsWith("task.") && void load()),
    onGap(() => void load()),
    () => clearInterval(timer),
  ];
  void load();
  return { element, title: "Tasks", leave: () => ends.forEach((end) => end()) };
}

/** Returns the words for who runs the tasks. This server does not. */
function whoRuns() {
  return h(
    "p.small.muted",
    "The plan, from the files of the tasks. ",
    h("code", "bestow serve"),
    " runs no task: a program with a scheduler does.",
  );
}

function none() {
  return empty(
    "No task is scheduled",
    "A task is a file: ",
    h("code", "tasks/cron/NAME/TASK.md"),
    " beside ",
    h("code", "agents.toml"),
    ".",
  );
}

/** Compares tasks: those with mistakes first, then the ones that run next. @param {Task} a @param {Task} b */
function bySoonest(a, b) {
  const rank = (/** @type {Task} */ task) => (task.problems.length > 0 ? 0 : task.next ? 1 : 2);
  return rank(a) - rank(b) || (a.next ?? "").localeCompare(b.next ?? "") || a.file.localeCompare(b.file);
}

/** @param {Task} task */
function card(task) {
  const { id, title, agentId, enabled, next, problems, schedule, timezone, gate, runs, upcoming } = task;
  const { heartbeatEverySeconds: beat } = task;
  const isTask = id !== undefined;
  const isOn = next !== undefined || beat !== undefined;
  return h(
    "article.panel.task",
    h(
      "div.page-head",
      h(
        "div.row",
        h("h2", brief(title ?? task.file, 120)),
        !isTask ? badge("not valid", "bad") : !enabled ? badge("off") : isOn ? badge("on", "ok") : badge("not due"),
      ),
      isTask && next && enabled && h("span.small.muted", { title: exact(next) }, `due ${moment(new Date(next))}`),
    ),
    problems.length > 0 &&
      h(
        "ul.notice.bad.problems",
        problems.map(({ line, text }) =>
          h("li", line !== undefined && h("strong", `Line ${line}: `), foreign(text, { max: 600 })),
        ),
      ),
    isTask &&
      h(
        "dl.facts",
        fact("Schedule", schedule && [h("code", schedule), timezone && h("span.muted.small", ` in ${timezone}`)]),
        fact("Schedule", beat !== undefined && `with the heartbeat, every ${duration(beat * 1000)}`),
        fact("Runs as", agentId && agentLink(agentId)),
        fact("File", foreign(task.file, { kind: "path", max: 120 })),
        fact("Gate", gate && [foreign(gate.command, { kind: "command", max: 300 }), gatePermissions(gate)]),
      ),
    upcoming.length > 1 &&
      h(
        "div",
        h("h3", "Due at"),
        h(
          "ol.times",
          upcoming.map((at) => h("li", { title: exact(at) }, moment(new Date(at)))),
        ),
      ),
    isTask && runsPart(runs),
  );
}

/** Returns what a gate may use, and what of it the agent lacks. @param {NonNullable<Task["gate"]>} gate */
function gatePermissions({ permissions, missing }) {
  const given = permissions.length > 0 ? ["It needs ", permissionList(permissions), "."] : "It needs no permissions.";
  return [
    h("div.small.muted", given),
    missing.length > 0 && h("div.small.bad-text", "The agent lacks ", permissionList(missing), "."),
  ];
}

/** @param {TaskRun[]} runs */
function runsPart(runs) {
  if (runs.length === 0) return h("p.small.muted", "No run is recorded.");
  const rows = runs.map(({ at, state, text }) => {
    const [words, tone] = STATES[state] ?? [state, ""];
    return h("tr", h("td.when", ago(at)), h("td", badge(words, tone)), h("td", foreign(text, { max: 300 })));
  });
  return h(
    "div.scroll",
    h(
      "table.table.last-runs",
      h("caption", "Last runs"),
      h(
        "thead.unseen",
        h(
          "tr",
          ["When", "State", "What happened"].map((name) => h("th", { scope: "col" }, name)),
        ),
      ),
      h("tbody", rows),
    ),
  );
}
