// Visitors of the widget who write, read the reply, and write again.
import { randomUUID } from "node:crypto";
import { WebSocket } from "ws";
import { summarize } from "./load.ts";
import type { Load } from "./load.ts";

const frameOf = (type: string, data: unknown) => JSON.stringify({ v: 1, type, id: randomUUID(), data });

/** The connection of a visitor. */
interface Visitor {
  /** Sends a text; resolves to true when its reply arrives, to false if it is rejected or the connection ends. */
  ask(text: string): Promise<boolean>;
  close(): void;
}

/** Opens the connection of a visitor. Rejects if that fails. */
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

/** Limit of messages per connection: a visitor who has sent this many is replaced by another one. */
const MESSAGES_A_LINE = 80;

interface Conversations {
  urls: readonly string[];
  key: string;
  text: string;
  visitors: number;
}

/** Runs this many visitors for some seconds, each sending the next message after the reply to the last one. */
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
