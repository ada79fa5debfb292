/** Sending a person's answer: once for each intention, whatever the network does. */

import { api, newKey, path, Problem } from "./api.js";
import { requests } from "./store.js";

/**
 * @typedef {object} AnswerBody
 * @property {"allow" | "deny"} decision
 * @property {string} [scope]
 * @property {string[]} [permissions]
 * @property {string} [feedback]
 * @property {string | Record<string, unknown>} [modifiedInput]
 */

/** The key of each intention. An equal answer that is tried again is the same intention. @type {Map<string, string>} */
const intentions = new Map();
/** The requests that were answered on this page. @type {Set<string>} */
const mine = new Set();

/** Returns true if the request was answered on this page. @param {string} id */
export const isMine = (id) => mine.has(id);

/**
 * Answers a request. If another person was faster, the state of the request says so, and nothing is sent again.
 *
 * @param {string} id
 * @param {AnswerBody} body
 */
export async function answer(id, body) {
  const intention = `${id} ${JSON.stringify(body)}`;
  const key = intentions.get(intention) ?? newKey();
  intentions.set(intention, key);
  try {
    const ended = await api.post(path`/v1/requests/${id}/answer`, body, { key });
    mine.add(id);
    requests.learn(ended);
  } catch (why) {
    if (!(why instanceof Problem) || ![404, 409].includes(why.status)) throw why;
    requests.learn(await api.get(path`/v1/requests/${id}`));
  }
  intentions.delete(intention);
}
