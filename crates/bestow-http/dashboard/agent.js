/** What one agent is, what it holds now, and why. */

import { api, path, Problem } from "./api.js";
import { chainPicture } from "./chain.js";
import { confirm, toast, toastError } from "./dialog.js";
import { h, replace } from "./dom.js";
import { onEvent, onGap } from "./events.js";
import { revoke, UNDO, undoDecision } from "./revoke.js";
import {
  agent,
  agentLink,
  badge,
  count,
  empty,
  fact,
  failure,
  giver,
  loading,
  MODES,
  nameOf,
  permission,
  permissionList,
  placeLink,
  refill,
  scopeBadge,
  WIDE_MODES,
} from "./say.js";
import { foreign, isSame, plain } from "./text.js";
import { ago } from "./time.js";

/** @import { AgentView, ChainLink, Grant, PermissionState, SavedDecision } from "./shapes.js" */
/** @typedef {{ tree: import("./tree.js").AgentTree, }} Surroundings */

/** The number of permissions from which on they can be searched. */
const MANY = 12;
/** The time in which several events cause one reading, in milliseconds. */
const PAUSE = 250;

/** The events after which an agent may hold something else. */
const CHANGES = /^(grant|ruling|run|mode|rules|agent|config)\./;

/** Returns the panel of an agent. @param {string} id @param {Surroundings} surroundings */
export function agentPanel(id, surroundings) {
  const element = h("div.detail", loading());
  const held = heldList();
  const saved = h("div");
  const state = h("div");
  const head = h("div.stack");
  let timer = 0;
  let isOver = false;

  async function load() {
    timer = 0;
    try {
      const [shown, { grants }, { savedDecisions }] = await Promise.all([
        api.get(path`/v1/agents/${id}`),
        api.get(path`/v1/grants?agentId=${id}`),
        api.get(path`/v1/decisions?agentId=${id}`),
      ]);
      if (isOver) return;
      refill(head, [shown.agent, shown.state.modesAbove, shown.state.mayAsk], () =>
        about(shown.agent, shown.state, surroundings),
      );
      held.set(grants);
      refill(saved, savedDecisions, () => savedList(savedDecisions));
      const { rules, reads, defaultVerdict, protected: paths } = shown.state;
      refill(state, [rules, reads, defaultVerdict, paths], () => stateDetails(shown.state));
      if (!head.isConnected) replace(element, head, held.element, saved, state);
    } catch (why) {
      if (isOver) return;
      const isGone = why instanceof Problem && why.status === 404;
      replace(element, isGone ? empty("There is no such agent", agent(id)) : failure(why));
    }
  }

  const plan = () => {
    timer ||= window.setTimeout(() => void load(), PAUSE);
  };
  const ends = [
    onEvent((event) => (event.agentId === id || event.agentId === undefined) && CHANGES.test(event.type) && plan()),
    onGap(plan),
  ];
  void load();
  return {
    element,
    leave() {
      isOver = true;
      clearTimeout(timer);
      ends.forEach((end) => end());
    },
  };
}

/**
 * @param {AgentView} view
 * @param {PermissionState} state
 * @param {Surroundings} surroundings
 */
function about(view, state, { tree }) {
  const above = view.parent === undefined ? [] : [view.parent, ...tree.above(view.parent)];
  const trail = above.map((id, place) => [place > 0 && ", created by ", agentLink(id)]);
  return [
    h(
      "div.row",
      h("h2.detail-title", nameOf(view)),
      badge(view.kind),
      state.mayAsk === false && badge("asks nobody", "warn"),
    ),
    h(
      "dl.facts",
      view.name !== undefined && !isSame(view.name, view.id) && fact("Id", agent(view.id)),
      fact("Owner", agent(view.ownerId)),
      trail.length > 0 && fact("Created by", trail),
      fact("Mode", [...modeChoice(view), state.modesAbove.map(modeAbove)]),
      fact("Run", h("code", plain(view.runId ?? state.run, 80))),
      fact("Works in", foreign(view.workingDir, { kind: "path", max: 160 })),
    ),
  ];
}

/**
 * Returns the mode of an agent above, which binds the agent as well.
 *
 * @param {PermissionState["modesAbove"][number]} above
 */
function modeAbove({ agent: id, mode }) {
  return h("div.small.muted", "limited by the mode of ", agent(id), `: ${mode}`);
}

/** @param {AgentView} view */
function modeChoice({ id, mode }) {
  const options = [...MODES.keys()].map((name) => h("option", { value: name, selected: name === mode }, name));
  const meaning = h("div.small.muted", MODES.get(mode));
  const select = h("select.input.slim", { "aria-label": "Mode" }, options);
  select.addEventListener("change", () => void change());
  const change = async () => {
    const wanted = select.value;
    select.value = mode;
    if (WIDE_MODES.includes(wanted) && !(await isWanted(id, wanted))) return;
    try {
      await api.put(path`/v1/agents/${id}/mode`, { mode: wanted });
      select.value = mode = wanted;
      replace(meaning, MODES.get(mode));
      toast(`${plain(id, 40)} is in the mode ${wanted} now.`);
    } catch (why) {
      toastError(why);
    }
  };
  return [select, meaning];
}

/** @param {string} id @param {string} mode */
function isWanted(id, mode) {
  const body = h(
    "p",
    "In the mode ",
    h("code", mode),
    `, ${MODES.get(mode)}. `,
    agent(id),
    " and the agents that it created will do more without you.",
  );
  return confirm({ title: `Let it work in the mode ${mode}?`, body, action: "Set the mode", danger: true });
}

/** Returns the list of what an agent holds. Its rows stay the same elements while they say the same. */
function heldList() {
  const search = h("input.input.slim", {
    type: "search",
    placeholder: "Search permissions",
    "aria-label": "Search permissions",
  });
  const title = h("h3");
  const rows = h("div.held");
  const none = h("p.muted.small");
  /** @type {Map<string, HTMLElement>} */
  let known = new Map();
  /** @type {Grant[]} */
  let grants = [];

  const show = () => {
    const words = search.value.trim().toLowerCase();
    const shown = grants.filter((grant) => `${grant.permission} ${grant.reason ?? ""}`.toLowerCase().includes(words));
    const next = new Map(
      shown.map((grant) => {
        const key = JSON.stringify(grant);
        return [key, known.get(key) ?? heldRow(grant)];
      }),
    );
    for (const [key, row] of known) if (!next.has(key)) row.remove();
    known = next;
    [...next.values()].forEach(
      (row, place) => rows.children[place] === row || rows.insertBefore(row, rows.children[place] ?? null),
    );
    search.hidden = grants.length < MANY;
    replace(title, grants.length > 0 ? `Holds ${count(grants.length, "permission")} now` : "Permissions");
    rows.hidden = shown.length === 0;
    none.hidden = shown.length > 0;
    replace(none, grants.length > 0 ? "No permission fits." : "It holds nothing.");
  };
  search.addEventListener("input", show);
  return {
    element: h("section.stack", h("div.page-head", title, search), rows, none),
    /** @param {Grant[]} next */
    set(next) {
      grants = next;
      show();
    },
  };
}

/** @param {Grant} grant */
function heldRow(grant) {
  const why = h("div.held-chain");
  const summary = h(
    "summary",
    h(
      "div.held-text",
      h(
        "div.row",
        permission(grant.permission),
        grant.hold === "pass_on" && badge("to pass on only", "warn"),
        scopeBadge(grant),
      ),
      h("div.small.muted", giver(grant), " · ", ago(grant.since)),
    ),
    h("span.held-why.small", "Why?"),
  );
  const row = h("details.held-row", summary, why);
  row.addEventListener("toggle", () => row.open && void explain(grant, why));
  return row;
}

/**
 * Shows the chain that leads to a grant.
 *
 * @param {Grant} grant
 * @param {HTMLElement} place
 *
 */
async function explain(grant, place) {
  if (place.childElementCount === 0) replace(place, loading());
  const actions = { revoke };
  try {
    const { chain } = await api.get(path`/v1/agents/${grant.agentId}/why?permission=${grant.permission}`);
    const own = chain.filter((/** @type {ChainLink} */ link) => link.grant?.id === grant.id);
    if (own.length > 0) return replace(place, chainPicture(chain, actions));
    const single = chainPicture([{ kind: "grant", grant, text: grant.text }], actions);
    replace(
      place,
      single,
      chain.length > 0 && [
        h("p.small.muted", "It holds this in another way, too:"),
        chainPicture(chain, actions),
      ],
    );
  } catch (why) {
    replace(place, failure(why));
  }
}

/** @param {SavedDecision[]} saved */
function savedList(saved) {
  if (saved.length === 0) return null;
  return h("section.stack", h("h3", "Answers that are saved"), h("div.held", saved.map(savedRow)));
}

/** @param {SavedDecision} saved */
function savedRow(saved) {
  const end = h("button.button.small", { onclick: () => void forgetAnswer(saved) }, "Revoke …");
  return h(
    "div.held-row.saved-row",
    h(
      "div.held-text",
      h(
        "div.row",
        badge(saved.verdict === "allow" ? "allowed" : "denied", saved.verdict === "allow" ? "ok" : "bad"),
        foreign(saved.resource, { kind: "command", max: 200 }),
        saved.scope !== "always" && badge(saved.scope === "session" ? "this run" : saved.scope, "accent"),
      ),
      h("div.small.muted", "by ", foreign(saved.by, { max: 60 }), " · ", ago(saved.since), " · ", saved.id),
      saved.gives.length > 0 && h("div.small.muted", "with ", permissionList(saved.gives)),
    ),
    end,
  );
}

/** @param {SavedDecision} saved */
async function forgetAnswer(saved) {
  const body = h(
    "div.stack",
    foreign(saved.resource, { kind: "command" }),
    h(
      "p",
      saved.verdict === "allow"
        ? "The next time, the agent has to ask again."
        : "The next time, the agent may ask again.",
    ),
  );
  if (!(await confirm({ title: "Revoke this answer?", body, action: "Revoke", danger: true }))) return;
  try {
    await api.delete(path`/v1/decisions/${saved.id}`);
    const undo = { label: "Undo", seconds: UNDO, run: () => void answerAgain(saved) };
    toast("The answer is not valid any more.", { undo });
  } catch (why) {
    toastError(why);
  }
}

/** Makes a revoked answer valid again. @param {SavedDecision} saved */
async function answerAgain(saved) {
  try {
    await undoDecision(saved.id);
    toast("The answer is valid again, given by you.");
  } catch (why) {
    toastError(why);
  }
}

/** What happens if nothing else decides about an action. @type {{ [verdict: string]: string }} */
const DEFAULTS = { ask: "a person is asked", allow: "it is allowed", deny: "it is denied" };

/**
 * Returns the rules by their places. A rule of the file with several operations or paths applies as several rules.
 *
 * @param {PermissionState["rules"]} applied
 */
function byPlace(applied) {
  /** @type {Map<string, PermissionState["rules"]>} */
  const places = new Map();
  for (const rule of applied) {
    const place = `${rule.place.file}:${rule.place.line} ${rule.of ?? ""}`;
    places.set(place, [...(places.get(place) ?? []), rule]);
  }
  return [...places.values()];
}

/** @param {PermissionState["rules"]} applied What one rule of the file applies to. */
function ruleRow(applied) {
  const [{ verdict, place, of }] = /** @type {[PermissionState["rules"][0]]} */ (applied);
  const texts = applied.map(({ rule }) => foreign(rule.replace(/^(deny|allow|ask) /, ""), { max: 300 }));
  return h(
    "li.held-rule",
    badge(verdict, verdict === "deny" ? "bad" : verdict === "allow" ? "ok" : "warn"),
    h(
      "div",
      texts.map((text) => h("div", text)),
      of !== undefined && h("div", "as for ", agent(of)),
    ),
    placeLink(`${place.file}:${place.line}`),
  );
}

/** @param {PermissionState} state */
function stateDetails(state) {
  const rules = byPlace(state.rules).map(ruleRow);
  return h(
    "section.stack",
    h(
      "p.small.muted",
      state.reads === "anywhere"
        ? "It may read every path that is not protected."
        : "It reads only what it holds a permission for.",
      ` If nothing else decides about an action, ${DEFAULTS[state.defaultVerdict] ?? state.defaultVerdict}.`,
    ),
    rules.length > 0 && h("details", h("summary", count(rules.length, "rule")), h("ul.held-rules", rules)),
    h(
      "details",
      h("summary", count(state.protected.length, "protected path")),
      h("p.small.muted", "No permission covers them."),
      h(
        "ul.paths",
        state.protected.map((text) => h("li", foreign(text, { kind: "path" }))),
      ),
    ),
  );
}
