// Messages that nobody waits for, from the first POST until the last reply was collected.
import { Connection, percentile } from "./load.ts";

const CHATS = 64;
const DRAINERS = 16;
/** A reply that does not come for so long is missing. */
const PATIENCE_MS = 60_000;

/**
 * Posts `count` messages over 64 chats by 64 connections, and collects the replies of all chats by 16 others meanwhile:
 * messages a second from the first byte until the last reply is there. `p50` and `p99` are how long a POST takes. What is
 * missing or too much is in `bad`.
 */
export async function runEndToEnd({ url, path, headers, message, count }) {
  const { hostname: host, port } = new URL(url);
  const open = (number) => Array.from({ length: number }, () => new Connection({ host, port: Number(port) }));
  const run = Date.now().toString(36);
  const chats = Array.from({ length: CHATS }, (_, index) => ({ id: `end-${run}-${index}`, wanted: 0, replies: 0 }));
  const [posting, draining] = [open(CHATS), open(DRAINERS)];
  const times = [];
  let sent = 0;
  let refused = 0;
  let isPosted = false;
  const startedAt = performance.now();
  let progressAt = startedAt;

  const postAll = async (connection) => {
    while (sent < count) {
      const chat = chats[sent++ % CHATS];
      const sentAt = performance.now();
      const body = JSON.stringify({ ...message, mode: "async", chatId: chat.id });
      const { status } = await connection.send("POST", path, headers, body);
      times.push(performance.now() - sentAt);
      if (status === 202) chat.wanted++;
      else refused++;
    }
  };
  const isOpen = (chat) => !isPosted || chat.replies < chat.wanted;
  const drainAll = async (connection, number) => {
    const own = chats.filter((_, index) => index % DRAINERS === number);
    while (own.some(isOpen) && performance.now() - progressAt < PATIENCE_MS) {
      for (const chat of own.filter(isOpen)) {
        const { body } = await connection.send("GET", `${path}/${chat.id}?wait=200`, headers);
        const { length } = JSON.parse(body).replies;
        chat.replies += length;
        if (length > 0) progressAt = performance.now();
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const posted = Promise.all(posting.map(postAll)).then(() => (isPosted = true));
  await Promise.all([posted, ...draining.map(drainAll)]);
  const took = (performance.now() - startedAt) / 1_000;
  for (const connection of [...posting, ...draining]) connection.end();
  const replies = chats.reduce((sum, chat) => sum + chat.replies, 0);
  const wanted = chats.reduce((sum, chat) => sum + chat.wanted, 0);
  const sorted = Float64Array.from(times).sort();
  return {
    requests: replies,
    perSecond: replies / took,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    bad: { refused, missing: Math.max(0, wanted - replies), tooMany: Math.max(0, replies - wanted) },
  };
}
