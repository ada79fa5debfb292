/** Pictures of how permissions depend on each other: the chain down to one of them, and what falls with one. */

import { go, h, svg } from "./dom.js";
import { icon } from "./icon.js";
import { agent, agentLink, count, giver, lineOf, permission, placeLink, scopeBadge } from "./say.js";
import { foreign, plain } from "./text.js";
import { ago } from "./time.js";

/** @import { ChainLink, Grant } from "./shapes.js" */
/** @typedef {{ revoke(grant: Grant): unknown, }} ChainActions */

/** The most permissions that the picture of a cascade shows. */
const MOST = 60;
/** The width of one step to the right, and the height at which a branch meets its row, in pixels. */
const STEP = 20;
const MIDDLE = 14;

const PICTURES = {
  file: ["M4.5 2.5h6l3 3v10h-9z", "M10.5 2.5v3h3M7 9h4M7 12h4"],
  person: ["M9 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6z", "M3.5 15.5c.4-3 2.6-4.5 5.5-4.5s5.1 1.5 5.5 4.5"],
  operator: ["M3 3.500h12v11H3z", "M5.5 7 8 9l-2.5 2M9.5 11.500h3"],
  agent: ["M4 6.500h10v8H4z", "M9 6.500v-3M7 10.200h.1M11 10.200h.1"],
  reading: [
    "M2.5 4.500c3-1 5-.5 6.5.7 1.5-1.2 3.5-1.7 6.5-.7v9.500c-3-1-5-.5-6.5.7-1.5-1.2-3.5-1.7-6.5-.7z",
    "M9 5.200v9.5",
  ],
};

/**
 * Returns the picture of a chain: what gives at the top, then each agent that it was passed on to.
 *
 * @param {ChainLink[]} links The grant of the agent first, the root last.
 * @param {ChainActions} actions
 */
export function chainPicture(links, actions) {
  const fromRoot = links.toReversed();
  const parts = fromRoot.flatMap((link, place) => [place === 0 && rootOf(link), ...below(link, actions)]);
  return h("ol.chain", { "aria-label": "Where the permission comes from, from its root down" }, parts);
}

/** @param {ChainLink} link */
function rootOf({ grant }) {
  if (!grant)
    return box("reading", "Every agent may read", 'paths that are not protected: the setting reads = "anywhere"');
  const { origin } = grant;
  switch (origin.kind) {
    case "file":
      return box("file", placeLink(origin.place), "a line of the policy file");
    case "person":
      return box("person", foreign(origin.by, { max: 60 }), ["a person, through ", foreign(origin.means, { max: 60 })]);
    case "operator":
      return box("operator", "The host program", "the program that runs the agents");
    case "agent":
      return box("agent", agent(origin.agentId), "an agent");
  }
}

/**
 * Returns the arrow of a grant, and the agent to which it leads.
 *
 * @param {ChainLink} link
 * @param {ChainActions} actions
 */
function below({ kind, grant }, actions) {
  if (!grant) return [];
  const to = grant.agentId;
  const isReplaced = kind === "replaced";
  return [
    h(
      "li",
      { class: `chain-link ${isReplaced ? "broken" : ""}` },
      arrow(),
      about(grant, isReplaced),
      button(grant, actions),
    ),
    box("agent", agentLink(to), holding(grant)),
  ];
}

/** @param {Grant} grant */
function holding(grant) {
  return grant.hold === "pass_on" ? "may pass it on, and may not use it" : "";
}

/** @param {Grant} grant @param {boolean} isReplaced */
function about(grant, isReplaced) {
  const verb = grant.origin.kind === "agent" ? "passes on" : "gives";
  return h(
    "div.chain-text",
    h("div.row", h("span.muted", verb), permission(grant.permission), scopeBadge(grant)),
    grant.reason && h("div.small", "“", foreign(grant.reason, { max: 200 }), "”"),
    h("div.small.muted", ago(grant.since), " · permission ", grant.id),
    isReplaced && h("div.small.bad-text", "Another object is at this path now, so this gives nothing."),
  );
}

/** @param {Grant} grant @param {ChainActions} actions */
function button(grant, { revoke }) {
  if (grant.origin.kind === "file") {
    const line = lineOf(grant.origin.place);
    const title = "It ends when its line is removed from the file.";
    return h("button.button.small", { title, onclick: () => go(`#/policy/${line}`) }, "Show the line");
  }
  const label = `Revoke … ${plain(grant.permission)} of ${plain(grant.agentId)}`;
  return h("button.button.small", { "aria-label": label, onclick: () => revoke(grant) }, "Revoke …");
}

/**
 * @param {keyof typeof PICTURES} picture
 * @param {Node | string} name
 * @param {(string | Node)[] | string} [note]
 */
function box(picture, name, note) {
  return h(
    "li.chain-box",
    icon(...PICTURES[picture]),
    h("div", h("div.chain-name", name), note && h("div.small.muted", note)),
  );
}

/** Returns an arrow downwards that is as high as its row. */
function arrow() {
  return svg(
    "svg.chain-arrow",
    { width: "18", height: "100%", "aria-hidden": "true" },
    svg("line", { x1: "9", y1: "0", x2: "9", y2: "100%" }),
    svg("svg", { x: "0", y: "100%", overflow: "visible" }, svg("path", { d: "M4.5 -7 9 -1 13.5 -7" })),
  );
}

/**
 * Returns the picture of everything that falls with a grant, as a tree below it.
 *
 * @param {Grant} grant
 * @param {Grant[]} fallen
 */
export function cascadePicture(grant, fallen) {
  const rows = branches(grant, fallen);
  const shown = rows.map(({ grant: falls, trunk }) => {
    const text = h(
      "div.fall-text",
      agent(falls.agentId),
      " loses ",
      permission(falls.permission),
      h("div.small.muted", giver(falls)),
    );
    text.style.paddingInlineStart = `${trunk.length * STEP + 6}px`;
    return h("li.fall", branch(trunk), text);
  });
  const rest = fallen.length - rows.length;
  return h(
    "ul.falls",
    { tabindex: "0", "aria-label": "What falls with it" },
    shown,
    rest > 0 && h("li.muted.small.fall-rest", `and ${count(rest, "more permission")}`),
  );
}

/**
 * Returns the fallen grants in the order of the tree. The trunk says for each step if a line goes on there.
 *
 * @param {Grant} root
 * @param {Grant[]} fallen
 */
function branches(root, fallen) {
  /** @type {{ grant: Grant, trunk: boolean[] }[]} */
  const rows = [];
  const seen = new Set([root.id]);
  const walk = (/** @type {Grant[]} */ grants, /** @type {boolean[]} */ trunk) => {
    const fresh = grants.filter(({ id }) => !seen.has(id)).slice(0, MOST);
    for (const { id } of fresh) seen.add(id);
    for (const [place, grant] of fresh.entries()) {
      if (rows.length >= MOST) return;
      const deeper = [...trunk, place < fresh.length - 1];
      rows.push({ grant, trunk: deeper });
      walk(
        fallen.filter((next) => isSupport(grant, next)),
        deeper,
      );
    }
  };
  walk(
    fallen.filter((next) => isSupport(root, next)),
    [],
  );
  walk(fallen, []);
  return rows;
}

/** Returns true if one grant was passed on from the other. @param {Grant} grant @param {Grant} next */
function isSupport(grant, { origin, permission: passed }) {
  return origin.kind === "agent" && origin.agentId === grant.agentId && isPart(passed, grant.permission);
}

/**
 * Returns true if a permission is the other one, or for a place below it.
 *
 * @param {string} part
 * @param {string} whole
 */
function isPart(part, whole) {
  const place = (/** @type {string} */ text) => text.replace(/^@(read|write):/, "").replace(/\/$/, "");
  return place(part) === place(whole) || place(part).startsWith(`${place(whole)}/`);
}

/** @param {boolean[]} trunk */
function branch(trunk) {
  const depth = trunk.length - 1;
  const x = (/** @type {number} */ step) => step * STEP + 9;
  const lines = trunk
    .slice(0, -1)
    .flatMap((goesOn, step) => (goesOn ? [svg("line", { x1: x(step), y1: 0, x2: x(step), y2: "100%" })] : []));
  const end = svg("line", { x1: x(depth), y1: 0, x2: x(depth), y2: trunk.at(-1) ? "100%" : MIDDLE - 6 });
  const turn = svg("path", { d: `M${x(depth)} ${MIDDLE - 8}q0 8 8 8h3` });
  return svg("svg.branch", { width: x(depth) + 14, height: "100%", "aria-hidden": "true" }, lines, end, turn);
}
