import { waitFor } from "@svc/testing";
import { EventSource } from "eventsource";

/** A received event. */
export interface ReceivedEvent {
  type: string;
  id: string;
  data: Record<string, unknown>;
  /** Number of its connection, from 0. */
  connection: number;
}

/** An open event stream. */
export interface EventReader {
  /** All received events, in order. */
  readonly events: readonly ReceivedEvent[];
  /** Returns the received events of a type. */
  of(type: string): ReceivedEvent[];
  /** Waits for this many events of a type, and returns the last of them. */
  until(type: string, count?: number): Promise<ReceivedEvent>;
  /** HTTP responses of the connections so far. */
  readonly answers: readonly Response[];
  close(): void;
}

/** Request of a stream. */
export interface EventRequest {
  /** Returns the URL for a connection, numbered from 0. */
  url: (connection: number) => string;
  headers: Record<string, string>;
  /** Sent by POST. */
  json?: unknown;
  /** The event types to read. Default: those of the HTTP API. */
  types?: readonly string[];
}

const TYPES = ["accepted", "typing", "delta", "reply", "progress", "done", "error"];
const open = new Set<EventSource>();

/**
 * Reads a stream with an EventSource, which reconnects by itself and sends the id of its last event. The response to a
 * POST ends with `done` or `error`.
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
      // The EventSource's own connection events have no data.
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

/** Closes every open stream. */
export function closeEvents(): void {
  for (const source of open) source.close();
  open.clear();
}

/** Returns the text of a message from its deltas. */
export function joinDeltas(events: readonly ReceivedEvent[], messageId: string): string {
  return events
    .filter(({ type, data }) => type === "delta" && data["messageId"] === messageId)
    .reduce((text, { data }) => text.slice(0, Number(data["offset"])) + String(data["text"]), "");
}
