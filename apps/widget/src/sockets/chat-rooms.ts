import type { ServerFrame, WidgetReplyItem } from "@svc/contracts";
import { isUnavailable } from "@svc/store";
import type { ChatEntry, ChatView, ProjectId, Store } from "@svc/store";
import { beginDelivery } from "@svc/channel-manager";
import type { Log } from "@svc/log";
import { makeFrame } from "./connection.ts";
import type { Session } from "./session.ts";

/** Above this many unsent bytes nothing more is sent to a client: it gets what it missed when it has read them. */
const MAX_WAITING_BYTES = 256 * 1024;

function itemOf({ item }: Extract<ChatEntry, { kind: "reply" }>): WidgetReplyItem {
  if (item.type === "attachment") return item;
  const { sources, ...message } = item;
  return sources.length === 0 ? message : { ...message, sources };
}

/** Returns an entry as a frame. */
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

/** Returns true if the client of a session reads too slowly to be sent more; records since when. */
function isSlow(session: Session): boolean {
  const isFull = session.line.waitingBytes() > MAX_WAITING_BYTES;
  session.slowSince = isFull ? (session.slowSince ?? performance.now()) : null;
  return isFull;
}

/** Responds to a pending hello: it determines the position from which entries are sent. */
function answerHello(session: Session, chatId: string, { lastSeq }: ChatView): void {
  if (session.helloSeq === null || !session.isReadPending) return;
  // A position beyond the end of the chat belongs to another installation: nothing of this one must be skipped.
  session.sentSeq = Math.min(session.helloSeq, lastSeq);
  // A client that reports a position has everything before it. A client that requests only new entries has not been
  // sent the earlier ones.
  session.confirmedSeq = session.helloSeq <= lastSeq ? 0 : lastSeq;
  session.unconfirmedSeq = session.helloSeq <= lastSeq ? session.helloSeq : 0;
  session.line.reachedSeq = Math.max(session.line.reachedSeq, session.unconfirmedSeq);
  session.helloSeq = null;
  session.line.send(makeFrame("ready", { chatId, lastSeq }));
}

/**
 * Sends one entry to a session that does not have it. Returns false if it cannot be sent now: then no later entry may
 * be sent.
 */
function showEntry(session: Session, entry: ChatEntry): boolean {
  // After a hello the client gets `ready` before anything else, with the next poll.
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

/** Sends changes other than messages and replies: the status, whether a reply is pending, and its unfinished text. */
function showView(session: Session, { lastSeq, writer, pending, state, rating }: ChatView): void {
  // To a client without all replies this would show a later state, and to one with newer replies an earlier one.
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
/** Maximum messages and replies that one statement reads. */
const ENTRY_PAGE = 50;
/** Maximum pages that one poll sends, so that a long history does not delay other chats. */
const MAX_PAGES = 4;
/** An idle chat is polled with each fifth tick. */
const IDLE_PHASES = 5;
const LIVELY_MS = 60_000;
/** A client that reads nothing for this long is disconnected; it reconnects and gets what it missed. */
const SLOW_MS = 15_000;

/** Dependencies of chat rooms. */
interface RoomsContext {
  store: Store;
  log: Log;
}

/** Sends missing entries to the sessions of a room. Returns true if the chat has more than was sent. */
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
    // Only the sessions that the entries were read for: another one that is ready now may lack earlier entries.
    const upToDate = behind.filter((session) => entries.every((entry) => showEntry(session, entry)));
    // Entries after the poll belong to another view, which is read next.
    hasMore = entries.length === ENTRY_PAGE || (entries.at(-1)?.seq ?? 0) > view.lastSeq;
    if (entries.length === ENTRY_PAGE) continue;
    // Sequence numbers without an entry belong to erased ones.
    for (const session of upToDate) session.sentSeq = Math.max(session.sentSeq, view.lastSeq);
    break;
  }
  const isBehind = [...room.sessions].some((session) => session.sentSeq < view.lastSeq);
  if (isBehind || view.pending !== null || view.writer !== null) room.livelyUntil = performance.now() + LIVELY_MS;
  for (const session of room.sessions) showView(session, view);
  return hasMore;
}

/**
 * Records the replies that a session has received, once its client has proved it: data written to a half-open
 * connection is lost, and the reply is sent by email.
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
  // If it is not recorded nothing is lost: the visitor is sent entries by its own position in the chat.
  store.visitors
    .confirm(project, ticketId, positions)
    .then((replies) => beginDelivery(store, project, replies, { way: "socket" }).end(true))
    .catch((error: unknown) => {
      log.debug({ error, ticketId }, "failed to record that replies were delivered");
    });
}

/** Returns the function that updates all dirty rooms, until there are none. Runs once at a time. */
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
 * Creates the rooms in which connections of visitors wait for updates in this process. They contain no replies: for
 * every event they read the store, which is authoritative, and send each connection what follows its position. So a
 * connection gets everything once and in order, whichever replica it is on and whatever wake-up was lost. One statement
 * polls many chats, and there is no timer per connection.
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
     * Adds a session to its conversation after a hello: it gets `ready` and missed entries, then new ones. Called again
     * after a further hello.
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

    /** Polls those of the conversations that have connections here. */
    wake(ticketIds: readonly string[]): void {
      for (const ticketId of ticketIds) {
        const room = rooms.get(ticketId);
        if (room === undefined) continue;
        room.livelyUntil = performance.now() + LIVELY_MS;
        check(room);
      }
    },

    /** Must be called once a second, because wake-ups may be lost. */
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

    /** Stops polling. */
    close(): void {
      isClosed = true;
      rooms.clear();
      dirty.clear();
    },
  };
}

export type ChatRooms = ReturnType<typeof createChatRooms>;
