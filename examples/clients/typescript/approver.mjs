/**
 * An approver. It shows each request as it comes, and reads answers: `approve CODE` or `reject CODE WHY`. It ends with
 * its standard input.
 *
 * usage: BESTOW_TOKEN=... node --experimental-websocket approver.mjs
 */

/** @import { Frame, Item } from "./types.js" */

import { createInterface } from "node:readline";

import { Client } from "./bestow.mjs";

/** The requests that wait, by their short codes. @type {Map<string, string>} */
const waiting = new Map();

/** Escapes what a terminal would hide or turn around. @param {unknown} value */
const shown = (value) =>
  JSON.stringify(value).replace(/[^ -~]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** @param {Item} item */
function show(item) {
  waiting.set(item.code, item.id);
  console.log(`[${item.code}] ${item.agentId} wants ${item.toolName} (${item.tier}): ${shown(item.toolInput)}`);
  if (item.toolInputCut) console.log("  the input is longer than this");
  if (item.permissions.length > 0) console.log(`  and needs ${item.permissions.join(", ")}`);
}

/**
 * Opens the socket. A socket that is refused does not say why, so the approver lists the requests before.
 * @returns {Promise<WebSocket>}
 */
async function opened() {
  try {
    const client = new Client();
    await client.pending();
    return client.socket();
  } catch (why) {
    console.error("not started:", why instanceof Error ? why.message : why);
    process.exit(1);
  }
}

const socket = await opened();
const lines = createInterface({ input: process.stdin });
/** The answers that the server has not acknowledged. */
let open = 0;
let ended = false;
const endIfDone = () => ended && open === 0 && socket.close();

socket.addEventListener("message", (event) => {
  /** @type {Frame} */
  const frame = JSON.parse(String(event.data));
  switch (frame.type) {
    case "permission_request":
      show(frame.data);
      break;
    case "request_resolved":
      for (const [code, id] of waiting) if (id === frame.data.requestId) waiting.delete(code);
      break;
    case "decision_ack":
      console.log("done:", frame.data.decision);
      open -= 1;
      break;
    case "error":
      console.log("refused:", frame.data.message);
      if (frame.data.requestId) open -= 1;
      break;
  }
  endIfDone();
});
socket.addEventListener("close", (event) => {
  lines.close();
  if (ended && open === 0) return;
  console.error(`the server closed the socket: ${event.code} ${event.reason}`);
  process.exitCode = 1;
});

lines.on("line", (line) => {
  const [decision, code, ...why] = line.trim().split(" ");
  const requestId = waiting.get(code ?? "");
  if ((decision !== "approve" && decision !== "reject") || requestId === undefined) {
    return console.log("answer `approve CODE` or `reject CODE WHY`");
  }
  const feedback = why.join(" ");
  open += 1;
  socket.send(JSON.stringify({ type: "decision", data: { requestId, decision, ...(feedback && { feedback }) } }));
});
lines.on("close", () => {
  ended = true;
  endIfDone();
});
