// Every process of every app is restarted, one after the other, under a steady load.
import { randomUUID } from "node:crypto";
import { Agent, request as sendRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { APP_NAMES } from "@svc/contracts";
import { toolCall } from "@svc/testing";
import type { FurtherApp } from "@svc/testing";
import { chatNames, collectAll, noteReplies, untilAnswered, readAnswers } from "./customer.ts";
import { pause } from "./ground.ts";
import { judge, wasAskedTwice } from "./ledger.ts";
import type { Chaos, Scenario } from "./ground.ts";
import { withVisitors } from "./visitor.ts";
import type { Visitor } from "./visitor.ts";
import type { Answer, Body } from "./customer.ts";

// A client that keeps its connections and decides for each request without a response whether it may be sent again.

const RETRY_MS = 50;
const ANSWER_WITHIN_MS = 30_000;
/** A kept connection that closes later than this after a request was sent was closed in the middle of the request. */
const CLOSED_WITHIN_MS = 250;
/** A call that is not accepted after this many attempts has failed. */
const MAX_TRIES = 40;

interface Request {
  path: string;
  method?: string;
  headers: Record<string, string>;
  body?: string;
}

/** `name` is what it is called in failures. */
interface NamedRequest extends Request {
  name: string;
  onRetry?: () => void;
}

/** One try: its response, or what kind of retry it calls for, or what has failed. */
type Try = Answer | { retry: keyof Asker["retries"] } | { failure: string };

/** Asks replicas until one answers. */
interface Asker {
  /**
   * Sends a request to a replica, and to the next one after a clean rejection, until the response is 2xx; null if it
   * failed, which is recorded in `failures`.
   */
  ask: (urls: readonly string[], turn: number, request: NamedRequest) => Promise<Answer | null>;
  /** `refused` and `unavailable` come before the request is read, `closed` is a kept connection that ended before. */
  readonly retries: { refused: number; unavailable: number; closed: number };
  readonly failures: string[];
  count(): number;
  close(): void;
}

/** Creates an asker with connections of its own. */
function createAsker(): Asker {
  const agents = new Map<string, Agent>();
  const retries = { refused: 0, unavailable: 0, closed: 0 };
  const failures: string[] = [];
  let count = 0;
  const agentOf = (url: string) => {
    const agent = agents.get(url) ?? new Agent({ keepAlive: true });
    agents.set(url, agent);
    return agent;
  };
  return {
    retries,
    failures,
    count: () => count,
    async ask(urls, turn, { name, onRetry, ...request }) {
      count++;
      for (let trial = 0; trial < MAX_TRIES; trial++) {
        if (trial > 0) onRetry?.();
        const url = urls[(turn + trial) % urls.length] ?? "";
        const tried = await askOnce(url, agentOf(url), request);
        if ("status" in tried) return tried;
        if ("failure" in tried) {
          failures.push(`${name}: ${tried.failure}`);
          return null;
        }
        retries[tried.retry]++;
        await pause(RETRY_MS);
      }
      failures.push(`${name} was not taken in ${MAX_TRIES} tries`);
      return null;
    },
    close() {
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

function askOnce(url: string, agent: Agent, { path, method = "GET", headers, body }: Request): Promise<Try> {
  return new Promise((resolve) => {
    const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
    const options = { method, agent, headers: { ...headers, ...length }, timeout: ANSWER_WITHIN_MS };
    const sentAt = performance.now();
    const request = sendRequest(`${url}${path}`, options);
    request.on("response", (response) => {
      readResponse(response).then(resolve, (error: Error) =>
        resolve({ failure: `the answer was cut (${error.message})` }),
      );
    });
    request.on("timeout", () => request.destroy(new Error(`no answer in ${ANSWER_WITHIN_MS / 1_000} s`)));
    request.on("error", (error: NodeJS.ErrnoException) => {
      // Without a connection nothing was sent; one in the accept queue is reset when the listener closes.
      if (error.syscall === "connect") {
        resolve({ retry: "refused" });
        return;
      }
      // A kept connection may close at the moment of the next request. Later, it is a call that was interrupted while
      // it waited.
      const age = Math.round(performance.now() - sentAt);
      const isEnded = request.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
      const connection = request.reusedSocket ? "kept" : "new";
      if (isEnded && age <= CLOSED_WITHIN_MS) resolve({ retry: "closed" });
      else resolve({ failure: `${error.message} after ${age} ms on a ${connection} connection` });
    });
    request.end(body);
  });
}

async function readResponse(response: IncomingMessage): Promise<Try> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString();
  const { statusCode: status = 0, headers } = response;
  const isJson = headers["content-type"]?.includes("json") === true;
  if (status < 300) return { status, body: (isJson ? JSON.parse(text) : {}) as Body };
  return status === 503 && headers["retry-after"] !== undefined
    ? { retry: "unavailable" }
    : { failure: `${status} ${text.slice(0, 300)}` };
}

const CHATS = 40;
const VISITORS = 10;
const APPS = APP_NAMES.filter((name): name is FurtherApp => name !== "api" && name !== "pipeline");
/** What of the load comes from visitors. */
const VISITORS_SHARE = 0.2;
/** One of this many messages of the API is a sync call. */
const SYNC_EACH = 5;
const SYNC_TIMEOUT_MS = 10_000;
/** Interval of the tool calls and console requests. */
const OTHERS_MS = 1_000;
/** Visitors' messages are acknowledged before they are answered, so on a slow machine many of them wait. */
const PATIENCE_MS = 900_000;

export const restartAll: Scenario<"rounds" | "perSecond"> = {
  promise: "every app is restarted, one process after the other, under load: no request fails but for clean retries",
  sizes: { full: { rounds: 10, perSecond: 100 }, quick: { rounds: 1, perSecond: 50 } },
  ground: { apps: APPS },
  run: (chaos, { rounds, perSecond }) =>
    withVisitors(chaos, VISITORS, async (visitors) => {
      const { ground, ledger, say } = chaos;
      const asker = createAsker();
      try {
        const headers = { authorization: `Bearer ${ground.key}` };
        const endDrains = collectAll(chaos, chatNames(CHATS), {
          ask: (path, turn) => asker.ask(ground.composition.apiUrls, turn, { name: "a drain", path, headers }),
        });
        const load = startLoad(chaos, asker, visitors, perSecond);
        const badEnds = await restartRounds(chaos, asker, rounds);
        await load.stop();
        say(`${ledger.open().length} messages wait for their answer`);
        await untilAnswered(chaos, PATIENCE_MS);
        await endDrains();
        const bySync = ledger.entries.filter(({ answers }) => answers.some(({ by }) => by === "call")).length;
        return {
          figures: {
            "processes restarted": rounds * ground.composition.processes.length,
            messages: ledger.entries.length,
            "of them answered in their call": bySync,
            "requests in all": asker.count(),
            "retries after a refusal, a 503, the end of a kept connection": Object.values(asker.retries).join(", "),
            "lines of visitors opened again": visitors.reduce((sum, { breaks }) => sum + breaks, 0),
            "same reply by the repeated call and by cursor": ledger.entries.filter(wasAskedTwice).length,
          },
          breaches: [
            ...asker.failures,
            ...visitors.flatMap(({ failures }) => failures),
            ...badEnds,
            ...judge(ledger, { mayRepeat: wasAskedTwice }),
            ...(await readAnswers(chaos)),
          ],
        };
      } finally {
        asker.close();
      }
    }),
};

/** Restarts every process, in this many rounds. Returns those that did not exit cleanly, in words. */
async function restartRounds({ ground, ledger, say }: Chaos, { retries, failures }: Asker, rounds: number) {
  const badEnds: string[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const process of ground.composition.processes) {
      const { code, signal } = await process.kill("SIGTERM");
      if (code !== 0) badEnds.push(`${process.name} ended with ${code ?? signal}`);
      await process.start();
    }
    const last = failures.length === 0 ? "" : `, the last: ${failures.at(-1)}`;
    say(
      `round ${round} of ${rounds}: ${ledger.entries.length} messages, retries ${JSON.stringify(retries)}, ${failures.length} failures${last}`,
    );
  }
  return badEnds;
}

/** Sends messages, tool calls and requests to the console until it is stopped. */
function startLoad(chaos: Chaos, asker: Asker, visitors: readonly Visitor[], perSecond: number) {
  const { toolsUrls, consoleUrls } = chaos.ground.composition;
  const state = { isOver: false };
  const useOthers = async () => {
    for (let turn = 0; !state.isOver; turn++) {
      const { path, headers, body } = toolCall(chaos.ground.key, "svc_list_agents", {});
      await asker.ask(toolsUrls, turn, { name: "a tool call", method: "POST", path, headers, body });
      const accept = { accept: "text/html" };
      await asker.ask(consoleUrls, turn, { name: "a page of the console", path: "/", headers: accept });
      await pause(OTHERS_MS);
    }
  };
  /** Sends in a rhythm; a message of a chat waits for the one before. */
  const beat = async (senders: ((position: number) => Promise<unknown>)[], rate: number) => {
    const chats = senders.map((send) => ({ send, place: 0, last: Promise.resolve<unknown>(undefined) }));
    const startedAt = performance.now();
    for (let count = 0; !state.isOver; count++) {
      const at = startedAt + (count * 1_000) / rate;
      if (at > performance.now()) await pause(at - performance.now());
      const chat = chats[count % chats.length];
      if (chat === undefined) return;
      const position = chat.place++;
      // If the machine is too slow for the rhythm, messages that are not sent by the end are skipped.
      chat.last = chat.last.then(() => (state.isOver ? undefined : chat.send(position)));
    }
    await Promise.all(chats.map(({ last }) => last));
  };
  const calls = chatNames(CHATS).map(
    (chat, index) => (position: number) => sendOne(chaos, asker, { chat, place: position, index }),
  );
  const load = Promise.all([
    beat(calls, perSecond * (1 - VISITORS_SHARE)),
    beat(
      visitors.map((visitor) => (position) => visitor.send(position)),
      perSecond * VISITORS_SHARE,
    ),
    useOthers(),
  ]);
  return {
    async stop() {
      state.isOver = true;
      await load;
    },
  };
}

/** Sends a message and notes its answer. */
async function sendOne(
  { ground, ledger }: Chaos,
  asker: Asker,
  { chat, place: position, index }: { chat: string; place: number; index: number },
) {
  const turn = index + position;
  const mode = turn % SYNC_EACH === 0 ? "sync" : "async";
  const entry = ledger.send({ id: randomUUID(), channel: "api", chat, place: position, mode });
  const timeout = mode === "sync" ? { timeoutMs: SYNC_TIMEOUT_MS } : {};
  const answer = await asker.ask(ground.composition.apiUrls, turn, {
    name: `message ${entry.id}, ${mode}`,
    path: "/api/v1/messages",
    method: "POST",
    headers: {
      authorization: `Bearer ${ground.key}`,
      "content-type": "application/json",
      "idempotency-key": entry.id,
    },
    body: JSON.stringify({ text: `message ${position} of ${chat}`, chatId: chat, mode, ...timeout }),
    onRetry: () => ledger.tryAgain(entry),
  });
  if (answer === null) return;
  ledger.acknowledge(entry, answer.body.messageId);
  noteReplies(ledger, answer, "call");
}
