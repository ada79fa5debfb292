import { svg } from "./dom.js";

/** Returns a small picture made of strokes, on a ground of 18 by 18. @param {...string} strokes */
export function icon(...strokes) {
  const paths = strokes.map((d) => svg("path", { d }));
  return svg("svg.icon", { viewBox: "0 0 18 18", "aria-hidden": "true" }, paths);
}
