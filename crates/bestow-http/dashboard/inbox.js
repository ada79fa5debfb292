import { h } from "./dom.js";
/** @param {import("./types.js").ViewContext} _context @returns {import("./types.js").View} */
export function view(_context) {
  return { element: h("div", { class: "page page-narrow" }, h("h1", null, "Inbox")), title: "Inbox" };
}
