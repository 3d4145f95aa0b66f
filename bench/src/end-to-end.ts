// Messages that nobody waits for, from the first POST until the last reply was collected.
import { Connection, summarize } from "./load.ts";
import type { Load } from "./load.ts";
import { pause } from "./processes.ts";

/** Messages that are sent and collected. */
interface EndToEnd {
  url: string;
  path: string;
  headers: Record<string, string>;
  message: Record<string, unknown>;
  count: number;
}

/** A chat with the number of replies that it should get and has got. */
interface Chat {
  id: string;
  wanted: number;
  replies: number;
}

const CHATS = 64;
const DRAINERS = 16;
/** A reply that takes longer is missing. */
const PATIENCE_MS = 60_000;

/**
 * Posts `count` messages to 64 chats over 64 connections, and collects the replies of all chats over 16 others
 * meanwhile: messages per second from the first byte until the last reply. `p50` and `p99` are the times of a POST.
 * Missing and extra replies are in `bad`.
 */
export async function runEndToEnd({ url, path, headers, message, count }: EndToEnd): Promise<Load> {
  const open = (number: number) => Array.from({ length: number }, () => new Connection(url));
  const run = Date.now().toString(36);
  const chats = Array.from({ length: CHATS }, (_, index): Chat => ({
    id: `end-${run}-${index}`,
    wanted: 0,
    replies: 0,
  }));
  const [posting, draining] = [open(CHATS), open(DRAINERS)];
  const times: number[] = [];
  let sent = 0;
  let refused = 0;
  let isPosted = false;
  const startedAt = performance.now();
  let progressAt = startedAt;

  const postAll = async (connection: Connection) => {
    while (sent < count) {
      const chat = chats[sent++ % CHATS];
      if (chat === undefined) return;
      const sentAt = performance.now();
      const body = JSON.stringify({ ...message, mode: "async", chatId: chat.id });
      const { status } = await connection.send("POST", path, headers, body);
      times.push(performance.now() - sentAt);
      if (status === 202) chat.wanted++;
      else refused++;
    }
  };
  const isOpen = (chat: Chat) => !isPosted || chat.replies < chat.wanted;
  const drainAll = async (connection: Connection, number: number) => {
    const own = chats.filter((_, index) => index % DRAINERS === number);
    while (own.some(isOpen) && performance.now() - progressAt < PATIENCE_MS) {
      for (const chat of own.filter(isOpen)) {
        const { body } = await connection.send("GET", `${path}/${chat.id}?wait=200`, headers);
        const { length } = (JSON.parse(body) as { replies: unknown[] }).replies;
        chat.replies += length;
        if (length > 0) progressAt = performance.now();
      }
      await pause(20);
    }
  };
  const posted = Promise.all(posting.map(postAll)).then(() => (isPosted = true));
  await Promise.all([posted, ...draining.map(drainAll)]);
  const tookMs = performance.now() - startedAt;
  for (const connection of [...posting, ...draining]) connection.end();
  const replies = chats.reduce((sum, chat) => sum + chat.replies, 0);
  const wanted = chats.reduce((sum, chat) => sum + chat.wanted, 0);
  const bad = { refused, missing: Math.max(0, wanted - replies), tooMany: Math.max(0, replies - wanted) };
  return { ...summarize(times, tookMs, bad), requests: replies, perSecond: (replies * 1_000) / tookMs };
}
