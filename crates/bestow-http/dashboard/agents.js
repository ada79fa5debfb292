/** The view of the agents: a tree, and what the chosen one holds. */

import { agentPanel } from "./agent.js";
import { api } from "./api.js";
import { toastError } from "./dialog.js";
import { h, replace } from "./dom.js";
import { onEvent, onGap } from "./events.js";
import { icon } from "./icon.js";
import { keys } from "./keys.js";
import { agent as idOf, badge, count, empty, failure, loading, nameOf, WIDE_MODES } from "./say.js";
import { split } from "./split.js";
import { isSame } from "./text.js";
import { AgentTree } from "./tree.js";
import { virtualList } from "./virtual.js";

/** @import { Envelope, ViewContext } from "./types.js" */
/** @import { AgentView, Grant } from "./shapes.js" */
/** @import { AgentRow, OwnerRow, Row } from "./tree.js" */

const ROW = 36;
/** The width of one level, in pixels, and the deepest level that is still moved to the right. */
const LEVEL = 18;
const DEEPEST = 8;

/** What stays when the person leaves the view and comes back. */
const tree = new AgentTree();
let query = "";
/** @type {string | null} */
let last = null;

/** Returns the view. @param {ViewContext} context */
export function view({ parameters }) {
  const page = split({ title: "Agents", back: () => choose(null) });
  const search = h("input.input", {
    type: "search",
    placeholder: "Search by name or @permission",
    "aria-label": "Search agents by name, kind or mode, or by a permission that begins with @",
    value: query,
  });
  const summary = h("p.small.muted", { role: "status" });
  const list = virtualList({
    label: "Agents",
    role: "tree",
    rowHeight: ROW,
    draw,
    keyOf: (/** @type {Row} */ row) => row.key,
    positionOf: (/** @type {Row} */ { place, size }) => ({ place, size }),
    choose: pick,
  });
  /** @type {ReturnType<typeof agentPanel> | null} */
  let panel = null;
  let planned = 0;
  /** Agents by what they hold, while a permission is searched for. @type {Promise<Grant[]> | null} */
  let grants = null;

  function plan() {
    planned ||= requestAnimationFrame(() => {
      planned = 0;
      void show();
    });
  }

  async function show() {
    const wanted = query;
    const test = await tester(wanted);
    if (wanted !== query) return;
    const rows = tree.rows(test);
    list.set(rows);
    const found = rows.filter((row) => row.kind === "agent" && row.isMatch).length;
    // The row of the only owner has the number of all agents.
    summary.hidden = test === null && rows.filter((row) => row.kind === "owner").length === 1;
    replace(summary, test ? `${count(found, "agent")} of ${tree.size.toLocaleString()}` : count(tree.size, "agent"));
    page.setEmpty(rows.length === 0 ? (test ? "No agent fits." : "There are no agents yet.") : null);
  }

  /** @param {string} text @returns {Promise<((agent: AgentView) => boolean) | null>} */
  async function tester(text) {
    const words = text.trim().toLowerCase();
    if (words === "") return null;
    if (!words.startsWith("@")) return (agent) => searchable(agent).includes(words);
    grants ??= api.get("/v1/grants").then((reply) => reply.grants);
    const holders = new Set(
      (await grants).filter((grant) => grant.permission.toLowerCase().includes(words)).map(({ agentId }) => agentId),
    );
    return ({ id }) => holders.has(id);
  }

  /** @param {Row} row */
  function pick(row) {
    if (row.kind === "agent") choose(row.agent.id);
  }

  /** @param {string | null} id */
  function choose(id) {
    const hash = id === null ? "#/agents" : `#/agents/${encodeURIComponent(id)}`;
    if (location.hash !== hash) history.pushState(null, "", hash);
    open(id);
  }

  /** @param {string | null} id */
  function open(id) {
    panel?.leave();
    last = id ?? last;
    panel = id === null ? null : agentPanel(id, { tree });
    page.setChoice(
      panel?.element ?? empty("Choose an agent", "Then you see what it may do now, and why."),
      id !== null,
    );
    list.mark(id);
  }

  /** @param {string} key */
  function turn(key) {
    tree.turn(key);
    plan();
  }

  /** @param {Row} row */
  function draw(row) {
    return row.kind === "owner" ? ownerRow(row) : agentRow(row, turn);
  }

  async function load() {
    try {
      const { agents } = await api.get("/v1/agents");
      tree.replace(agents);
      const [id] = parameters;
      if (id) tree.unfold(id);
      await show();
      if (id ?? last) list.reveal(id ?? last);
    } catch (why) {
      page.setEmpty(failure(why));
    }
  }

  search.addEventListener("input", () => {
    query = search.value;
    grants = null;
    plan();
  });
  page.head.append(h("div.search", search), summary);
  page.list.append(list.element);
  if (tree.size === 0) page.setEmpty(loading());
  open(parameters[0] ?? null);
  void load().catch(toastError);

  const fold = (/** @type {boolean} */ isOpen) => {
    const row = list.current();
    if (row?.kind === "agent" && row.below > 0 && row.isOpen !== isOpen) turn(row.key);
  };
  const ends = [
    onEvent((event) => learn(event) && plan()),
    onGap(() => void load()),
    keys({
      "/": { run: () => search.focus(), help: "Search" },
      j: { run: () => list.move(1), help: "Next", repeats: true },
      k: { run: () => list.move(-1), help: "Previous", repeats: true },
      ArrowRight: { run: () => fold(true), help: "Unfold" },
      ArrowLeft: { run: () => fold(false), help: "Fold" },
      Enter: { run: () => pickCurrent(), help: "Open" },
      Escape: {
        run: () => (document.activeElement === search ? list.element.focus() : choose(null)),
        help: "Back to the list",
      },
    }),
    () => panel?.leave(),
  ];
  const pickCurrent = () => {
    const row = list.current();
    if (row) pick(row);
  };
  return { element: page.element, title: "Agents", leave: () => ends.forEach((end) => end()) };
}

/** @param {AgentView} agent */
function searchable({ id, name = "", kind, mode, ownerId }) {
  return `${id} ${name} ${kind} ${mode} ${ownerId}`.toLowerCase();
}

/** Takes what an event tells about agents. Returns true if the tree has changed. @param {Envelope} event */
function learn({ type, agentId, payload }) {
  const before = agentId === undefined ? undefined : tree.get(agentId);
  if (type === "agent.registered" || type === "agent.changed") {
    const { id, owner, name, kind, workingDir, mode, parent } = /** @type {any} */ (payload.profile);
    tree.put({ id, ownerId: owner, kind, workingDir, mode, ...(name && { name }), ...(parent && { parent }) });
  } else if (type === "agent.retired" && before) {
    tree.remove(before.id);
  } else if (type === "mode.changed" && before) {
    tree.put({ ...before, mode: String(payload.mode) });
  } else {
    return false;
  }
  return true;
}

/** @param {OwnerRow} row */
function ownerRow({ owner, count: number }) {
  return h(
    "div.owner-row",
    { role: "treeitem", "aria-level": "1", "aria-disabled": "true" },
    h("span.clip", idOf(owner)),
    h("span.muted", count(number, "agent")),
  );
}

/** @param {AgentRow} row @param {(key: string) => void} turn */
function agentRow({ key, agent, level, below, isOpen, isMatch }, turn) {
  const row = h("div", {
    class: `agent-row ${isMatch ? "" : "faint"}`,
    role: "treeitem",
    "aria-level": level + 2,
    "aria-expanded": below > 0 && String(isOpen),
  });
  const twist = (/** @type {Event} */ event) => {
    event.stopPropagation();
    turn(key);
  };
  const arrow =
    below > 0
      ? h(
          "span",
          { class: `twist ${isOpen ? "open" : ""}`, "aria-hidden": "true", onclick: twist },
          icon("M7 5l4 4-4 4"),
        )
      : h("span.twist");
  row.style.paddingInlineStart = `${Math.min(level, DEEPEST) * LEVEL + 4}px`;
  row.append(
    arrow,
    h("span.clip", nameOf(agent), agent.name && !isSame(agent.name, agent.id) && h("span.muted.small.id", idOf(agent.id))),
    below > 0 && !isOpen
      ? h("span.muted.small", { title: `created ${count(below, "agent")}` }, `+${below.toLocaleString()}`)
      : "",
    ["default", "on_request"].includes(agent.mode)
      ? ""
      : badge(agent.mode, WIDE_MODES.includes(agent.mode) ? "warn" : ""),
    h("span.muted.small.kind", agent.kind),
  );
  return row;
}
