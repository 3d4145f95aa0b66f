import type { ServerFrame, WidgetReplyItem } from "@svc/contracts";
import { isUnavailable } from "@svc/store";
import type { ChatEntry, ChatView, ProjectId, Store } from "@svc/store";
import { beginDelivery } from "@svc/channel-manager";
import type { Log } from "@svc/log";
import { makeFrame } from "./frames.ts";
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
  const position = { id: entry.id, seq: entry.seq };
  const createdAt = entry.createdAt.toISOString();
  if (entry.kind === "reply") {
    const { author, authorName, authorPicture, inReplyTo } = entry;
    const face = { ...(authorName && { authorName }), ...(authorPicture && { authorPicture }) };
    return makeFrame("reply", { items: [itemOf(entry)], author, ...face, inReplyTo, createdAt }, position);
  }
  const { id: messageId, clientMessageId, text, attachments } = entry;
  return makeFrame("message", { messageId, clientMessageId, text, attachments, createdAt }, position);
}

/** True when the reader of a session is so slow that it has to wait; remembers since when. */
function isSlow(session: Session): boolean {
  const isFull = session.line.waitingBytes() > MAX_WAITING_BYTES;
  session.slowSince = isFull ? (session.slowSince ?? performance.now()) : null;
  return isFull;
}

/** Responds to a pending hello: it settles from where everything is sent. */
function answerHello(session: Session, chatId: string, { lastSeq }: ChatView): void {
  if (session.helloSeq === null || !session.isReadPending) return;
  // A place that the chat does not have yet is one of another installation: nothing of this one must be passed over.
  session.sentSeq = Math.min(session.helloSeq, lastSeq);
  // Whoever names a place has what comes before it. Whoever wants news alone has not been sent that by anybody.
  session.confirmedSeq = session.helloSeq <= lastSeq ? 0 : lastSeq;
  session.unconfirmedSeq = session.helloSeq <= lastSeq ? session.helloSeq : 0;
  session.line.reachedSeq = Math.max(session.line.reachedSeq, session.unconfirmedSeq);
  session.helloSeq = null;
  session.line.send(makeFrame("ready", { chatId, lastSeq }));
}

/**
 * Sends one entry to a session that has not got it. False when it cannot take it: then nothing after it may be sent.
 */
function showEntry(session: Session, entry: ChatEntry): boolean {
  // One that has just said hello gets `ready` before anything else, by the next poll.
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
function showView(session: Session, { lastSeq, writer, pending, state, rating }: ChatView): void {
  // A visitor without all replies would be shown what comes after them, and one with more what was before.
  if (session.helloSeq !== null || session.sentSeq !== lastSeq || isSlow(session)) return;
  const { shown, line } = session;
  const typing = { on: pending !== null || writer !== null, ...(writer && { name: writer }) };
  if (typing.on !== shown.typing?.on || typing.name !== shown.typing.name) {
    shown.typing = typing;
    line.send(makeFrame("typing", typing));
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

/** The open lines of one conversation in this process. */
interface Room {
  project: ProjectId;
  ticketId: string;
  chatId: string;
  sessions: Set<Session>;
  /** The tick in which an idle chat is polled. */
  phase: number;
  /** Time until which it is polled with each tick, in milliseconds of the process's clock. */
  livelyUntil: number;
}

/** Maximum number of chats per statement. */
const READ_PAGE = 500;
/** Messages and replies that one statement reads. */
const ENTRY_PAGE = 50;
/** Maximum pages that one poll sends, so that a long history does not delay other chats. */
const MAX_PAGES = 4;
/** An idle chat is polled with each fifth tick. */
const IDLE_PHASES = 5;
const LIVELY_MS = 60_000;
/** A reader that takes nothing for so long is cut off; it comes again and is sent what it missed. */
const SLOW_MS = 15_000;

/** What chat rooms need. */
interface RoomsContext {
  store: Store;
  log: Log;
}

/** Sends the sessions of a room what they have not got. Returns true if the chat has more than was sent. */
async function showRoom(store: Store, room: Room, view: ChatView): Promise<boolean> {
  for (const session of room.sessions) answerHello(session, room.chatId, view);
  let hasMore = false;
  for (let page = 0; page < MAX_PAGES; page++) {
    const behind = [...room.sessions].filter(
      (session) => session.helloSeq === null && session.sentSeq < view.lastSeq && !isSlow(session),
    );
    if (behind.length === 0) break;
    const after = Math.min(...behind.map(({ sentSeq }) => sentSeq));
    const entries = await store.visitors.listAfter(room.project, room.ticketId, after, ENTRY_PAGE);
    // Only those that were asked for: a line that has become free meanwhile may lack what comes before these.
    const upToDate = behind.filter((session) => entries.every((entry) => showEntry(session, entry)));
    // What was said since the look belongs to another view, which is looked for next.
    hasMore = entries.length === ENTRY_PAGE || (entries.at(-1)?.seq ?? 0) > view.lastSeq;
    if (entries.length === ENTRY_PAGE) continue;
    // Places up to the end that had nothing are those of what was erased.
    for (const session of upToDate) session.sentSeq = Math.max(session.sentSeq, view.lastSeq);
    break;
  }
  const isBehind = [...room.sessions].some((session) => session.sentSeq < view.lastSeq);
  if (isBehind || view.pending !== null || view.writer !== null) room.livelyUntil = performance.now() + LIVELY_MS;
  for (const session of room.sessions) showView(session, view);
  return hasMore;
}

/**
 * Records the replies that a session has received, once its reader has proved it: what is written to a half-open
 * connection reaches nobody, and is sent by email.
 */
function confirmDelivery({ store, log }: RoomsContext, session: Session, { project, ticketId }: Room): void {
  const { line, unconfirmedSeq } = session;
  if (unconfirmedSeq === 0 || line.waitingBytes() > 0) return;
  if (line.reachedSeq < unconfirmedSeq) {
    line.probe(unconfirmedSeq);
    return;
  }
  const positions = { after: session.confirmedSeq, upTo: session.unconfirmedSeq };
  session.confirmedSeq = session.unconfirmedSeq;
  session.unconfirmedSeq = 0;
  // Not noted, it says nothing wrong: the visitor is sent by its own place in the chat.
  store.visitors
    .confirm(project, ticketId, positions)
    .then((replies) => beginDelivery(store, project, replies, { way: "socket" }).end(true))
    .catch((error: unknown) => {
      log.debug({ error, ticketId }, "failed to record that replies were delivered");
    });
}

/** Returns the function that shows all dirty rooms what is new, as long as there are any. Runs once at a time. */
function createPump({ store, log }: RoomsContext, rooms: ReadonlyMap<string, Room>, dirty: Set<Room>) {
  let isPumping = false;

  return async function pump(): Promise<void> {
    if (isPumping) return;
    isPumping = true;
    try {
      while (dirty.size > 0) {
        const batch = [...dirty].slice(0, READ_PAGE);
        for (const room of batch) {
          dirty.delete(room);
          for (const session of room.sessions) session.isReadPending = true;
        }
        const views = await store.visitors.readChatViews(batch);
        await Promise.all(
          batch.map(async (room, index) => {
            const view = views[index];
            const hasMore = view !== undefined && (await showRoom(store, room, view));
            if (hasMore && rooms.get(room.ticketId) === room) dirty.add(room);
          }),
        );
      }
    } catch (error) {
      // The next tick polls again.
      if (isUnavailable(error)) log.debug({ error }, "database unavailable; updates of sockets are delayed");
      else log.error({ error }, "failed to update sockets; retrying");
      for (const room of rooms.values()) room.livelyUntil = performance.now() + LIVELY_MS;
    } finally {
      isPumping = false;
    }
  };
}

/**
 * Where the lines of visitors wait for news in this process. It knows no reply: whatever happens, it looks into the
 * store, which is the truth, and sends each line what comes after the place up to which it has everything. So a line
 * gets everything once and in order, whichever replica it is on and whatever wake-up was lost. One statement looks for
 * many chats, and there is no timer for a line.
 */
export function createChatRooms(context: RoomsContext) {
  const rooms = new Map<string, Room>();
  const dirty = new Set<Room>();
  let tickNumber = 0;
  let isClosed = false;
  const pump = createPump(context, rooms, dirty);

  function check(room: Room): void {
    dirty.add(room);
    void pump();
  }

  return {
    /**
     * Takes a session that has said hello into its conversation: it gets `ready` and what it missed, then what is
     * new. Again after a further hello.
     */
    join(session: Session): void {
      const { visitor } = session;
      if (visitor === null || isClosed) return;
      const { project, ticketId, chatId } = visitor;
      const fresh = { project, ticketId, chatId, sessions: new Set<Session>(), livelyUntil: 0 };
      const room = rooms.get(ticketId) ?? { ...fresh, phase: rooms.size % IDLE_PHASES };
      rooms.set(ticketId, room);
      room.sessions.add(session);
      room.livelyUntil = performance.now() + LIVELY_MS;
      check(room);
    },

    leave(session: Session): void {
      const ticketId = session.visitor?.ticketId;
      const room = ticketId === undefined ? undefined : rooms.get(ticketId);
      if (ticketId === undefined || room === undefined) return;
      room.sessions.delete(session);
      if (room.sessions.size > 0) return;
      rooms.delete(ticketId);
      dirty.delete(room);
    },

    /** Looks into those of the conversations that have lines here. */
    wake(ticketIds: readonly string[]): void {
      for (const ticketId of ticketIds) {
        const room = rooms.get(ticketId);
        if (room === undefined) continue;
        room.livelyUntil = performance.now() + LIVELY_MS;
        check(room);
      }
    },

    /** To be called once a second: wake-ups may be lost. */
    tick(): void {
      tickNumber++;
      const now = performance.now();
      for (const room of rooms.values()) {
        if (now < room.livelyUntil || tickNumber % IDLE_PHASES === room.phase) dirty.add(room);
        for (const session of room.sessions) {
          confirmDelivery(context, session, room);
          if (isSlow(session) && now - (session.slowSince ?? now) > SLOW_MS) session.line.end("slow");
        }
      }
      void pump();
    },

    /** Looks no more. */
    close(): void {
      isClosed = true;
      rooms.clear();
      dirty.clear();
    },
  };
}

export type ChatRooms = ReturnType<typeof createChatRooms>;
