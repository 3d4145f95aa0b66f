import { ServiceError, isOriginAllowed } from "@svc/contracts";
import { isStillKnown, isWidgetKey } from "../find-visitor.ts";
import type { WidgetContext } from "../widget-context.ts";
import type { ChatRooms } from "./chat-rooms.ts";
import type { Admission, Session } from "./session.ts";

/** Seconds after which a client may retry if all sockets are in use. */
const FULL_RETRY_SECONDS = 30;

/** The open connections of this process. */
export function createLiveSessions(
  { readSite, ceilings }: Pick<WidgetContext, "readSite" | "ceilings">,
  rooms: ChatRooms,
  helloMs: number,
) {
  const sessions = new Set<Session>();
  let isClosed = false;

  return {
    count: () => sessions.size,

    /** Throws rate_limited if another connection would exceed the limit of this process or of this address. */
    requireRoom({ address, key }: Admission): void {
      let ofAddress = 0;
      for (const { admission: other } of sessions) if (other.address === address && other.key === key) ofAddress++;
      const isFull = sessions.size >= ceilings.sockets;
      if (!isFull && ofAddress < ceilings.socketsPerAddress) return;
      throw new ServiceError(
        "rate_limited",
        isFull
          ? "This server has reached its limit of open sockets. Try again later."
          : `This IP address has ${ofAddress} open sockets, which is the limit. Close some of them.`,
        { headers: { "Retry-After": String(FULL_RETRY_SECONDS) } },
      );
    },

    add(session: Session): void {
      sessions.add(session);
      if (isClosed) session.line.end("restart");
    },

    remove(session: Session): void {
      sessions.delete(session);
      rooms.leave(session);
    },

    /** Closes connections that the settings no longer allow, and those that have not identified the visitor. */
    async check(): Promise<void> {
      if (sessions.size === 0) return;
      const site = await readSite();
      const { settings } = site;
      const now = performance.now();
      for (const session of sessions) {
        const { admission, visitor, line } = session;
        if (!isWidgetKey(settings, admission.key)) line.end("badKey");
        else if (!isOriginAllowed(admission.origin, settings.allowedOrigins)) line.end("origin");
        else if (visitor !== null && !isStillKnown(visitor, site)) line.end("restart");
        else if (visitor === null && now - session.openedAt > helloMs) line.end("silent");
      }
    },

    /** Closes all connections, so that clients connect to another replica; waits at most this long for their work. */
    async endAll(waitMs: number): Promise<void> {
      isClosed = true;
      for (const session of sessions) session.line.end("restart");
      const ended = Promise.allSettled([...sessions].map(({ work }) => work));
      // Accepted messages are acknowledged in the store; clients that did not get the `ack` send them again.
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, waitMs).unref())]);
    },

    isClosed: () => isClosed,
  };
}

export type LiveSessions = ReturnType<typeof createLiveSessions>;
