// A customer of the HTTP API: careful, so that every message has an Idempotency-Key and is sent until it is taken.
import { randomUUID } from "node:crypto";
import { pause } from "./ground.ts";

const RETRY_MS = 50;
/** A drain that cannot be read so often when all is over has failed. */
const MAX_LAST_FAILURES = 400;
/** Beyond what a call may take by itself. */
const PATIENCE_MS = 10_000;
/** A fault that a careful client meets with a retry: the product has not read the request, or has refused it for now. */
const isPassing = (status) => status === 503 || status === 429 || status === 409;

/** One request; null when the connection broke or nothing came in time. */
export async function call(url, { method = "GET", key, headers = {}, json, timeoutMs = 30_000 }) {
  try {
    const response = await fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(json === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      signal: AbortSignal.timeout(timeoutMs + PATIENCE_MS),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  } catch (error) {
    if (error instanceof TypeError || error.name === "TimeoutError") return null;
    throw error;
  }
}

/** Notes the replies of an answer. */
export function noteReplies(ledger, answer, by) {
  for (const { id, inReplyTo, seq } of answer.body.replies ?? [])
    ledger.show({ messageId: inReplyTo, replyId: id, seq, by });
}

/**
 * Sends a message until it is taken, by turns to each replica, and notes what comes back. `onRetry` learns of each try
 * that failed: its answer, or null. Throws on an answer that no retry helps with.
 */
export async function sendUntilTaken({
  ledger,
  ground,
  chat,
  place,
  mode,
  fields = {},
  onRetry = () => undefined,
  replica = 0,
}) {
  const { apiUrls } = ground.composition;
  const id = randomUUID();
  const entry = ledger.send({ id, channel: "api", chat, place, mode });
  const timeoutMs = fields.timeoutMs ?? 30_000;
  for (let trial = 0; ; trial++) {
    if (trial > 0) ledger.tryAgain(entry);
    const answer = await call(`${apiUrls[(replica + trial) % apiUrls.length]}/api/v1/messages`, {
      method: "POST",
      key: ground.key,
      headers: { "Idempotency-Key": id },
      json: { text: `message ${place} of ${chat}`, chatId: chat, ...(mode === "webhook" ? {} : { mode }), ...fields },
      timeoutMs,
    });
    if (answer !== null && answer.status < 300) {
      ledger.acknowledge(entry, answer.body.messageId);
      noteReplies(ledger, answer, "call");
      return { entry, answer };
    }
    if (answer !== null && !isPassing(answer.status))
      throw new Error(`a message was answered with ${answer.status}: ${JSON.stringify(answer.body)}`);
    onRetry(answer);
    await pause(RETRY_MS);
  }
}

/**
 * Reads the replies of a chat by cursor, each once, until `isOver` and nothing more comes. Notes them. `ask` reads a page
 * of it, at the replica of that turn. Throws when it cannot be read for long after all is over.
 */
export async function collect({
  ledger,
  ground,
  chat,
  isOver,
  waitMs = 2_000,
  replica = 0,
  ask = (path, turn) => askReplica(ground, path, turn, waitMs),
}) {
  let cursor = "0";
  let failures = 0;
  for (let turn = replica; ; turn++) {
    const isLast = isOver();
    const query = `?after=${cursor}&wait=${isLast ? 0 : waitMs}`;
    const page = await ask(`/api/v1/messages/${encodeURIComponent(chat)}${query}`, turn);
    if (page?.status !== 200) {
      failures += isLast ? 1 : 0;
      if (failures > MAX_LAST_FAILURES)
        throw new Error(`the drain of ${chat} cannot be read: ${page?.status ?? "no answer"}`);
      await pause(RETRY_MS);
      continue;
    }
    noteReplies(ledger, page, "drain");
    cursor = page.body.cursor ?? cursor;
    if (isLast && page.body.replies.length === 0) return;
  }
}

function askReplica({ composition: { apiUrls }, key }, path, turn, timeoutMs) {
  return call(`${apiUrls[turn % apiUrls.length]}${path}`, { key, timeoutMs });
}
