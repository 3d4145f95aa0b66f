import { ERRORS, ServiceError } from "@svc/contracts";
import type { VisitorFrameData, VisitorFrameType } from "@svc/contracts";
import { announceVisitorTyping } from "@svc/queue";
import { count } from "@svc/telemetry";
import { countText, countUse, limitExceeded } from "../count-use.ts";
import { findVisitor } from "../find-visitor.ts";
import type { Visitor } from "../find-visitor.ts";
import { receiveMessage } from "../receive-message.ts";
import type { WidgetContext, WidgetSite } from "../widget-context.ts";
import type { ChatRooms } from "./chat-rooms.ts";
import { makeFrame, readFrame } from "./connection.ts";
import type { VisitorFrame } from "./connection.ts";
import type { Session } from "./session.ts";

/** Dependencies of the frame handlers. */
export interface FrameContext extends WidgetContext {
  rooms: ChatRooms;
}

/** Data of a hello, and the sequence number after which it requests missed entries; Infinity for none. */
type Hello = VisitorFrameData<"hello">;

/**
 * Handles a hello of a session: from now on it is sent what follows `sinceSeq`. A session belongs to one visitor:
 * another one is rejected. Throws invalid_request and invalid_identity; the connection is not changed then.
 */
export async function sayHello(context: FrameContext, session: Session, hello: Hello): Promise<void> {
  const site = await context.readSite();
  // The connection may have closed while the settings were read: it would join a conversation that it never leaves.
  if (!session.line.isOpen()) return;
  if (hello.visitorId === undefined && session.visitor === null) {
    throw new ServiceError("invalid_request", "Send a visitorId in the first hello: a random UUID (version 4).");
  }
  if (hello.visitorId !== undefined) {
    const { visitorId, conversation } = hello;
    const visitor = findVisitor(site, { visitorId, conversation }, hello);
    if (session.visitor !== null && session.visitor.ticketId !== visitor.ticketId) {
      throw new ServiceError("invalid_request", "This socket belongs to another conversation. Open a new one.");
    }
    session.visitor = visitor;
  }
  session.helloSeq = hello.sinceSeq;
  session.isReadPending = false;
  session.own.clear();
  session.shown = { ...session.shown, status: null, partial: null };
  context.rooms.join(session);
}

/** Counts a visitor's message, by address and key. Throws rate_limited. */
async function countMessage(
  { queues }: FrameContext,
  { admission: { address, key } }: Session,
  { settings }: WidgetSite,
): Promise<void> {
  const counted = await countUse(queues.counters, "messages", { address, key, settings });
  if (counted.isOver) throw limitExceeded("messages", counted);
}

/** Further typing frames of one session within this time are not announced. */
const TYPING_EVERY_MS = 2_000;

type Handlers = {
  [Type in Exclude<VisitorFrameType, "hello">]: (
    context: FrameContext,
    session: Session,
    visitor: Visitor,
    data: VisitorFrameData<Type>,
  ) => Promise<void>;
};

const HANDLERS: Handlers = {
  async message(context, session, visitor, message) {
    const site = await context.readSite();
    await countMessage(context, session, site);
    await countText(context.queues.counters, session.admission, message.text);
    const { clientMessageId } = message;
    // Before the commit: after it, a poll may find the message.
    session.own.add(clientMessageId);
    try {
      const { messageId, seq } = await receiveMessage(context, { site, visitor, trace: null }, message);
      if (seq <= session.sentSeq) session.own.delete(clientMessageId);
      session.line.send(makeFrame("ack", { clientMessageId, messageId, seq }, { seq }));
    } catch (error) {
      session.own.delete(clientMessageId);
      throw error;
    }
  },

  // Operators who view the conversation see it; the indicator expires without further frames.
  typing({ queues }, session, { ticketId }, { on }) {
    const now = performance.now();
    if (on && now >= session.typingSentUntil) {
      session.typingSentUntil = now + TYPING_EVERY_MS;
      announceVisitorTyping(queues, ticketId);
    }
    return Promise.resolve();
  },

  read: ({ store }, _session, { project, ticketId }, { seq }) => store.visitors.recordRead(project, ticketId, seq),

  async rate(context, session, { project, ticketId }, { score, comment }) {
    const site = await context.readSite();
    if (!site.settings.features.rating)
      throw new ServiceError("invalid_request", "Ratings are turned off on this website.");
    // A different rating adds an event: ratings share the limit of messages.
    await countMessage(context, session, site);
    const rated = await context.store.visitors.rate(project, ticketId, { score, comment: comment ?? null });
    if (rated === null) throw new ServiceError("not_found", "There is nothing to rate yet. Send a message first.");
    // Not counted again for the comment that follows a score.
    if (rated.hasNewScore) count("svc_ratings_total", { score: String(score) });
    context.tell([ticketId]);
  },
};

async function act(context: FrameContext, session: Session, { type, data }: VisitorFrame): Promise<void> {
  if (type === "hello") {
    await sayHello(context, session, data);
    return;
  }
  if (session.visitor === null) {
    throw new ServiceError("invalid_request", "Send a hello frame with the visitorId first.");
  }
  await HANDLERS[type](context, session, session.visitor, data as never);
}

/** Returns true for an error that its sender has not caused. */
const isServiceFailure = (error: unknown) => !(error instanceof ServiceError) || ERRORS[error.code].status >= 500;

/** Sends an error to a connection, without internal details. */
function sendError(
  { log }: Pick<WidgetContext, "log">,
  session: Session,
  error: unknown,
  clientMessageId: string | null,
): void {
  const isKnown = error instanceof ServiceError;
  if (!isKnown) log.error({ error, ticketId: session.visitor?.ticketId }, "failed to process a visitor's frame");
  const seconds = isKnown ? Number(error.headers["Retry-After"]) : Number.NaN;
  const isWorthRepeating =
    Number.isInteger(seconds) || !isKnown || (ERRORS[error.code].status >= 500 && error.code !== "storage_full");
  session.line.send(
    makeFrame("error", {
      code: isKnown ? error.code : "internal",
      detail: isKnown ? error.message : "The service failed to process this frame. Try again.",
      clientMessageId,
      ...(isWorthRepeating ? { retryAfterSeconds: Number.isInteger(seconds) ? seconds : 5 } : {}),
    }),
  );
}

/** Handles a frame; its sender is notified of errors. Never rejects. */
async function handleFrame(context: FrameContext, session: Session, frame: VisitorFrame): Promise<void> {
  try {
    await act(context, session, frame);
  } catch (error) {
    sendError(context, session, error, frame.type === "message" ? frame.data.clientMessageId : null);
    // A client whose hello failed because of an internal error would wait forever: it has to reconnect.
    if (frame.type === "hello" && isServiceFailure(error)) session.line.end("restart");
  }
}

/** Frames of one connection in a window: above the first number they are rejected, above the second it is closed. */
const FRAME_WINDOW_MS = 5_000;
const FRAMES_REJECTED = 100;
const FRAMES_CLOSED = 400;
/** Maximum frames of one connection that wait for the previous one. */
const WAITING_FRAMES = 50;

/** Counts a frame; returns false if there are too many. */
function countFrame(session: Session): boolean {
  const now = performance.now();
  if (now >= session.windowEndsAt) {
    session.windowEndsAt = now + FRAME_WINDOW_MS;
    session.frames = 0;
  }
  session.frames++;
  if (session.frames > FRAMES_CLOSED) session.line.end("rate");
  return session.frames <= FRAMES_REJECTED && session.waitingFrames < WAITING_FRAMES;
}

function enqueue(session: Session, work: () => Promise<void>): void {
  session.waitingFrames++;
  session.work = session.work.then(work).finally(() => {
    session.waitingFrames--;
  });
}

/** Handles a frame of a connection after its previous frames. */
export function enqueueFrame(context: FrameContext, session: Session, sent: unknown): void {
  if (!session.line.isOpen()) return;
  const isInTime = countFrame(session);
  const read = readFrame(sent);
  if ("error" in read) {
    session.line.send(makeFrame("error", read.error));
  } else if (isInTime) {
    enqueue(session, () => handleFrame(context, session, read.frame));
  } else {
    const error = new ServiceError("rate_limited", "Too many frames at once; this one was rejected.", {
      headers: { "Retry-After": String(FRAME_WINDOW_MS / 1_000) },
    });
    const { frame } = read;
    sendError(context, session, error, frame.type === "message" ? frame.data.clientMessageId : null);
  }
}

/** Handles the hello in the auth payload of socket.io. */
export function greet(context: FrameContext, session: Session, hello: unknown): void {
  const read = readFrame({ type: "hello", data: hello });
  if ("error" in read) session.line.send(makeFrame("error", read.error));
  else enqueue(session, () => handleFrame(context, session, read.frame));
}

/** Handles the visitor in the URL of a connection: it gets new entries, until it sends a hello itself. */
export function greetByAddress(context: FrameContext, session: Session, visitorId: string): void {
  const read = readFrame({ type: "hello", data: { visitorId } });
  if ("error" in read) {
    session.line.send(makeFrame("error", read.error));
    return;
  }
  if (read.frame.type !== "hello") return;
  const hello = { ...read.frame.data, sinceSeq: Number.POSITIVE_INFINITY };
  enqueue(session, () =>
    sayHello(context, session, hello).catch((error: unknown) => {
      sendError(context, session, error, null);
      if (isServiceFailure(error)) session.line.end("restart");
    }),
  );
}
