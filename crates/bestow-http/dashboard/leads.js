/** Where the paths of permissions really lead, and what the permissions cover now. */

import { h } from "./dom.js";
import { listed } from "./say.js";
import { brief, foreign } from "./text.js";

/** @import { PermissionPreview } from "./types.js" */

/** Returns where a permission leads. It is null for a permission without a path. @param {PermissionPreview} preview */
export function leads(preview) {
  if (!preview.path) return null;
  const leadsTo = preview.leadsTo !== undefined && preview.leadsTo !== preview.path ? preview.leadsTo : null;
  const link = leadsTo !== null && [
    h("span.badge.warn", "link"),
    " leads to ",
    foreign(leadsTo, { kind: "path", max: 160 }),
    ". ",
  ];
  return h("div", { class: link ? "leads linked" : "leads" }, link, cover(preview));
}

/** @param {PermissionPreview} preview */
function cover({ kind, covers, more }) {
  switch (kind) {
    case "file":
      return "This one file.";
    case "missing":
      return "Nothing is there yet. It covers what will be created there.";
    case "directory":
      return covers.length === 0
        ? "An empty directory, and everything that will be in it."
        : ["A directory with everything in it. Now: ", names(covers, more)];
    case "hidden":
      return "It is protected or cannot be read, so what is in it is not shown.";
    default:
      return null;
  }
}

/** @param {string[]} covers @param {boolean} more */
function names(covers, more) {
  return h("span.names", listed(covers.map((name) => brief(name, 60, "path"))), more && " and more");
}
