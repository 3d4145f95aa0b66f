import { ServiceError } from "@svc/contracts";
import { makeFrame, readFrame } from "./frames.ts";
import { handleFrame, isServiceFailure, sayHello, sendError } from "./handle-frame.ts";
import type { FrameContext } from "./handle-frame.ts";
import type { Session } from "./session.ts";

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
