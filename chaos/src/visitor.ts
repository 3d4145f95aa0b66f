// A visitor of the widget: one line, opened again when it breaks, with each message sent until it is acknowledged.
import { randomUUID } from "node:crypto";
import { WebSocket } from "ws";
import { WIDGET_KEY, pause } from "./ground.ts";

const RETRY_MS = 100;
/** A message without an acknowledgement is sent again after so long. */
const ACK_WITHIN_MS = 2_000;

/**
 * Opens the line of a visitor, who has an address of its own. Every reply that it shows is noted in the ledger, and every
 * message that the widget rejects for good in `failures`.
 */
export function startVisitor({ ledger, ground, visitorId = randomUUID(), replica = 0 }) {
  const { widgetUrls } = ground.composition;
  let lastSeq = 0;
  let socket = null;
  let isClosed = false;
  let turn = replica;
  let isReady = false;
  let breaks = 0;
  const acks = new Map();
  const failures = [];

  function take(frame) {
    if (frame.type === "ready") isReady = true;
    if (frame.type === "ack") acks.get(frame.data.clientMessageId)?.(frame.data);
    if (frame.type === "error" && frame.data.code === "rate_limited")
      acks.get(frame.data.clientMessageId)?.(frame.data);
    // The place that an `ack` tells is that of one's own message: replies before it may still be to come.
    if (frame.type === "reply" || frame.type === "message") lastSeq = Math.max(lastSeq, frame.seq);
    if (frame.type === "reply")
      ledger.show({ messageId: frame.data.inReplyTo, replyId: frame.id, seq: frame.seq, by: "socket" });
  }

  function open() {
    if (isClosed) return;
    const url = widgetUrls[turn % widgetUrls.length].replace("http", "ws");
    turn++;
    isReady = false;
    const line = new WebSocket(`${url}/api/widget/ws?apiKey=${WIDGET_KEY}`, {
      perMessageDeflate: false,
      headers: { "X-Forwarded-For": `203.0.113.${replica + 1}` },
    });
    socket = line;
    line.on("open", () => {
      line.send(JSON.stringify({ v: 1, type: "hello", id: randomUUID(), data: { visitorId, sinceSeq: lastSeq } }));
    });
    line.on("message", (data) => {
      if (line === socket) take(JSON.parse(data.toString("utf8")));
    });
    // Its close follows.
    line.on("error", () => undefined);
    line.on("close", () => {
      if (isClosed) return;
      breaks++;
      isReady = false;
      setTimeout(open, RETRY_MS);
    });
  }
  open();

  /** Null once the line that is open now is no more, or after so long. */
  async function untilBroken(waitMs) {
    const line = socket;
    const until = performance.now() + waitMs;
    const isWhole = () => line === socket && line.readyState <= 1;
    // At least one pause: a line that is gone is opened again only when others get their turn.
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
    async send(place) {
      const id = randomUUID();
      const entry = ledger.send({ id, channel: "widget", chat: visitorId, place, mode: null });
      const acknowledged = new Promise((resolve) => acks.set(id, resolve));
      for (;;) {
        if (isReady && socket.readyState === 1) {
          const data = { text: `message ${place}`, clientMessageId: id };
          socket.send(JSON.stringify({ v: 1, type: "message", id: randomUUID(), data }));
        }
        const ackOrBreak = [acknowledged, untilBroken(isReady ? ACK_WITHIN_MS : RETRY_MS)];
        const ack = await Promise.race(ackOrBreak);
        if (ack === null) continue;
        acks.delete(id);
        if (ack.code === undefined) ledger.acknowledge(entry, ack.messageId);
        else failures.push(`message ${place} of ${visitorId}: ${ack.detail}`);
        return entry;
      }
    },
    close() {
      isClosed = true;
      socket?.close();
    },
  };
}
