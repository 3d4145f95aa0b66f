import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Project } from "@svc/store";
import { randomFrom, waitFor, queryDatabase } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { startPrivateGround } from "./support/start-private-ground.ts";
import type { PrivateGround } from "./support/start-private-ground.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const isSoak = process.env["SVC_SOAK"] === "1";
const SEED = Number(process.env["SVC_SEED"] ?? Math.floor(Math.random() * 1e9));
const CHATS = isSoak ? 25 : 10;
const MESSAGES_A_CHAT = isSoak ? 20 : 5;
const MESSAGES = CHATS * MESSAGES_A_CHAT;
const KILLS = isSoak ? 5 : 1;
const FIXED = "This is always the answer.";
const SETTLED_WITHIN_MS = 90_000;
/** A reply sent within this time before its process is killed may not have been recorded as delivered. */
const RECORDED_WITHIN_MS = 1_000;

/** A reply that a customer received, through the call or the drain. */
interface Received {
  chatId: string;
  replyId: string;
  inReplyTo: string | null;
  by: "call" | "drain";
  at: number;
}

/** What the customers know. A dropped or rejected call may have been accepted all the same: only the store knows. */
interface Ledger {
  /** Texts of the accepted messages, in the order in which the chat's customer received the acknowledgements. */
  accepted: Map<string, string[]>;
  given: Received[];
  /** Times at which a process with an API was killed. */
  apiKills: number[];
}

interface MessageRow {
  id: string;
  chat_id: string;
  text: string;
  state: string;
}

let ground: PrivateGround;
let product: Product;
let api: ApiClient;
let project: Project;

beforeAll(async () => {
  ground = await startPrivateGround();
  product = await startProduct({ ground });
  api = createApiClient(product);
  project = await addProject(product.store, "chaos", { fixedReply: FIXED });
});

afterAll(() => product.stop());

const chatIds = Array.from({ length: CHATS }, (_, chat) => `chaos-${chat}`);

async function isHealthy(): Promise<boolean> {
  const answers = await Promise.all(product.composition.apiUrls.map((url) => fetch(`${url}/api/v1/health`)));
  return answers.every((answer) => answer.ok);
}
const untilHealthy = () => waitFor(isHealthy, { what: "every api to be healthy", timeoutMs: 30_000 });

/** Returns the response, or null if the connection was dropped: then the customer does not know the outcome. */
async function orCut(call: Promise<ApiAnswer>): Promise<ApiAnswer | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

function noteReplies(ledger: Ledger, chatId: string, by: Received["by"], answer: ApiAnswer): void {
  const at = performance.now();
  for (const { id, inReplyTo } of answer.replies) ledger.given.push({ chatId, replyId: id, inReplyTo, by, at });
}

/** One customer: sends messages one after the other, in both modes. */
async function talk(chatId: string, random: () => number, ledger: Ledger, onSent: () => void): Promise<void> {
  const accepted: string[] = [];
  ledger.accepted.set(chatId, accepted);
  for (let position = 0; position < MESSAGES_A_CHAT; position++) {
    const mode = random() < 0.5 ? "sync" : "async";
    const text = `${chatId} message ${position}`;
    const replica = Math.floor(random() * 2);
    const answer = await orCut(api.send(project.name, { text, chatId, mode, timeoutMs: 2_000 }, { replica }));
    onSent();
    if (answer?.status === 200 || answer?.status === 202) {
      accepted.push(text);
      noteReplies(ledger, chatId, "call", answer);
    } else {
      await untilHealthy();
    }
  }
}

/**
 * The same customer's drain: reads by cursor, on any replica, despite dropped connections, until no more replies can
 * come.
 */
async function collect(chatId: string, random: () => number, ledger: Ledger, isOver: () => boolean): Promise<void> {
  let cursor = "0";
  for (;;) {
    const isLast = isOver();
    const query = `?after=${cursor}&wait=${isLast ? 0 : 1_000}`;
    const page = await orCut(api.drain(project.name, chatId, query, { replica: Math.floor(random() * 2) }));
    if (page?.status !== 200) {
      await untilHealthy();
      continue;
    }
    noteReplies(ledger, chatId, "drain", page);
    cursor = page.body.cursor ?? cursor;
    if (isLast && page.replies.length === 0) return;
  }
}

/** Kills processes that work on messages, and restarts them. */
async function killPipeline(random: () => number, ledger: Ledger): Promise<void> {
  const workers = product.composition.processes.filter(({ name }) => !name.startsWith("api"));
  const victim = workers[Math.floor(random() * workers.length)];
  if (victim === undefined) throw new Error("there is no pipeline to kill");
  if (victim.apiUrl !== undefined) ledger.apiKills.push(performance.now());
  await victim.kill("SIGKILL");
  await victim.start();
}

/** Kills a server and restarts it: Redis, which loses its data, or Postgres, which does not. */
async function killServer(server: { kill(signal: "SIGKILL"): Promise<void>; start(): Promise<void> }): Promise<void> {
  await server.kill("SIGKILL");
  await server.start();
}

const readMessages = () =>
  queryDatabase<MessageRow>(
    product.databaseUrl,
    `SELECT m.id, c.chat_id, m.text, m.state FROM messages m JOIN chats c USING (ticket_id)
     WHERE m.project_id = $1 ORDER BY c.chat_id, m.seq`,
    [project.id],
  );

describe(`${MESSAGES} messages in ${CHATS} chats, ${KILLS} kills of the pipeline, kills of the servers (SVC_SEED=${SEED})`, () => {
  test(
    "every accepted message is answered once, in the order of its chat",
    async () => {
      const random = randomFrom(SEED);
      const ledger: Ledger = { accepted: new Map(), given: [], apiKills: [] };
      let sent = 0;
      let isOver = false;

      const pipelineKills = Array.from({ length: KILLS }, () => () => killPipeline(random, ledger));
      const servers = [ground.redis, ground.postgres].filter((server) => server !== null).slice(0, isSoak ? 2 : 1);
      const kills = [...pipelineKills, ...servers.map((server) => () => killServer(server))]
        .map((kill) => ({ kill, afterMessages: Math.floor(random() * MESSAGES * 0.8) }))
        .sort((one, other) => one.afterMessages - other.afterMessages);
      const havoc = async () => {
        for (const { kill, afterMessages } of kills) {
          await waitFor(() => sent >= afterMessages, { what: `${afterMessages} sent messages`, timeoutMs: 120_000 });
          await kill();
          await untilHealthy();
        }
      };
      const talks = chatIds.map((chatId, chat) => talk(chatId, randomFrom(SEED + chat + 1), ledger, () => void sent++));
      const drains = chatIds.map((chatId, chat) => collect(chatId, randomFrom(SEED - chat - 1), ledger, () => isOver));
      await Promise.all([havoc(), ...talks]);
      await waitFor(async () => (await readMessages()).every(({ state }) => state === "answered"), {
        what: "every message to be answered",
        timeoutMs: SETTLED_WITHIN_MS,
      });

      const messages = await readMessages();
      const replies = await queryDatabase<{ id: string; in_reply_to: string; seq: number }>(
        product.databaseUrl,
        "SELECT id, in_reply_to, seq::int AS seq FROM replies WHERE project_id = $1 ORDER BY seq",
        [project.id],
      );
      // Replies reserved for a dead process become available after its last heartbeat; by then no dropped call reserves
      // any.
      const isGiven = () => {
        const given = new Set(ledger.given.map(({ replyId }) => replyId));
        return replies.every(({ id }) => given.has(id));
      };
      await waitFor(isGiven, { what: "every reply to be given to its customer", timeoutMs: 30_000 });
      isOver = true;
      await Promise.all(drains);

      // No acknowledged message is missing or out of order, and none was accepted twice.
      const texts = messages.map(({ text }) => text);
      expect(new Set(texts).size).toBe(texts.length);
      for (const own of ledger.accepted.values()) expect(texts.filter((text) => own.includes(text))).toEqual(own);

      // Each message has exactly one reply, and the replies of a chat are in the order of its messages.
      const repliesOf = (chatId: string) => {
        const own = messages.filter((message) => message.chat_id === chatId).map(({ id }) => id);
        return { own, answered: replies.map((reply) => reply.in_reply_to).filter((id) => own.includes(id)) };
      };
      expect(replies).toHaveLength(messages.length);
      for (const { own, answered } of chatIds.map(repliesOf)) expect(answered).toEqual(own);

      // No customer receives a reply twice. The only unavoidable exception is a reply sent at the moment its process is
      // killed: a dead process cannot record the delivery. The reply is delivered again, with the same id.
      const first = new Map<string, Received>();
      const repeated = ledger.given.filter((given) => {
        const before = first.get(given.replyId);
        if (before === undefined) first.set(given.replyId, given);
        const isUnnoted = ledger.apiKills.some(
          (at) => before !== undefined && Math.abs(at - before.at) < RECORDED_WITHIN_MS,
        );
        return before !== undefined && !(before.by === "call" && isUnnoted);
      });
      expect(repeated).toEqual([]);
    },
    isSoak ? 600_000 : 240_000,
  );
});
