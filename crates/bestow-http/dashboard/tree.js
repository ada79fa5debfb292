/** The agents as a tree: by owner, and below each agent those that it created. */

/** @import { AgentView } from "./shapes.js" */

/**
 * @typedef {object} OwnerRow
 * @property {"owner"} kind
 * @property {string} key
 * @property {string} owner
 * @property {number} count
 * @property {number} place The place among the owners, from 1.
 * @property {number} size The number of the owners.
 */

/**
 * @typedef {object} AgentRow
 * @property {"agent"} kind
 * @property {string} key
 * @property {AgentView} agent
 * @property {number} level
 * @property {number} below The number of agents that it created, directly or through others.
 * @property {boolean} isOpen
 * @property {number} place The place among the agents of one creator, from 1.
 * @property {number} size The number of these agents.
 * @property {boolean} isMatch False if it is there only because an agent below it was searched for.
 */

/** @typedef {OwnerRow | AgentRow} Row */

/** The number of agents up to which the tree is open from the beginning. */
const FEW = 200;

/** Returns true if two rows say the same about the same things. @param {Row} one @param {Row} other */
function isEqual(one, other) {
  if (one.place !== other.place || one.size !== other.size) return false;
  if (one.kind === "owner") return other.kind === "owner" && one.count === other.count;
  if (other.kind === "owner" || one.agent !== other.agent) return false;
  const isPlace = one.level === other.level && one.below === other.below;
  return isPlace && one.isOpen === other.isOpen && one.isMatch === other.isMatch;
}

/** The agents that the server told of, and which of them are unfolded. */
export class AgentTree {
  /** @type {Map<string, AgentView>} */
  #agents = new Map();
  /** Agents whose state is not the usual one. @type {Set<string>} */
  #turned = new Set();
  /** The rows that were returned last. A row that says the same stays the same object. @type {Map<string, Row>} */
  #rows = new Map();

  /** @param {AgentView[]} agents */
  replace(agents) {
    this.#agents = new Map(agents.map((agent) => [agent.id, agent]));
  }

  /** @param {AgentView} agent */
  put(agent) {
    this.#agents.set(agent.id, agent);
  }

  /** @param {string} id */
  remove(id) {
    this.#agents.delete(id);
  }

  /** @param {string} id */
  get(id) {
    return this.#agents.get(id);
  }

  get size() {
    return this.#agents.size;
  }

  /** Returns the agents above one, the nearest first. @param {string} id */
  above(id) {
    /** @type {string[]} */
    const ids = [];
    for (let at = this.get(id)?.parent; at !== undefined && !ids.includes(at); at = this.get(at)?.parent) ids.push(at);
    return ids;
  }

  /** @param {string} id */
  isOpen(id) {
    return this.#turned.has(id) !== this.size <= FEW;
  }

  /** @param {string} id */
  turn(id) {
    if (!this.#turned.delete(id)) this.#turned.add(id);
  }

  /** Unfolds everything above an agent. @param {string} id */
  unfold(id) {
    for (const above of this.above(id)) if (!this.isOpen(above)) this.turn(above);
  }

  /**
   * Returns the rows of the tree. With a test, only the agents that pass it and those above them.
   *
   * @param {((agent: AgentView) => boolean) | null} test
   * @returns {Row[]}
   */
  rows(test) {
    const matches = test && new Set([...this.#agents.values()].filter(test).map((agent) => agent.id));
    const shown = matches && new Set([...matches].flatMap((id) => [id, ...this.above(id)]));
    const children = this.#byCreator(shown);
    const owners = [...children.keys()].filter((key) => key.startsWith("owner ")).sort();
    /** @type {Row[]} */
    const rows = [];
    for (const [place, key] of owners.entries()) {
      const owner = key.slice("owner ".length);
      const at = rows.push({ kind: "owner", key, owner, count: 0, place: place + 1, size: owners.length }) - 1;
      const count = this.#walk(key, 0, { children, matches, rows });
      /** @type {OwnerRow} */ (rows[at]).count = count;
    }
    return this.#stable(rows);
  }

  /** Returns the rows, each as the object of before if nothing of it has changed. @param {Row[]} rows */
  #stable(rows) {
    const before = this.#rows;
    const stable = rows.map((row) => {
      const old = before.get(row.key);
      return old && isEqual(old, row) ? old : row;
    });
    this.#rows = new Map(stable.map((row) => [row.key, row]));
    return stable;
  }

  /** Returns the agents by the key of what they are below. @param {Set<string> | null} shown */
  #byCreator(shown) {
    /** @type {Map<string, AgentView[]>} */
    const children = new Map();
    for (const agent of this.#agents.values()) {
      if (shown && !shown.has(agent.id)) continue;
      const creator = agent.parent !== undefined && this.#agents.has(agent.parent) ? `agent ${agent.parent}` : null;
      const key = creator ?? `owner ${agent.ownerId}`;
      const siblings = children.get(key);
      if (siblings) siblings.push(agent);
      else children.set(key, [agent]);
    }
    return children;
  }

  /**
   * Adds the rows below a key. Returns the number of agents there, also of those that are folded away.
   *
   * @param {string} key
   * @param {number} level
   * @param {{ children: Map<string, AgentView[]>, matches: Set<string> | null, rows: Row[] | null }} walk
   * @returns {number}
   */
  #walk(key, level, walk) {
    const { children, matches, rows } = walk;
    let count = 0;
    const siblings = children.get(key) ?? [];
    for (const [index, agent] of siblings.entries()) {
      const isOpen = matches !== null || this.isOpen(agent.id);
      const isMatch = matches?.has(agent.id) ?? true;
      /** @type {AgentRow} */
      const row = {
        kind: "agent",
        key: agent.id,
        agent,
        level,
        below: 0,
        isOpen,
        isMatch,
        place: index + 1,
        size: siblings.length,
      };
      rows?.push(row);
      row.below = this.#walk(`agent ${agent.id}`, level + 1, isOpen ? walk : { ...walk, rows: null });
      count += row.below + 1;
    }
    return count;
  }
}
