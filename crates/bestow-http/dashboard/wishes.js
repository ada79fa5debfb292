/** The permissions of a request: what each covers now, and which of them the person gives. */

import { api, path } from "./api.js";
import { h, replace } from "./dom.js";
import { leads } from "./leads.js";
import { permissionWords } from "./words.js";

/** @import { PermissionPreview } from "./types.js" */
/**
 * @typedef {object} Wishes
 * @property {HTMLElement | null} element
 * @property {HTMLElement | null} place Where the only permission leads, for a card whose sentence names it.
 * @property {number} count
 * @property {() => string[]} chosen
 * @property {(isSplit: boolean) => void} split Lets the person choose a part, or takes all of them.
 * @property {(id: string) => Promise<void>} look Looks where the paths lead, unless it was done just now.
 * @property {HTMLElement} covered Where each permission leads, in full.
 */

/** The time after which the disk is looked at again, in milliseconds. */
const LOOKED = 15_000;

/**
 * Returns the permissions of a request.
 *
 * @param {string[]} permissions
 * @param {() => void} changed
 * @returns {Wishes}
 */
export function wishes(permissions, changed) {
  const rows = permissions.map((permission) => ({ permission, box: checked(changed), place: placeFor(permission) }));
  const hasPath = permissions.some(isPath);
  const covered = h("ul.covered");
  let lookedAt = -Infinity;
  const row = (/** @type {typeof rows[number]} */ { permission, box, place }) =>
    h("li", h("label.wish", box, h("span", permissionWords(permission))), place);
  return {
    element: rows.length > 0 ? h("ul.wishes", rows.map(row)) : null,
    place: rows.length === 1 && hasPath ? (rows[0]?.place ?? null) : null,
    count: rows.length,
    covered,
    chosen: () => rows.filter(({ box }) => box.checked).map(({ permission }) => permission),
    split(isSplit) {
      for (const { box } of rows) {
        box.hidden = !isSplit;
        box.checked ||= !isSplit;
      }
    },
    async look(id) {
      if (!hasPath || performance.now() - lookedAt < LOOKED) return;
      lookedAt = performance.now();
      const found = await previews(id);
      if (found === null) lookedAt = -Infinity;
      for (const { permission, place } of rows) {
        const preview = found?.find((other) => other.permission === permission);
        if (preview) replace(place, leads(preview));
      }
      const shown = (found ?? []).filter((preview) => preview.path);
      replace(covered, shown.map((preview) => h("li", permissionWords(preview.permission), leads(preview))));
      changed();
    },
  };
}

/**
 * Returns where the permissions lead, or null if it cannot be known now.
 *
 * @param {string} id
 * @returns {Promise<PermissionPreview[] | null>}
 */
async function previews(id) {
  try {
    return (await api.get(path`/v1/requests/${id}/preview`)).permissions;
  } catch {
    return null;
  }
}

/** @param {string} permission */
const isPath = (permission) => /^@(read|write):/.test(permission);

/**
 * Returns the place for where a permission leads. It is as high as what will be in it, so that nothing moves then.
 *
 * @param {string} permission
 */
const placeFor = (permission) => h("div", { class: isPath(permission) ? "leads-place" : "" });

/** @param {() => void} changed */
function checked(changed) {
  const box = h("input", { type: "checkbox" });
  box.checked = true;
  box.addEventListener("change", changed);
  return box;
}
