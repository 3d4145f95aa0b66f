// The figures with a fixed answer, which are those of a comparison program too: each is measured in turns with it.
import { KEY, MESSAGE, MESSAGES_PATH, POST, answerFixed, asyncPost, headersOf } from "./product.ts";
import type { Bench } from "./product.ts";
import { measureCallbacks } from "./callbacks.ts";
import { pause, startFloor } from "./processes.ts";
import type { Groups, Variant } from "./processes.ts";
import { Connection, load, loadOf, summarize } from "./measure.ts";
import type { Load, LoadRequest } from "./measure.ts";

// Messages that nobody waits for, from the first POST until the last reply was collected.

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
async function runEndToEnd({ url, path, headers, message, count }: EndToEnd): Promise<Load> {
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

/** A key with an ordinary rate limit that is not reached. */
const COUNTED_KEY = "bench-counted-key-0123456789abcdef";
const COUNTED_LIMIT = 1_000_000;
/** Each connection reads its own chat, as callers do. */
const EMPTY_DRAIN = {
  path: (number: number) => `${MESSAGES_PATH}/nothing-here-${number}?wait=0`,
  method: "GET",
  headers: headersOf(KEY),
  body: "",
  connections: 64,
};

/** A running program that has the messages API. */
export interface Program {
  name: string;
  url: string;
  groups: Groups;
}

export interface Programs {
  bench: Bench;
  product: Program;
  floors: readonly Program[];
}

/** The comparison program, and the variants of it that are measured. */
export interface Floor {
  folder: string;
  variants: Variant[];
}

type Run = (url: string, seconds: number) => Promise<Load>;

/** Measures the product in turns with the floors, if any; returns how it compares with each. */
export function compare(name: string, { bench, product, floors }: Programs, run: Run) {
  const subjectOf = (program: Program) => ({
    name: `${program.name}, ${name}`,
    groups: { ...program.groups, ...bench.servers },
    run: (seconds: number) => run(program.url, seconds),
  });
  const relativeTo = floors.map(subjectOf);
  return bench.measureAll([...relativeTo, { ...subjectOf(product), relativeTo }]);
}

/** Returns a function that repeats a request. */
export const runOf =
  (request: () => LoadRequest): Run =>
  (url, seconds) =>
    load({ ...request(), url }, seconds);

/** Measures the cost of the rate limit: the same request with an unlimited key and a limited one. */
async function compareCounting(name: string, { bench, product }: Programs, request: LoadRequest) {
  const subjectOf = (label: string, key: string) =>
    loadOf(
      `product, ${name}, ${label}`,
      { ...product.groups, ...bench.servers },
      { ...request, url: product.url, headers: headersOf(key) },
    );
  const free = subjectOf("no limit", KEY);
  await bench.measureAll([free, { ...subjectOf("counted", COUNTED_KEY), relativeTo: [free] }]);
}

async function addCountedKey({ url }: Program) {
  const key = { name: "counted", key: COUNTED_KEY, scopes: ["messages:*"], rateLimit: COUNTED_LIMIT };
  const response = await fetch(`${url}/api/v1/admin/keys`, {
    method: "POST",
    headers: headersOf(KEY),
    body: JSON.stringify(key),
  });
  if (response.status !== 201) throw new Error(`the counted key was not made: ${await response.text()}`);
}

/** Measures this many messages that are sent and collected. */
export function compareEndToEnd(programs: Programs, count: number) {
  const { path, headers } = POST;
  return compare(`${count} async messages, all collected`, programs, (url) =>
    runEndToEnd({ url, path, headers, message: MESSAGE, count }),
  );
}

const COMPARED: Record<string, (programs: Programs) => Promise<void>> = {
  async sync(programs) {
    for (const connections of programs.bench.options.connections)
      await compare(
        `sync, ${connections} connections`,
        programs,
        runOf(() => ({ ...POST, connections })),
      );
  },
  async async(programs) {
    for (const connections of programs.bench.options.connections)
      await compare(
        `async POST, ${connections} connections`,
        programs,
        runOf(() => ({ ...asyncPost(), connections })),
      );
    // A conversation is processed in order, so all messages in one chat is the slowest case.
    const inOneChat = runOf(() => asyncPost({ chatId: `one-${Date.now()}` }));
    await compare("async POST in one chat, 64 connections", programs, inOneChat);
  },
  async end(programs) {
    const { messages: count } = programs.bench.options;
    await compareEndToEnd(programs, count);
  },
  async drain(programs) {
    for (const connections of programs.bench.options.connections)
      await compare(
        `empty drain, ${connections} connections`,
        programs,
        runOf(() => ({ ...EMPTY_DRAIN, connections })),
      );
  },
  async limit(programs) {
    await addCountedKey(programs.product);
    await compareCounting("async POST", programs, asyncPost());
    await compareCounting("empty drain", programs, EMPTY_DRAIN);
  },
  async callbacks({ bench: { servers, options }, product }) {
    await measureCallbacks({
      request: { ...POST, url: product.url, connections: 64 },
      groups: { ...product.groups, ...servers },
      inFlight: options.connections,
      connections: 64,
      runs: options.runs,
      seconds: options.seconds,
    });
  },
};

export const COMPARED_NAMES = Object.keys(COMPARED);

/** Starts the product and each variant of the comparison program, and warms them up. */
export async function withPrograms<Result>(
  bench: Bench,
  floor: Floor | undefined,
  work: (programs: Programs) => Promise<Result>,
): Promise<Result> {
  const { scratch, redisPort } = bench;
  const floors: Awaited<ReturnType<typeof startFloor>>[] = [];
  try {
    for (const variant of floor?.variants ?? []) {
      const databaseUrl = await bench.createDatabase(`floor_${variant.name}`);
      const folder = floor?.folder ?? "";
      floors.push(await startFloor({ ...variant, folder, scratch, databaseUrl, redisPort, key: KEY }));
    }
    return await bench.withProduct("fixed", { prepareStore: answerFixed }, async ({ name, groups, urlsOf }) => {
      const product = { name, groups, url: urlsOf("api")[0] ?? "" };
      const { warmUpSeconds } = bench.options;
      for (const { url } of [...floors, product])
        if (warmUpSeconds > 0) await load({ ...POST, url, connections: 64 }, warmUpSeconds);
      return work({ bench, product, floors });
    });
  } finally {
    for (const program of floors) await program.stop();
  }
}

/** Measures these figures on the product and on each variant of the comparison program. */
export const measureCompared = (bench: Bench, names: readonly string[], floor?: Floor) =>
  withPrograms(bench, floor, async (programs) => {
    for (const figure of names) await COMPARED[figure]?.(programs);
  });
