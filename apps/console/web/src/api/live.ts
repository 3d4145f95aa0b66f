import type { ConsoleEvents } from "@svc/contracts";

/** Events of the server; `hello` when the connection is open, so that missed changes can be fetched. */
export type LiveEvents = ConsoleEvents;
export type TicketEventData = LiveEvents["ticket"];
export type PresenceEventData = LiveEvents["presence"];
type LiveName = keyof LiveEvents;

/** The event stream of the server, with the events of all replicas. */
export interface Live {
  on: <Name extends LiveName>(name: Name, listener: (event: LiveEvents[Name]) => void) => () => void;
  /** Opens the connection, and reopens it whenever it drops, until `close`. */
  open: () => void;
  close: () => void;
}

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 10_000;

/** Parses the data of an event; returns null if it is invalid JSON, and therefore not from the server. */
function read(data: unknown): unknown {
  if (typeof data !== "string") return null;
  try {
    return JSON.parse(data);
  } catch {
    // Sent by an intermediary.
    return null;
  }
}

/** Creates the connection to `url`, closed. `onCut` is called when it drops. */
// oxlint-disable-next-line max-lines-per-function -- short functions over one shared state
export function createLive(url: string, onCut: () => void): Live {
  const listeners: { [Name in LiveName]: Set<(event: LiveEvents[Name]) => void> } = {
    hello: new Set(),
    ticket: new Set(),
    gone: new Set(),
    presence: new Set(),
    customerTyping: new Set(),
  };
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;

  function follow<Name extends LiveName>(
    opened: EventSource,
    name: Name,
    listeners: ReadonlySet<(event: LiveEvents[Name]) => void>,
  ) {
    opened.addEventListener(name, ({ data }: MessageEvent) => {
      failures = 0;
      const event = read(data);
      if (event === null) return;
      // The server's events match the contracts.
      for (const listener of listeners) {
        try {
          listener(event as LiveEvents[Name]);
        } catch (error) {
          // The other listeners are still called; the error is reported in the browser's console.
          reportError(error);
        }
      }
    });
  }

  function connect() {
    const opened = new EventSource(url);
    source = opened;
    follow(opened, "hello", listeners.hello);
    follow(opened, "ticket", listeners.ticket);
    follow(opened, "gone", listeners.gone);
    follow(opened, "presence", listeners.presence);
    follow(opened, "customerTyping", listeners.customerTyping);
    opened.addEventListener("error", () => {
      // The browser's own reconnect stops permanently at the first response that is not a stream.
      opened.close();
      if (source !== opened) return;
      source = null;
      onCut();
      const longestMs = Math.min(FIRST_DELAY_MS * 2 ** failures, LONGEST_DELAY_MS);
      failures += 1;
      timer = setTimeout(connect, longestMs * (0.5 + Math.random() / 2));
    });
  }

  return {
    on(name, listener) {
      listeners[name].add(listener);
      return () => listeners[name].delete(listener);
    },
    open() {
      if (source !== null) return;
      clearTimeout(timer);
      connect();
    },
    close() {
      clearTimeout(timer);
      source?.close();
      source = null;
      failures = 0;
    },
  };
}
