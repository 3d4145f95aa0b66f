// Visitors of the widget who write, read the reply, and write again.
import { randomUUID } from "node:crypto";
import { WebSocket } from "ws";
import { percentile } from "./load.ts";

const frameOf = (type, data) => JSON.stringify({ v: 1, type, id: randomUUID(), data });

/**
 * Opens the line of one visitor; `ask` sends a text and answers true once its reply is there, false when it was refused or
 * the line has ended. Rejects when there is no line.
 */
function openVisitor(WebSocket, url, key) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/api/widget/ws?apiKey=${key}`, {
      perMessageDeflate: false,
    });
    let settle = () => {};
    socket.once("error", reject);
    socket.once("open", () => socket.send(frameOf("hello", { visitorId: randomUUID(), sinceSeq: 0 })));
    socket.once("close", (code) => {
      reject(new Error(`the line of a visitor has ended with ${code}`));
      settle(false);
    });
    socket.on("message", (data) => {
      const frame = JSON.parse(data.toString("utf8"));
      if (frame.type === "ready") {
        resolve({
          ask(text) {
            const answered = new Promise((done) => (settle = done));
            socket.send(frameOf("message", { text, clientMessageId: randomUUID() }));
            return answered;
          },
          close: () => socket.terminate(),
        });
      }
      if (frame.type === "reply") settle(true);
      if (frame.type === "error") {
        reject(new Error(`a visitor was refused: ${JSON.stringify(frame.data)}`));
        settle(false);
      }
    });
  });
}

/** A line takes no more frames than this at once: whoever has written so much goes on as another visitor. */
const MESSAGES_A_LINE = 80;

/**
 * So many visitors write for some seconds, each the next message once the reply to the last one is there. Answers what
 * `load` does, a message with its reply in the place of a request.
 */
export async function runConversations({ urls, key, text, visitors, seconds }) {
  const open = (number) => openVisitor(WebSocket, urls[number % urls.length], key);
  const all = await Promise.all(Array.from({ length: visitors }, (_, number) => open(number)));
  const times = [];
  let refused = 0;
  const startedAt = performance.now();
  const until = startedAt + seconds * 1_000;
  await Promise.all(
    all.map(async (_, number) => {
      for (let asked = 1; performance.now() < until; asked++) {
        const sentAt = performance.now();
        if (await all[number].ask(text)) times.push(performance.now() - sentAt);
        else refused++;
        if (asked % MESSAGES_A_LINE > 0) continue;
        all[number].close();
        all[number] = await open(number);
      }
    }),
  );
  const took = (performance.now() - startedAt) / 1_000;
  for (const visitor of all) visitor.close();
  const sorted = Float64Array.from(times).sort();
  return {
    requests: times.length,
    perSecond: times.length / took,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    bad: { refused },
  };
}
