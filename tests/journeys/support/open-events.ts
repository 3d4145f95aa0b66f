import { waitFor } from "@svc/testing";
import { EventSource } from "eventsource";

/** An event as it came. */
export interface ReceivedEvent {
  type: string;
  id: string;
  data: Record<string, unknown>;
  /** On which connection, from 0. */
  connection: number;
}

/** An event stream that is being read. */
export interface EventReader {
  /** What came so far, in its order. */
  readonly events: readonly ReceivedEvent[];
  /** What came of one type. */
  of(type: string): ReceivedEvent[];
  /** Waits until so many events of a type have come, and answers the last one of them. */
  until(type: string, count?: number): Promise<ReceivedEvent>;
  /** What was sent with the connections so far. */
  readonly answers: readonly Response[];
  close(): void;
}

/** How a stream is asked for. */
export interface EventRequest {
  /** The address, by the number of the connection, from 0. */
  url: (connection: number) => string;
  headers: Record<string, string>;
  /** Sent by POST. */
  json?: unknown;
  /** Which events are read; those of the HTTP API where absent. */
  types?: readonly string[];
}

const TYPES = ["accepted", "typing", "delta", "reply", "progress", "done", "error"];
const open = new Set<EventSource>();

/**
 * Reads a stream with an EventSource, which connects again by itself when it is cut and says which event it has got last.
 * What is answered to a POST is over with `done` or `error`.
 */
export function openEvents({ url, headers, json, types = TYPES }: EventRequest): EventReader {
  const events: ReceivedEvent[] = [];
  const answers: Response[] = [];
  let connections = 0;
  const source = new EventSource(url(0), {
    fetch: async (_url, init) => {
      const answer = await fetch(url(connections++), {
        ...init,
        headers: { ...init.headers, ...headers, ...(json === undefined ? {} : { "Content-Type": "application/json" }) },
        ...(json === undefined ? {} : { method: "POST", body: JSON.stringify(json) }),
      });
      answers.push(answer);
      return answer;
    },
  });
  open.add(source);
  const close = () => {
    source.close();
    open.delete(source);
  };
  for (const type of types) {
    source.addEventListener(type, (event) => {
      // What the EventSource itself says of its connection has no data.
      if (!("data" in event) || typeof event.data !== "string") return;
      const data = JSON.parse(event.data) as Record<string, unknown>;
      events.push({ type, id: event.lastEventId, data, connection: connections - 1 });
      if (json !== undefined && (type === "done" || type === "error")) close();
    });
  }
  const of = (type: string) => events.filter((event) => event.type === type);
  return {
    events,
    answers,
    of,
    async until(type, count = 1) {
      return waitFor(() => of(type)[count - 1] ?? null, { what: `event ${type} number ${count}` });
    },
    close,
  };
}

/** Ends every stream that is still being read. */
export function closeEvents(): void {
  for (const source of open) source.close();
  open.clear();
}

/** What the deltas of a message say when they are put together. */
export function joinDeltas(events: readonly ReceivedEvent[], messageId: string): string {
  return events
    .filter(({ type, data }) => type === "delta" && data["messageId"] === messageId)
    .reduce((text, { data }) => text.slice(0, Number(data["offset"])) + String(data["text"]), "");
}
