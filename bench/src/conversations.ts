// Visitors of the widget who write, read the reply, and write again.
import { randomUUID } from "node:crypto";
import { WebSocket } from "ws";
import { summarize } from "./load.ts";
import type { Load } from "./load.ts";

const frameOf = (type: string, data: unknown) => JSON.stringify({ v: 1, type, id: randomUUID(), data });

/** The line of one visitor. */
interface Visitor {
  /** Sends a text; resolves to true once its reply is there, to false when it was refused or the line has ended. */
  ask(text: string): Promise<boolean>;
  close(): void;
}

/** Opens the line of one visitor. Rejects when there is no line. */
function openVisitor(url: string, key: string): Promise<Visitor> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/api/widget/ws?apiKey=${key}`, {
      perMessageDeflate: false,
    });
    let settle: (isAnswered: boolean) => void = () => {};
    socket.once("error", reject);
    socket.once("open", () => socket.send(frameOf("hello", { visitorId: randomUUID(), sinceSeq: 0 })));
    socket.once("close", (code) => {
      reject(new Error(`the line of a visitor has ended with ${code}`));
      settle(false);
    });
    socket.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString("utf8")) as { type: string; data: unknown };
      if (frame.type === "ready") {
        resolve({
          ask(text) {
            const answered = new Promise<boolean>((done) => (settle = done));
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

/** A line takes no more frames than this at once: a visitor who has written so much goes on as another one. */
const MESSAGES_A_LINE = 80;

interface Conversations {
  urls: readonly string[];
  key: string;
  text: string;
  visitors: number;
}

/** So many visitors write for some seconds, each the next message once the reply to the last one is there. */
export async function runConversations({ urls, key, text, visitors }: Conversations, seconds: number): Promise<Load> {
  const open = (number: number) => openVisitor(urls[number % urls.length] ?? "", key);
  const all = await Promise.all(Array.from({ length: visitors }, (_, number) => open(number)));
  const times: number[] = [];
  let refused = 0;
  const startedAt = performance.now();
  const until = startedAt + seconds * 1_000;
  await Promise.all(
    all.map(async (first, number) => {
      let visitor = first;
      for (let asked = 1; performance.now() < until; asked++) {
        const sentAt = performance.now();
        if (await visitor.ask(text)) times.push(performance.now() - sentAt);
        else refused++;
        if (asked % MESSAGES_A_LINE > 0) continue;
        visitor.close();
        visitor = await open(number);
      }
      all[number] = visitor;
    }),
  );
  const tookMs = performance.now() - startedAt;
  for (const visitor of all) visitor.close();
  return summarize(times, tookMs, { refused });
}
