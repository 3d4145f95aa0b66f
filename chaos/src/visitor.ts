// A visitor of the widget: one connection, reopened when it drops, with each message sent until it is acknowledged.
import { randomUUID } from "node:crypto";
import { WebSocket } from "ws";
import { WIDGET_KEY, pause } from "./ground.ts";
import type { Entry } from "./ledger.ts";
import type { Chaos } from "./ground.ts";

const RETRY_MS = 100;
/** A message without an acknowledgement is sent again after this time. */
const ACK_WITHIN_MS = 2_000;

/** What is read of an acknowledgement or a rejection. */
interface Ack {
  clientMessageId: string;
  messageId: string;
  code?: string;
  detail?: string;
}

/** What is read of a frame of the widget. */
type Frame =
  | { type: "ready" }
  | { type: "ack" | "error"; data: Ack }
  | { type: "message"; seq: number }
  | { type: "reply"; id: string; seq: number; data: { inReplyTo: string } };

/** A visitor of the widget. */
export type Visitor = ReturnType<typeof startVisitor>;

/**
 * Opens the connection of a visitor with its own address. Every displayed reply is recorded in the ledger, and every
 * permanently rejected message in `failures`.
 */
// oxlint-disable-next-line max-lines-per-function -- The functions of one line share its state.
function startVisitor({ ledger, ground }: Pick<Chaos, "ground" | "ledger">, replica: number) {
  const visitorId: string = randomUUID();
  const { widgetUrls } = ground.composition;
  const acks = new Map<string, (ack: Ack) => void>();
  const failures: string[] = [];
  let [lastSeq, turn, breaks] = [0, replica, 0];
  let [isClosed, isReady] = [false, false];
  let socket = open();

  function take(frame: Frame) {
    if (frame.type === "ready") isReady = true;
    if (frame.type === "ack" || (frame.type === "error" && frame.data.code === "rate_limited"))
      acks.get(frame.data.clientMessageId)?.(frame.data);
    // The `seq` of an `ack` is that of the visitor's own message: earlier replies may still be pending.
    if (frame.type === "reply" || frame.type === "message") lastSeq = Math.max(lastSeq, frame.seq);
    if (frame.type === "reply")
      ledger.show({ messageId: frame.data.inReplyTo, replyId: frame.id, seq: frame.seq, by: "socket" });
  }

  function open(): WebSocket {
    const url = (widgetUrls[turn % widgetUrls.length] ?? "").replace("http", "ws");
    turn++;
    isReady = false;
    const line = new WebSocket(`${url}/api/widget/ws?apiKey=${WIDGET_KEY}`, {
      perMessageDeflate: false,
      headers: { "X-Forwarded-For": `203.0.113.${replica + 1}` },
    });
    line.on("open", () => {
      line.send(JSON.stringify({ v: 1, type: "hello", id: randomUUID(), data: { visitorId, sinceSeq: lastSeq } }));
    });
    line.on("message", (data: Buffer) => {
      if (line === socket) take(JSON.parse(data.toString("utf8")) as Frame);
    });
    // Its close follows.
    line.on("error", () => undefined);
    line.on("close", () => {
      if (isClosed) return;
      breaks++;
      isReady = false;
      setTimeout(() => {
        if (!isClosed) socket = open();
      }, RETRY_MS);
    });
    return line;
  }

  /** Resolves to null when the connection drops, or after this time. */
  async function untilBroken(waitMs: number): Promise<null> {
    const line = socket;
    const until = performance.now() + waitMs;
    const isWhole = () => line === socket && line.readyState <= WebSocket.OPEN;
    // At least one pause: the connection is reopened only after yielding.
    do await pause(RETRY_MS);
    while (performance.now() < until && isWhole());
    return null;
  }

  return {
    visitorId,
    failures,
    get breaks() {
      return breaks;
    },
    /** Sends a message until it is acknowledged, or rejected for good. */
    async send(position: number): Promise<Entry> {
      const id = randomUUID();
      const entry = ledger.send({ id, channel: "widget", chat: visitorId, place: position, mode: null });
      const acknowledged = new Promise<Ack>((resolve) => acks.set(id, resolve));
      for (;;) {
        if (isReady && socket.readyState === WebSocket.OPEN) {
          const data = { text: `message ${position}`, clientMessageId: id };
          socket.send(JSON.stringify({ v: 1, type: "message", id: randomUUID(), data }));
        }
        const ack = await Promise.race([acknowledged, untilBroken(isReady ? ACK_WITHIN_MS : RETRY_MS)]);
        if (ack === null) continue;
        acks.delete(id);
        if (ack.code === undefined) ledger.acknowledge(entry, ack.messageId);
        else failures.push(`message ${position} of ${visitorId}: ${ack.detail}`);
        return entry;
      }
    },
    close() {
      isClosed = true;
      socket.close();
    },
  };
}

/** Starts this many visitors and passes them on; their connections are closed at the end. */
export async function withVisitors<Result>(
  chaos: Chaos,
  count: number,
  work: (visitors: readonly Visitor[]) => Promise<Result>,
): Promise<Result> {
  const visitors = Array.from({ length: count }, (_, replica) => startVisitor(chaos, replica));
  try {
    return await work(visitors);
  } finally {
    for (const visitor of visitors) visitor.close();
  }
}
