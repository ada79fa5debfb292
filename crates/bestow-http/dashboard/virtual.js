/** A list of any length, of which only the rows on the screen exist. */

import { h } from "./dom.js";

/** The rows that are drawn above and below the screen. */
const SPARE = 8;

let lists = 0;

/**
 * @template T
 * @typedef {object} VirtualOptions
 * @property {string} label
 * @property {"listbox" | "tree"} role
 * @property {number} rowHeight
 * @property {(item: T) => HTMLElement} draw
 * @property {(item: T) => unknown} choose
 * @property {(item: T) => unknown} [keyOf] Returns what an item is known by after a change.
 * @property {(item: T) => { place: number, size: number }} [positionOf] Returns the place of an item among its siblings,
 * from 1, and their number. Without it, all items are siblings.
 */

/**
 * @template T
 * @typedef {object} VirtualList
 * @property {HTMLElement} element
 * @property {(items: T[]) => void} set Shows other items. What the person looks at stays where it is.
 * @property {(key: unknown) => void} mark Marks the item with this key as the current one.
 * @property {(step: number) => void} move
 * @property {() => T | undefined} current
 * @property {(key: unknown) => void} reveal
 */

/**
 * Returns a list of rows that have one height.
 *
 * @template T
 * @param {VirtualOptions<T>} options
 * @returns {VirtualList<T>}
 */
export function virtualList({ label, role, rowHeight, draw, choose, keyOf = (item) => item, positionOf: siblings }) {
  const name = `list-${++lists}`;
  const space = h("div.virtual-space", { role: "presentation" });
  const element = h("div.virtual", { role, tabindex: "0", "aria-label": label }, space);
  /** @type {T[]} */
  let items = [];
  /** The rows that exist. @type {Map<T, HTMLElement>} */
  const drawn = new Map();
  /** @type {unknown} */
  let marked = null;
  let planned = 0;

  const positionOf = (/** @type {T} */ item, /** @type {number} */ index) =>
    siblings?.(item) ?? { place: index + 1, size: items.length };

  const indexOf = (/** @type {unknown} */ key) => items.findIndex((item) => keyOf(item) === key);

  const range = () => {
    const from = Math.max(0, Math.floor(element.scrollTop / rowHeight) - SPARE);
    const to = Math.min(items.length, Math.ceil((element.scrollTop + element.clientHeight) / rowHeight) + SPARE);
    return { from, to };
  };

  const paint = () => {
    planned = 0;
    const { from, to } = range();
    const wanted = new Set(items.slice(from, to));
    for (const [item, row] of drawn) {
      if (wanted.has(item)) continue;
      row.remove();
      drawn.delete(item);
    }
    // The rows are in the order in which a screen reader should read them.
    let next = space.firstElementChild;
    for (let index = from; index < to; index++) {
      const row = placed(/** @type {T} */ (items[index]), index);
      if (row === next) next = next.nextElementSibling;
      else space.insertBefore(row, next);
    }
    tellCurrent();
  };

  /** Says which row is the current one, if it is drawn. */
  const tellCurrent = () => {
    const current = [...drawn].find(([item]) => keyOf(item) === marked)?.[1];
    if (current) element.setAttribute("aria-activedescendant", current.id);
    else element.removeAttribute("aria-activedescendant");
  };

  const placed = (/** @type {T} */ item, /** @type {number} */ index) => {
    const row = drawn.get(item) ?? made(item);
    row.id = `${name}-${index}`;
    row.style.top = `${index * rowHeight}px`;
    const { place, size } = positionOf(item, index);
    row.setAttribute("aria-posinset", String(place));
    row.setAttribute("aria-setsize", String(size));
    return row;
  };

  const made = (/** @type {T} */ item) => {
    const row = draw(item);
    row.style.height = `${rowHeight}px`;
    row.classList.add("virtual-row");
    row.setAttribute("aria-selected", String(keyOf(item) === marked));
    row.addEventListener("click", () => chosen(indexOf(keyOf(item))));
    drawn.set(item, row);
    return row;
  };

  const plan = () => {
    planned ||= requestAnimationFrame(paint);
  };

  const chosen = (/** @type {number} */ index) => {
    const item = items[index];
    if (item === undefined) return;
    mark(keyOf(item));
    choose(item);
  };

  const mark = (/** @type {unknown} */ key) => {
    marked = key;
    for (const [item, row] of drawn) row.setAttribute("aria-selected", String(keyOf(item) === key));
    tellCurrent();
  };

  const show = (/** @type {number} */ index) => {
    const top = index * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight) {
      element.scrollTop = top + rowHeight - element.clientHeight;
    }
    paint();
  };

  const moveTo = (/** @type {number} */ index) => {
    const to = Math.max(0, Math.min(items.length - 1, index));
    const item = items[to];
    if (item === undefined) return;
    show(to);
    mark(keyOf(item));
  };

  const move = (/** @type {number} */ step) => {
    const at = indexOf(marked);
    moveTo(at < 0 ? Math.floor(element.scrollTop / rowHeight) : at + step);
  };

  /** @type {{ [key: string]: () => void }} */
  const steps = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    PageDown: () => move(Math.floor(element.clientHeight / rowHeight)),
    PageUp: () => move(-Math.floor(element.clientHeight / rowHeight)),
    Home: () => moveTo(0),
    End: () => moveTo(items.length - 1),
    Enter: () => chosen(indexOf(marked)),
    " ": () => chosen(indexOf(marked)),
  };
  element.addEventListener("keydown", (event) => {
    const step = steps[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    step();
  });
  element.addEventListener("scroll", plan, { passive: true });
  new ResizeObserver(plan).observe(element);

  const set = (/** @type {T[]} */ next) => {
    const first = Math.floor(element.scrollTop / rowHeight);
    const anchor = element.scrollTop > 0 ? items[first] : undefined;
    items = next;
    space.style.height = `${items.length * rowHeight}px`;
    const moved = anchor === undefined ? -1 : indexOf(keyOf(anchor));
    if (moved >= 0 && moved !== first) element.scrollTop += (moved - first) * rowHeight;
    mark(marked);
    plan();
  };

  return {
    element,
    set,
    mark,
    move: (step) => {
      element.focus({ preventScroll: true });
      move(step);
    },
    current: () => items[indexOf(marked)],
    reveal: (key) => {
      const index = indexOf(key);
      if (index >= 0) show(index);
    },
  };
}
