/** The lines by which two texts differ. */

/** The most pairs of lines that are compared. Texts that differ more are shown one after the other. */
const MOST = 4_000_000;

/**
 * @typedef {object} Line
 * @property {string} text
 * @property {number | null} now The number of the line in the new text, or null if it is not there.
 * @property {number | null} before The number of the line in the old text, or null if it is not there.
 */

/** @param {string} text */
const split = (text) => text.replace(/\n$/, "").split("\n");

/**
 * Returns the lines of both texts in one order. Equal lines are there once.
 *
 * @param {string} before
 * @param {string} now
 * @returns {Line[]}
 */
export function merged(before, now) {
  const [old, fresh] = [split(before), split(now)];
  let start = 0;
  while (start < Math.min(old.length, fresh.length) && old[start] === fresh[start]) start++;
  let end = 0;
  while (end < Math.min(old.length, fresh.length) - start && old.at(-1 - end) === fresh.at(-1 - end)) end++;
  const [oldEnd, freshEnd] = [old.length - end, fresh.length - end];
  /** @type {Line[]} */
  const lines = [];
  const add = (/** @type {number | null} */ from, /** @type {number | null} */ to) =>
    lines.push({
      text: (to === null ? old[from ?? 0] : fresh[to]) ?? "",
      now: to === null ? null : to + 1,
      before: from === null ? null : from + 1,
    });
  for (let place = 0; place < start; place++) add(place, place);
  let [from, to] = [start, start];
  for (const [i, j] of common(old.slice(start, oldEnd), fresh.slice(start, freshEnd))) {
    while (from < start + i) add(from++, null);
    while (to < start + j) add(null, to++);
    add(from++, to++);
  }
  while (from < oldEnd) add(from++, null);
  while (to < freshEnd) add(null, to++);
  while (to < fresh.length) add(from++, to++);
  return lines;
}

/**
 * Returns the places of the longest common sequence of lines.
 *
 * @param {string[]} old
 * @param {string[]} fresh
 * @returns {[number, number][]}
 */
function common(old, fresh) {
  if (old.length * fresh.length > MOST) return [];
  const width = fresh.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  const at = (/** @type {number} */ i, /** @type {number} */ j) => lengths[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = fresh.length - 1; j >= 0; j--)
      lengths[i * width + j] = old[i] === fresh[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  /** @type {[number, number][]} */
  const pairs = [];
  for (let [i, j] = [0, 0]; i < old.length && j < fresh.length; ) {
    if (old[i] === fresh[j]) pairs.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return pairs;
}
