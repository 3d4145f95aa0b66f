import type { ConsoleEvents } from "@svc/contracts";

/** What the server tells by itself; `hello` when the line is open, so that what was missed can be read. */
export type LiveEvents = ConsoleEvents;
export type TicketEventData = LiveEvents["ticket"];
export type PresenceEventData = LiveEvents["presence"];
type LiveName = keyof LiveEvents;

/** The line by which the server tells what happens, over all its replicas. */
export interface Live {
  on: <Name extends LiveName>(name: Name, listener: (event: LiveEvents[Name]) => void) => () => void;
  /** Opens the line, and opens it again whenever it is cut, until `close`. */
  open: () => void;
  close: () => void;
}

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 10_000;

/** The data of an event; null where it is no JSON, and so none of the server's. */
function read(data: unknown): unknown {
  if (typeof data !== "string") return null;
  try {
    return JSON.parse(data);
  } catch {
    // Something in between has written it.
    return null;
  }
}

/** Makes the line over `url`, closed. `onCut` hears when it is cut. */
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
      // The server writes its events as the contracts say.
      for (const listener of listeners) {
        try {
          listener(event as LiveEvents[Name]);
        } catch (error) {
          // The others hear of it all the same; the browser's console says what went wrong.
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
      // The browser's own way of opening it again ends for good at the first answer that is no stream.
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
