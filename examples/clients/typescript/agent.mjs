/**
 * An agent with one tool, `bash`. It asks before it calls the tool, waits for the answer, and then calls the tool.
 *
 * usage: BESTOW_TOKEN=... node agent.mjs COMMAND
 */

/** @import { State, ToolInput } from "./types.js" */

import { spawnSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";

import { Client } from "./bestow.mjs";

const WAIT_MS = 9_000;

/**
 * Waits for the end of a request. To ask again before it would turn a rejection into a new question.
 * @param {Client} client @param {string} id @returns {Promise<State>}
 */
async function ended(client, id) {
  for (;;) {
    const state = await client.request(id);
    if (state.status !== "pending") return state;
    await pause(1_000);
  }
}

/**
 * Returns the input with which the tool may be called once: this one, or the one that the approver wants.
 * @param {Client} client @param {string} tool @param {ToolInput} input @returns {Promise<ToolInput>}
 */
async function permitted(client, tool, input) {
  for (;;) {
    const answer = await client.classify(tool, input, WAIT_MS);
    if (answer.allow === true) return input;
    if (!answer.updatedInput && !answer.requestId) throw new Error(answer.reason);
    const state = answer.updatedInput ? undefined : await ended(client, answer.requestId ?? "");
    const updated = answer.updatedInput ?? state?.updatedInput;
    if (updated) {
      console.log("the input was changed to", JSON.stringify(updated));
      input = updated;
    } else if (state?.status !== "approved") {
      throw new Error(state?.feedback ?? state?.reason ?? "there is no answer");
    }
  }
}

const [command, more] = process.argv.slice(2);
if (command === undefined || more !== undefined) {
  console.error("usage: BESTOW_TOKEN=... node agent.mjs COMMAND");
  process.exit(2);
}
try {
  const input = await permitted(new Client(), "bash", { command });
  process.exitCode = spawnSync("bash", ["-c", String(input.command)], { stdio: "inherit" }).status ?? 1;
} catch (why) {
  // Without an answer there is no permission.
  console.log("not run:", why instanceof Error ? why.message : why);
  process.exitCode = 1;
}
