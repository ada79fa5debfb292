/** What happened while the connection was lost. */

import { api } from "./api.js";
import { toast } from "./dialog.js";
import { h, replace } from "./dom.js";
import { onState } from "./events.js";
import { requests } from "./store.js";
import { duration } from "./time.js";

/** The shortest loss that is told, in milliseconds. A shorter one is told only if something was missed. */
const SHORT = 10_000;

/**
 * Tells what was missed, in a place of the page.
 *
 * @param {HTMLElement} place
 * @param {import("./types.js").Session} session
 */
export function tellMissed(place, session) {
  let lostAt = 0;
  let isBack = false;
  let version = session.version;
  onState((state) => {
    if (state === "lost" && lostAt === 0) {
      lostAt = Date.now();
      replace(
        place,
        h(
          "div.notice.warn",
          h(
            "span",
            h("strong", "The connection is lost. "),
            "The page keeps trying. Until then, it shows what was last known.",
          ),
        ),
      );
    }
    if (state !== "live" || lostAt === 0) return;
    isBack = true;
    void api.get("/v1/session").then(
      (now) => {
        if (now.version !== version)
          toast(`The server is now version ${now.version}. Reload the page to get its dashboard.`);
        version = now.version;
      },
      () => {},
    );
  });
  requests.onChange(({ added, ended }) => {
    if (!isBack) return;
    const gone = Date.now() - lostAt;
    isBack = false;
    lostAt = 0;
    replace(place);
    if (gone > SHORT || added.length + ended.length > 0)
      replace(
        place,
        summary(gone, added, ended, () => replace(place)),
      );
  });
}

/**
 * @param {number} gone
 * @param {string[]} added
 * @param {string[]} ended
 * @param {() => void} close
 */
function summary(gone, added, ended, close) {
  const missed = [
    added.length > 0 && `${added.length} ${added.length === 1 ? "request" : "requests"} came`,
    ended.length > 0 && `${ended.length} ended`,
  ].filter((part) => part !== false);
  const text = missed.length > 0 ? `Meanwhile ${missed.join(", and ")}.` : "Nothing was missed.";
  return h(
    "div.notice",
    h("span", h("strong", `Connected again after ${duration(gone)}. `), text),
    h("button.button.quiet.small", { onclick: close }, "Close"),
  );
}
