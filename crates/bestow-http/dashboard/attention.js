/** The line that tells of a policy file that needs a person. */

import { config, needsPerson } from "./config.js";
import { h, replace } from "./dom.js";

/** Returns the line. It is hidden while the file needs nobody. */
export function policyLine() {
  const element = h("p.notice.warn", { role: "status", hidden: true });
  const leave = config.onChange((now) => {
    const need = needsPerson(now);
    element.hidden = need === null;
    replace(element, h("span", need && `${need}: `, h("a", { href: "#/policy" }, "see Policy")));
  });
  return { element, leave };
}
