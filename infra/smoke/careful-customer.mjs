// Sends sync messages through the proxy until SIGTERM, as the documentation tells customers to: with an Idempotency-Key,
// again after 409, 429, 5xx and calls without an answer, and from the drain what a call ended without. Reads every drain
// once more at the end, says how many messages there were, and ends with code 1 when one was not answered, or answered
// twice.
// Usage: API_KEY=… node careful-customer.mjs http://127.0.0.1:31416
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

const PAUSE_MS = 100;
const GIVE_UP_MS = 90_000;
const READERS = 16;
const origin = process.argv[2];
const headers = { "x-api-key": process.env.API_KEY ?? "", "content-type": "application/json" };
const messages = [];
const ending = new AbortController();
process.on("SIGTERM", () => ending.abort());

/** A call that is made until it is answered with something that is not to be tried again. */
async function call(path, init, deadline) {
  for (let tries = 1; ; tries++) {
    let answer;
    try {
      const response = await fetch(`${origin}${path}`, { ...init, signal: AbortSignal.timeout(40_000) });
      answer = { status: response.status, body: await response.json(), tries };
    } catch (error) {
      answer = { status: 0, body: String(error), tries };
    }
    const isAgain = [0, 409, 429].includes(answer.status) || answer.status >= 500;
    if (!isAgain || Date.now() > deadline) return answer;
    await sleep(500);
  }
}

async function send(message) {
  const deadline = Date.now() + GIVE_UP_MS;
  const body = JSON.stringify({ text: "Can a message get lost?", chatId: message.chatId });
  const key = { ...headers, "idempotency-key": message.chatId };
  const answer = await call("/api/v1/messages", { method: "POST", headers: key, body }, deadline);
  message.tries = answer.tries;
  for (const reply of answer.body?.replies ?? []) message.replies.push(reply.id);
  let cursor = 0;
  while (message.replies.length === 0 && Date.now() < deadline) {
    const path = `/api/v1/messages/${encodeURIComponent(message.chatId)}?after=${cursor}&wait=5000`;
    const drained = await call(path, { headers }, deadline);
    for (const reply of drained.body?.replies ?? []) message.replies.push(reply.id);
    message.isDrained = message.replies.length > 0;
    cursor = drained.body?.cursor ?? cursor;
    if (drained.status === 404) break;
  }
  if (message.replies.length === 0)
    console.error("not answered:", message.chatId, JSON.stringify(answer).slice(0, 400));
}

const sendings = [];
while (!ending.signal.aborted) {
  const message = { chatId: `smoke-${randomUUID()}`, replies: [], tries: 0, isDrained: false };
  messages.push(message);
  sendings.push(send(message));
  await sleep(PAUSE_MS);
}
await Promise.all(sendings);
// A message that was taken in twice has a second reply in its chat. A call that was sent again has its own answer, which
// the drain may show too.
const unread = [...messages];
let unreadable = 0;
const readAll = async () => {
  for (let message = unread.pop(); message !== undefined; message = unread.pop()) {
    const path = `/api/v1/messages/${encodeURIComponent(message.chatId)}?after=0&wait=0`;
    const drained = await call(path, { headers }, Date.now() + GIVE_UP_MS);
    if (drained.status !== 200) unreadable++;
    const known = new Set(message.tries > 1 || message.isDrained ? message.replies : []);
    for (const reply of drained.body?.replies ?? []) if (!known.has(reply.id)) message.replies.push(reply.id);
  }
};
await Promise.all(Array.from({ length: READERS }, readAll));
const lost = messages.filter(({ replies }) => replies.length === 0);
const twice = messages.filter(({ replies }) => new Set(replies).size !== 1 || replies.length !== 1);
const again = messages.filter(({ tries }) => tries > 1);
console.log(
  `${messages.length} messages, ${again.length} sent more than once, ${lost.length} not answered, ${twice.length - lost.length} answered twice, ${unreadable} drains not read`,
);
process.exitCode = lost.length + twice.length + unreadable === 0 ? 0 : 1;
