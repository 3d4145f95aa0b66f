// A customer of the HTTP API: a careful one, so that every message has an Idempotency-Key and is sent until it is
// accepted.
import { randomUUID } from "node:crypto";
import { pause, waitFor, rowsOf } from "./ground.ts";
import type { Ground, Chaos } from "./ground.ts";
import type { Ledger, Mode, Way } from "./ledger.ts";

interface StoredMessage extends Record<string, unknown> {
  id: string;
  state: string;
  chat_id: string;
  replies: number;
}

/**
 * Compares a ledger with the store, and returns the differences in words: each stored message was sent by a customer
 * and has exactly one reply, each acknowledged one is stored, and no customer was shown an answer to an unknown
 * message. With `mayFail` dead letters have no reply; messages of the chats that `isProbe` matches are not in the
 * ledger.
 */
export async function readAnswers(
  { ground, ledger }: Chaos,
  { mayFail = false, isProbe = () => false }: { mayFail?: boolean; isProbe?: (chat: string) => boolean } = {},
): Promise<string[]> {
  const rows = await rowsOf<StoredMessage>(
    ground,
    `SELECT m.id, m.state, c.chat_id, coalesce(r.replies, 0) AS replies FROM messages m JOIN chats c USING (ticket_id)
     LEFT JOIN (SELECT in_reply_to, count(*)::integer AS replies FROM replies GROUP BY in_reply_to) r ON r.in_reply_to = m.id`,
  );
  const stored = new Set<string | null>(rows.map(({ id }) => id));
  const sent = new Set(ledger.entries.map(({ messageId }) => messageId));
  const missing = ledger.entries.filter(
    ({ acknowledgedAt, messageId }) => acknowledgedAt !== null && !stored.has(messageId),
  );
  const strange = rows.filter(({ id, chat_id }) => !sent.has(id) && !isProbe(chat_id));
  const isFine = ({ state, replies }: StoredMessage) =>
    mayFail && state === "failed" ? replies === 0 : state === "answered" && replies === 1;
  return [
    ...missing.map(({ messageId }) => `not in the store: ${messageId}`),
    ...strange.map(({ id, chat_id }) => `taken in, but no customer was told so: ${id} of ${chat_id}`),
    ...ledger.unasked().map((id) => `an answer was shown to a message that no customer knows: ${id}`),
    ...rows
      .filter((row) => !isFine(row))
      .map(({ id, state, replies }) => `${replies} replies to ${id}, which is ${state}`),
  ];
}

const RETRY_MS = 50;
/** A drain with this many failures at the end has failed. */
const MAX_LAST_FAILURES = 400;
/** Added to the time that a call itself may take. */
const PATIENCE_MS = 10_000;
/** An error that a careful client retries: the product has not read the request, or has rejected it temporarily. */
const isTransient = (status: number) => status === 503 || status === 429 || status === 409;

/** What is read of the bodies of responses. */
export interface Body {
  messageId: string;
  deliveryId: string;
  replies?: { id: string; inReplyTo: string; seq: number }[];
  cursor?: string;
  status?: string;
}

/** A response as far as it is read. */
export interface Answer {
  status: number;
  body: Body;
}

interface CallOptions {
  method?: string;
  key: string;
  headers?: Record<string, string>;
  json?: unknown;
  timeoutMs?: number;
}

/** Sends one request; null if the connection dropped or the response was late. */
export async function call(
  url: string,
  { method = "GET", key, headers = {}, json, timeoutMs = 30_000 }: CallOptions,
): Promise<Answer | null> {
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
    return { status: response.status, body: (await response.json()) as Body };
  } catch (error) {
    if (error instanceof TypeError || (error instanceof Error && error.name === "TimeoutError")) return null;
    throw error;
  }
}

/** Notes the replies of an answer. */
export function noteReplies(ledger: Ledger, { body }: Answer, by: Way) {
  for (const { id, inReplyTo, seq } of body.replies ?? []) ledger.show({ messageId: inReplyTo, replyId: id, seq, by });
}

/** A message to send; `replica` is the first that it is sent to. */
interface Sending {
  chat: string;
  place: number;
  mode: Mode;
  fields?: { timeoutMs?: number; text?: string; webhookUrl?: string; meta?: Record<string, unknown> };
  replica?: number;
}

/**
 * Sends a message until it is accepted, to each replica in turn, and records the response. Rejects on a response that a
 * retry does not help.
 */
export async function sendUntilTaken(
  { ground, ledger }: Pick<Chaos, "ground" | "ledger">,
  { chat, place: position, mode, fields = {}, replica = 0 }: Sending,
) {
  const id = randomUUID();
  const entry = ledger.send({ id, channel: "api", chat, place: position, mode });
  for (let trial = 0; ; trial++) {
    if (trial > 0) ledger.tryAgain(entry);
    const answer = await call(`${replicaOf(ground, replica + trial)}/api/v1/messages`, {
      method: "POST",
      key: ground.key,
      headers: { "Idempotency-Key": id },
      json: {
        text: `message ${position} of ${chat}`,
        chatId: chat,
        ...(mode === "webhook" ? {} : { mode }),
        ...fields,
      },
      timeoutMs: fields.timeoutMs ?? 30_000,
    });
    if (answer !== null && answer.status < 300) {
      ledger.acknowledge(entry, answer.body.messageId);
      noteReplies(ledger, answer, "call");
      return { entry, answer };
    }
    if (answer !== null && !isTransient(answer.status))
      throw new Error(`a message was answered with ${answer.status}: ${JSON.stringify(answer.body)}`);
    await pause(RETRY_MS);
  }
}

/** How a chat is read by cursor. */
interface Reading {
  chat: string;
  isOver: () => boolean;
  waitMs?: number;
  replica?: number;
  /** Reads a page, at the replica of that turn. */
  ask?: (path: string, turn: number) => Promise<Answer | null>;
}

/**
 * Reads the replies of a chat by cursor, each once, until `isOver` and no more arrive, and records them. Rejects if the
 * chat stays unreadable at the end.
 */
export async function collect({ ground, ledger }: Pick<Chaos, "ground" | "ledger">, reading: Reading) {
  const { chat, isOver, waitMs = 2_000, replica = 0 } = reading;
  const askReplica = (path: string, turn: number) =>
    call(`${replicaOf(ground, turn)}${path}`, { key: ground.key, timeoutMs: waitMs });
  const ask = reading.ask ?? askReplica;
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
    if (isLast && page.body.replies?.length === 0) return;
  }
}

/** Reads chats by cursor. The returned function ends that and resolves once nothing more comes. */
export function collectAll(chaos: Chaos, chats: readonly string[], options: Pick<Reading, "ask"> = {}) {
  let isOver = false;
  const drains = chats.map((chat, replica) => collect(chaos, { chat, isOver: () => isOver, replica, ...options }));
  return async () => {
    isOver = true;
    await Promise.all(drains);
  };
}

/** Waits until every acknowledged message has an answer; prints when that does not happen in time. */
export async function untilAnswered({ ledger, say }: Chaos, timeoutMs?: number) {
  const isAnswered = () => ledger.open().length === 0;
  await waitFor(isAnswered, "every message to be answered", timeoutMs).catch((error: Error) => say(error.message));
}

/** Returns this many names of chats. */
export const chatNames = (count: number) => Array.from({ length: count }, (_, index) => `chat-${index}`);

const replicaOf = ({ composition: { apiUrls } }: Ground, turn: number) => apiUrls[turn % apiUrls.length] ?? "";
