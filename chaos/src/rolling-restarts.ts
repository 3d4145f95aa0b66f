// Every process of every app is ended and started again, one after the other, while a steady load goes on.
import { randomUUID } from "node:crypto";
import { Agent, request as sendRequest } from "node:http";
import { toolCall } from "@svc/testing";
import { collect, noteReplies } from "./customer.ts";
import { pause, startGround, waitFor } from "./ground.ts";
import { createLedger, judge, wasAskedTwice } from "./ledger.ts";
import { readAnswers } from "./read-answers.ts";
import { startVisitor } from "./visitor.ts";

const CHATS = 40;
const VISITORS = 10;
const APPS = ["widget", "messenger", "tool-server", "console"];
const RETRY_MS = 50;
/** What of the load comes from visitors. */
const VISITORS_SHARE = 0.2;
/** One message in so many of the API is sent by a call that waits for its reply. */
const SYNC_EACH = 5;
const SYNC_TIMEOUT_MS = 10_000;
/** A tool call and a page of the console so often. */
const OTHERS_MS = 1_000;
const ANSWER_WITHIN_MS = 30_000;
/** A kept connection that ends later than this after a request was sent on it has ended in the middle of the request. */
const CLOSED_WITHIN_MS = 250;
/** What visitors send is acknowledged sooner than it is answered: on a machine that is too slow for the rhythm, much waits. */
const PATIENCE_MS = 900_000;
/** A call that is not taken in so many tries has failed. */
const MAX_TRIES = 40;

export async function restartAll({ rounds, perSecond, say, ledgerFile }) {
  const ground = await startGround({ apps: APPS });
  const ledger = createLedger();
  const visitors = Array.from({ length: VISITORS }, (_, replica) => startVisitor({ ledger, ground, replica }));
  const { apiUrls, toolsUrls, consoleUrls } = ground.composition;
  const ask = createAsker();
  const authorization = `Bearer ${ground.key}`;
  try {
    const state = { isOver: false, hasEnded: false };
    const chats = Array.from({ length: CHATS }, (_, index) => `chat-${index}`);
    const read = (path, turn) => ask(apiUrls, turn, { name: "a drain", path, headers: { authorization } });
    const drains = chats.map((chat, replica) =>
      collect({ ledger, ground, chat, isOver: () => state.hasEnded, replica, ask: read }),
    );

    const sendOne = async (chat, place, turn) => {
      const mode = turn % SYNC_EACH === 0 ? "sync" : "async";
      const entry = ledger.send({ id: randomUUID(), channel: "api", chat, place, mode });
      const timeout = mode === "sync" ? { timeoutMs: SYNC_TIMEOUT_MS } : {};
      const answer = await ask(apiUrls, turn, {
        name: `message ${entry.id}, ${mode}`,
        path: "/api/v1/messages",
        method: "POST",
        headers: { authorization, "content-type": "application/json", "idempotency-key": entry.id },
        body: JSON.stringify({ text: `message ${place} of ${chat}`, chatId: chat, mode, ...timeout }),
        onRetry: () => ledger.tryAgain(entry),
      });
      if (answer === null) return;
      ledger.acknowledge(entry, answer.body.messageId);
      noteReplies(ledger, answer, "call");
    };
    const useOthers = async () => {
      for (let turn = 0; !state.isOver; turn++) {
        const { path, headers, body } = toolCall(ground.key, "svc_list_agents", {});
        await ask(toolsUrls, turn, { name: "a tool call", method: "POST", path, headers, body });
        await ask(consoleUrls, turn, { name: "a page of the console", path: "/", headers: { accept: "text/html" } });
        await pause(OTHERS_MS);
      }
    };
    /** Sends in a rhythm; a message of a chat waits for the one before. */
    const beat = async (senders, rate) => {
      const places = senders.map(() => 0);
      const last = senders.map(() => Promise.resolve());
      const startedAt = performance.now();
      for (let count = 0; !state.isOver; count++) {
        const at = startedAt + (count * 1_000) / rate;
        if (at > performance.now()) await pause(at - performance.now());
        const index = count % senders.length;
        const place = places[index]++;
        // On a machine that is too slow for the rhythm, what waits to be sent when all is over is not sent.
        last[index] = last[index].then(() => (state.isOver ? undefined : senders[index](place)));
      }
      await Promise.all(last);
    };
    const load = Promise.all([
      beat(
        chats.map((chat, index) => (place) => sendOne(chat, place, index + place)),
        perSecond * (1 - VISITORS_SHARE),
      ),
      beat(
        visitors.map((visitor) => (place) => visitor.send(place)),
        perSecond * VISITORS_SHARE,
      ),
      useOthers(),
    ]);

    const badEnds = [];
    for (let round = 1; round <= rounds; round++) {
      for (const process of ground.composition.processes) {
        const { code, signal } = await process.kill("SIGTERM");
        if (code !== 0) badEnds.push(`${process.name} ended with ${code ?? signal}`);
        await process.start();
      }
      const { retries, failures } = ask;
      say(
        `round ${round} of ${rounds}: ${ledger.entries.length} messages, retries ${JSON.stringify(retries)}, ${failures.length} failures${failures.length === 0 ? "" : `, the last: ${failures.at(-1)}`}`,
      );
    }
    state.isOver = true;
    await load;
    say(`${ledger.open().length} messages wait for their answer`);
    await waitFor(() => ledger.open().length === 0, "every message to be answered", PATIENCE_MS).catch((error) =>
      say(error.message),
    );
    state.hasEnded = true;
    await Promise.all(drains);
    const bySync = ledger.entries.filter(({ answers }) => answers.some(({ by }) => by === "call")).length;
    return {
      figures: {
        "processes restarted": rounds * ground.composition.processes.length,
        messages: ledger.entries.length,
        "of them answered in their call": bySync,
        "requests in all": ask.count(),
        "retries after a refusal, a 503, the end of a kept connection": Object.values(ask.retries).join(", "),
        "lines of visitors opened again": visitors.reduce((sum, { breaks }) => sum + breaks, 0),
        "same reply by the repeated call and by cursor": ledger.entries.filter(wasAskedTwice).length,
      },
      breaches: [
        ...ask.failures,
        ...visitors.flatMap(({ failures }) => failures),
        ...badEnds,
        ...judge(ledger, { mayRepeat: wasAskedTwice }),
        ...(await readAnswers(ground, ledger)),
      ],
    };
  } finally {
    ledger.write(ledgerFile);
    for (const visitor of visitors) visitor.close();
    ask.close();
    await ground.stop();
  }
}

/**
 * Makes the function that asks a replica, and the next one after a clean refusal, until it has a 2xx: it answers status
 * and body, or null when the request has failed, which is noted in `failures`. `retries` counts the refusals: `refused`
 * and `unavailable` are told before the request is read, `closed` is a kept connection that ended before.
 */
function createAsker() {
  const agents = new Map();
  const retries = { refused: 0, unavailable: 0, closed: 0 };
  const failures = [];
  let count = 0;
  const agentOf = (url) => {
    if (!agents.has(url)) agents.set(url, new Agent({ keepAlive: true }));
    return agents.get(url);
  };
  async function ask(urls, turn, { name, onRetry = () => undefined, ...request }) {
    count++;
    for (let trial = 0; trial < MAX_TRIES; trial++) {
      if (trial > 0) onRetry();
      const url = urls[(turn + trial) % urls.length];
      const tried = await askOnce(url, agentOf(url), request);
      if (tried.status !== undefined) return tried;
      if (tried.retry === undefined) {
        failures.push(`${name}: ${tried.fault}`);
        return null;
      }
      retries[tried.retry]++;
      await pause(RETRY_MS);
    }
    failures.push(`${name} was not taken in ${MAX_TRIES} tries`);
    return null;
  }
  const close = () => {
    for (const agent of agents.values()) agent.destroy();
  };
  return Object.assign(ask, { retries, failures, count: () => count, close });
}

/** One try: its answer, or what kind of retry it calls for, or what has failed. */
function askOnce(url, agent, { path, method = "GET", headers, body }) {
  return new Promise((resolve) => {
    const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
    const options = { method, agent, headers: { ...headers, ...length }, timeout: ANSWER_WITHIN_MS };
    const sentAt = performance.now();
    const request = sendRequest(`${url}${path}`, options);
    request.on("response", (response) => {
      readAnswer(response).then(resolve, (error) => resolve({ fault: `the answer was cut (${error.message})` }));
    });
    request.on("timeout", () => request.destroy(new Error(`no answer in ${ANSWER_WITHIN_MS / 1_000} s`)));
    request.on("error", (error) => {
      // Without a connection nothing was sent; one that waited to be taken when the listener closed is reset.
      if (error.syscall === "connect") {
        resolve({ retry: "refused" });
        return;
      }
      // A connection that was kept from an earlier request may end in the moment of the next one.
      // Later it is a call that was cut while it waited.
      const age = Math.round(performance.now() - sentAt);
      const isEnded = request.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
      if (isEnded && age <= CLOSED_WITHIN_MS) resolve({ retry: "closed" });
      else
        resolve({ fault: `${error.message} after ${age} ms on a ${request.reusedSocket ? "kept" : "new"} connection` });
    });
    request.end(body);
  });
}

async function readAnswer(response) {
  const parts = [];
  for await (const part of response) parts.push(part);
  const text = Buffer.concat(parts).toString();
  const { statusCode: status, headers } = response;
  const isJson = headers["content-type"]?.includes("json") === true;
  if (status < 300) return { status, body: isJson ? JSON.parse(text) : text };
  return status === 503 && headers["retry-after"] !== undefined
    ? { retry: "unavailable" }
    : { fault: `${status} ${text.slice(0, 300)}` };
}
