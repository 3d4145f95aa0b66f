import type { ServerFrame, WidgetReplyItem } from "@svc/contracts";
import type { ChatEntry, ChatView } from "@svc/store";
import { makeFrame } from "./make-frame.ts";
import type { Session } from "./session.ts";

/** While so much lies unsent for a reader, nothing more is added: it is sent what it missed when it has read. */
const MAX_WAITING_BYTES = 256 * 1024;

function itemOf({ item }: Extract<ChatEntry, { kind: "reply" }>): WidgetReplyItem {
  if (item.type === "attachment") return item;
  const { sources, ...message } = item;
  return sources.length === 0 ? message : { ...message, sources };
}

/** What was said, as a frame. */
function frameOf(entry: ChatEntry): ServerFrame {
  const place = { id: entry.id, seq: entry.seq };
  const createdAt = entry.createdAt.toISOString();
  if (entry.kind === "reply") {
    const { author, inReplyTo } = entry;
    return makeFrame("reply", { items: [itemOf(entry)], author, inReplyTo, createdAt }, place);
  }
  const { id: messageId, clientMessageId, text, attachments } = entry;
  return makeFrame("message", { messageId, clientMessageId, text, attachments, createdAt }, place);
}

/** True when the reader of a session is so slow that it has to wait; remembers since when. */
export function isSlow(session: Session): boolean {
  const isFull = session.line.waitingBytes() > MAX_WAITING_BYTES;
  session.slowSince = isFull ? (session.slowSince ?? performance.now()) : null;
  return isFull;
}

/** Answers a hello that waits: from where everything is sent is settled by it. */
export function answerHello(session: Session, chatId: string, { lastSeq }: ChatView): void {
  if (session.helloSeq === null || !session.isLookedFor) return;
  // A place that the chat does not have yet is one of another installation: nothing of this one must be passed over.
  session.sentSeq = Math.min(session.helloSeq, lastSeq);
  // Whoever names a place has what comes before it. Whoever wants news alone has not been sent that by anybody.
  session.confirmedSeq = session.helloSeq <= lastSeq ? 0 : lastSeq;
  session.unconfirmedSeq = 0;
  session.helloSeq = null;
  session.line.send(makeFrame("ready", { chatId, lastSeq }));
}

/** Sends one entry to a session that has not got it. False when it cannot take it: then nothing after it may be sent. */
export function showEntry(session: Session, entry: ChatEntry): boolean {
  // One that has just said hello is told `ready` before anything else, by the next look.
  if (session.helloSeq !== null) return false;
  if (session.sentSeq >= entry.seq) return true;
  if (isSlow(session)) return false;
  session.sentSeq = entry.seq;
  if (entry.kind === "message" && entry.clientMessageId !== null && session.own.delete(entry.clientMessageId)) {
    return true;
  }
  session.line.send(frameOf(entry));
  if (entry.kind === "reply") session.unconfirmedSeq = entry.seq;
  return true;
}

/** Sends what is new beside messages and replies: the status, whether a reply is pending, and what it says so far. */
export function showView(session: Session, { lastSeq, pending, state, rating }: ChatView): void {
  // Whoever has not all replies yet would be shown what comes after them, and whoever has more what was before.
  if (session.helloSeq !== null || session.sentSeq !== lastSeq || isSlow(session)) return;
  const { shown, line } = session;
  const isTyping = pending !== null;
  if (isTyping !== shown.isTyping) {
    shown.isTyping = isTyping;
    line.send(makeFrame("typing", { on: isTyping }));
  }
  if (pending === null || pending.text === null) {
    shown.partial = null;
  } else {
    const { messageId, text } = pending;
    const before = shown.partial?.messageId === messageId ? shown.partial.text : "";
    if (text !== before) {
      const offset = text.startsWith(before) ? before.length : 0;
      line.send(makeFrame("delta", { messageId, offset, text: text.slice(offset) }));
    }
    shown.partial = { messageId, text };
  }
  const status = `${state}/${rating ?? ""}`;
  if (status !== shown.status) {
    shown.status = status;
    line.send(makeFrame("status", { state, rating }));
  }
}
