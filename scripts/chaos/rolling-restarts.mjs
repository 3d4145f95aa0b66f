// Every process of every app is ended and started again, one after the other, while a steady load goes on.
import { randomUUID } from "node:crypto";
import { Agent, request as sendRequest } from "node:http";
import { collect } from "./customer.mjs";
import { pause, startGround, waitFor } from "./ground.mjs";
import { createLedger, judge } from "./ledger.mjs";
import { readAnswers } from "./read-answers.mjs";
import { startVisitor } from "./visitor.mjs";

const CHATS = 40;
const VISITORS = 10;
const APPS = ["widget", "messenger", "tool-server", "console"];
const RETRY_MS = 50;
/** What of the load comes from visitors. */
const VISITORS_SHARE = 0.2;
/** A call that is not taken in so many tries has failed. */
const MAX_TRIES = 40;

export async function restartAll({ rounds, perSecond, say, ledgerFile }) {
  const ground = await startGround({ apps: APPS });
  const ledger = createLedger();
  const visitors = Array.from({ length: VISITORS }, (_, replica) => startVisitor({ ledger, ground, replica }));
  const agents = ground.composition.apiUrls.map(() => new Agent({ keepAlive: true }));
  /** Of tries: refused and 503 are told before the request is read, closed is a kept connection that ended before. */
  const retries = { refused: 0, unavailable: 0, closed: 0 };
  const failures = [];
  try {
    const state = { isOver: false, hasEnded: false };
    const chats = Array.from({ length: CHATS }, (_, index) => `chat-${index}`);
    const drains = chats.map((chat, replica) =>
      collect({ ledger, ground, chat, isOver: () => state.hasEnded, replica }),
    );

    const sendOne = async (chat, place, turn) => {
      const entry = ledger.send({ id: randomUUID(), channel: "api", chat, place, mode: "async" });
      for (let trial = 0; trial < MAX_TRIES; trial++) {
        const index = (turn + trial) % agents.length;
        const tried = await post(ground, ground.composition.apiUrls[index], agents[index], entry);
        if (tried.status === 202) {
          ledger.acknowledge(entry, tried.body.messageId);
          return;
        }
        if (tried.retry === undefined) {
          failures.push(`message ${entry.id}: ${tried.fault}`);
          return;
        }
        retries[tried.retry]++;
        await pause(RETRY_MS);
      }
      failures.push(`message ${entry.id} was not taken in ${MAX_TRIES} tries`);
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
        last[index] = last[index].then(() => senders[index](place, count));
      }
      await Promise.all(last);
    };
    const load = Promise.all([
      beat(
        chats.map((chat) => (place, turn) => sendOne(chat, place, turn)),
        perSecond * (1 - VISITORS_SHARE),
      ),
      beat(
        visitors.map((visitor) => (place) => visitor.send(place)),
        perSecond * VISITORS_SHARE,
      ),
    ]);

    const badEnds = [];
    for (let round = 1; round <= rounds; round++) {
      for (const process of ground.composition.processes) {
        const { code, signal } = await process.kill("SIGTERM");
        if (code !== 0) badEnds.push(`${process.name} ended with ${code ?? signal}`);
        await process.start();
      }
      say(
        `round ${round} of ${rounds}: ${ledger.entries.length} messages, retries ${JSON.stringify(retries)}, ${failures.length} failures`,
      );
    }
    state.isOver = true;
    await load;
    await waitFor(() => ledger.open().length === 0, "every message to be answered").catch((error) =>
      say(error.message),
    );
    state.hasEnded = true;
    await Promise.all(drains);
    return {
      figures: {
        "processes restarted": rounds * ground.composition.processes.length,
        messages: ledger.entries.length,
        "retries after a refusal, a 503, the end of a kept connection": Object.values(retries).join(", "),
        "lines of visitors opened again": visitors.reduce((sum, { breaks }) => sum + breaks, 0),
      },
      breaches: [...failures, ...badEnds, ...judge(ledger), ...(await readAnswers(ground, ledger))],
    };
  } finally {
    ledger.write(ledgerFile);
    for (const visitor of visitors) visitor.close();
    for (const agent of agents) agent.destroy();
    await ground.stop();
  }
}

/** One try: its answer, or what kind of retry it calls for, or what has failed. */
function post({ key }, url, agent, { id, chat, place }) {
  const body = JSON.stringify({ text: `message ${place} of ${chat}`, chatId: chat, mode: "async" });
  return new Promise((resolve) => {
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      "idempotency-key": id,
    };
    const request = sendRequest(`${url}/api/v1/messages`, { method: "POST", agent, headers, timeout: 30_000 });
    request.on("response", (response) => {
      readAnswer(response).then(resolve, (error) => resolve({ fault: `the answer was cut (${error.message})` }));
    });
    request.on("timeout", () => request.destroy(new Error("no answer in 30 s")));
    request.on("error", (error) => {
      // Without a connection nothing was sent; one that waited to be taken when the listener closed is reset.
      if (error.syscall === "connect") resolve({ retry: "refused" });
      // A connection that was kept from an earlier request may end in the moment of the next one.
      else if (request.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE"))
        resolve({ retry: "closed" });
      else resolve({ fault: error.message });
    });
    request.end(body);
  });
}

async function readAnswer(response) {
  const parts = [];
  for await (const part of response) parts.push(part);
  const text = Buffer.concat(parts).toString();
  if (response.statusCode === 202) return { status: 202, body: JSON.parse(text) };
  const isRefusal = response.statusCode === 503 && response.headers["retry-after"] !== undefined;
  return isRefusal ? { retry: "unavailable" } : { fault: `${response.statusCode} ${text}` };
}
