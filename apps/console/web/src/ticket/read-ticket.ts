import { useState } from "react";
import type {
  ReplyActions,
  TicketChange,
  TicketDetail,
  TicketEvent,
  TicketItem,
  TicketMessage,
  TicketReply,
} from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import { useServices } from "../session/services.ts";
import { describeError } from "../ui/describe-error.ts";

/** A value with its name. */
interface NamedText {
  label: string;
  text: string;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
const isPlain = (value: unknown) => typeof value !== "object" || value === null;
const textOfValue = (value: unknown) => {
  if (value === null || value === "") return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
};

/**
 * Returns JSON as labels with their values, for display: the label of a nested value is its path, and a list of plain
 * values is one value.
 */
export function flattenValues(values: Readonly<Record<string, unknown>>, path = ""): NamedText[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const label = `${path}${Array.isArray(values) ? Number(name) + 1 : name}`;
    if (!isObject(value)) return { label, text: textOfValue(value) };
    if (Object.keys(value).length === 0) return { label, text: textOfValue(null) };
    if (Array.isArray(value) && value.every(isPlain)) return { label, text: value.map(textOfValue).join(", ") };
    return flattenValues(value, `${label} › `);
  });
}

/** A text in three parts: before the quote, the quote itself, and after it. */
interface QuotedText {
  before: string;
  quote: string;
  after: string;
}

const escape = (word: string) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
/** A longer quote is located by this many of its first words. */
const WORDS_MAX_COUNT = 2_000;

/**
 * Finds a quote in its passage, ignoring differences in white space. If it is not found, the whole passage counts as
 * quoted.
 */
export function splitQuote(passage: string, quote: string): QuotedText {
  const words = quote.trim().split(/\s+/).slice(0, WORDS_MAX_COUNT);
  const found = quote.trim() === "" ? null : new RegExp(words.map(escape).join(String.raw`\s+`)).exec(passage);
  if (found === null) return { before: "", quote: passage, after: "" };
  const end = found.index + found[0].length;
  return { before: passage.slice(0, found.index), quote: found[0], after: passage.slice(end) };
}

type Fields = Pick<TicketItem, "subject" | "priority" | "tags">;

/** Returns the changes of subject, priority and tags from `before` to `after`, without equal fields. */
export function differenceOf(before: Fields, after: Fields): TicketChange {
  const hasSameTags =
    before.tags.length === after.tags.length && before.tags.every((tag, index) => tag === after.tags[index]);
  return {
    ...(before.subject === after.subject ? {} : { subject: after.subject }),
    ...(before.priority === after.priority ? {} : { priority: after.priority }),
    ...(hasSameTags ? {} : { tags: after.tags }),
  };
}

/** Returns the fields of one change that another one contains too. */
export const pickOf = (change: TicketChange, other: TicketChange): TicketChange =>
  Object.fromEntries(Object.entries(change).filter(([name]) => Object.hasOwn(other, name)));

/** A run of the pipeline for one message. */
export interface TraceRun {
  id: number;
  at: string;
  messageId: string | null;
  triage: { why: string; confidence: number | null } | null;
  gate: { why: string; sends: boolean } | null;
  /** Duration of each stage, in milliseconds, in order. */
  stages: { name: string; ms: number }[];
  passages: { chunkId: string; score: number }[];
  moves: { at: string; to: string; why: string }[];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown) => (typeof value === "string" ? value : "");
const numberOf = (value: unknown) => (typeof value === "number" && Number.isFinite(value) ? value : null);

/** The stages in execution order; unknown ones follow. */
const ORDER = [
  "openTicket",
  "heedVisitor",
  "triage",
  "triageAllProjects",
  "retrieve",
  "answer",
  "gate",
  "formatReply",
  "sendReply",
];
const positionOf = (name: string) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);

function stagesOf(data: unknown): TraceRun["stages"] {
  if (!isRecord(data)) return [];
  return Object.entries(data)
    .map(([name, ms]) => ({ name, ms: numberOf(ms) ?? 0 }))
    .sort((one, other) => positionOf(one.name) - positionOf(other.name));
}

/** Returns the runs of the pipeline for a ticket, newest first, from its events. */
export function readTrace({ events }: Pick<TicketDetail, "events">): TraceRun[] {
  return events
    .filter(({ actor }) => actor === "pipeline")
    .map(({ at, data, id, messageId, moves }) => {
      const { gate, passages, stageMs, triage } = data;
      return {
        id,
        at,
        messageId,
        triage: isRecord(triage) ? { why: textOf(triage["why"]), confidence: numberOf(triage["confidence"]) } : null,
        gate: isRecord(gate) ? { why: textOf(gate["why"]), sends: gate["sends"] === true } : null,
        stages: stagesOf(stageMs),
        passages: (Array.isArray(passages) ? passages : [])
          .filter(isRecord)
          .map(({ chunkId, score }) => ({ chunkId: textOf(chunkId), score: numberOf(score) ?? 0 })),
        moves: moves.map(({ at: time, to, why }) => ({ at: time, to, why })),
      };
    })
    .reverse();
}

/**
 * Returns the page in a value of `channel_meta`, which is a URL or an object with `url` and `title`; null if it is not
 * a web URL.
 */
export function pageOf(value: unknown): { url: string; title: string } | null {
  const { url, title } = isObject(value) ? (value as Record<string, unknown>) : { url: value, title: undefined };
  if (typeof url !== "string" || !URL.canParse(url)) return null;
  const { protocol, host, pathname } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") return null;
  return { url, title: typeof title === "string" && title.trim() !== "" ? title : `${host}${pathname}` };
}

/** The loaded messages, replies and events of a ticket. */
export type History = Pick<TicketDetail, "messages" | "replies" | "events">;

function merge<Item extends { id: string | number }>(
  older: readonly Item[],
  newer: readonly Item[],
  positionOf: (item: Item) => number,
): Item[] {
  const byId = new Map([...older, ...newer].map((item) => [item.id, item]));
  return [...byId.values()].sort((one, other) => positionOf(one) - positionOf(other));
}

/** Merges two parts of the history of a ticket. If both have an entry, that of `newer`, which was fetched later, wins. */
export function mergeHistory(older: History, newer: History): History {
  return {
    messages: merge(older.messages, newer.messages, ({ seq }) => seq),
    replies: merge(older.replies, newer.replies, ({ seq }) => seq),
    events: merge(older.events, newer.events, ({ id }) => id),
  };
}

/** An entry of the timeline of a conversation. */
type TimelineEntry =
  | { kind: "day"; key: string; at: string }
  | { kind: "message"; key: string; at: string; message: TicketMessage }
  | { kind: "reply"; key: string; at: string; reply: TicketReply }
  | { kind: "note"; key: string; at: string; actor: string; text: string }
  | { kind: "event"; key: string; at: string; event: TicketEvent };

const textOrNull = (value: unknown) => (typeof value === "string" ? value : null);

/** The trace has the events of the pipeline; the timeline only its failures, and that a reply has resolved the ticket. */
const isShown = ({ actor, data, moves }: TicketEvent) =>
  actor !== "pipeline" || data["resolves"] === true || moves.some(({ to }) => to === "failed");

function entryOf(event: TicketEvent): TimelineEntry {
  const { actor, at, data, id } = event;
  const note = textOrNull(data["note"]);
  return note === null
    ? { kind: "event", key: `event-${id}`, at, event }
    : { kind: "note", key: `note-${id}`, at, actor, text: note };
}

/** Returns the fields that an event has set; none for other events. */
export const changeOf = ({ change }: TicketEvent["data"]): Record<string, unknown> =>
  typeof change === "object" && change !== null ? { ...change } : {};

/** Returns all tags of a ticket after a change; null if the change did not concern its tags. */
export function changedTags(data: TicketEvent["data"]): string[] | null {
  const { tags } = changeOf(data);
  return Array.isArray(tags) ? tags.map(String) : null;
}

/** Returns what a reply has changed besides the text; null for other events. */
export const replyActionsOf = ({ actions }: TicketEvent["data"]): ReplyActions | null =>
  // Checked when it was stored.
  typeof actions === "object" && actions !== null ? actions : null;

/** Returns the tag that was renamed, merged (to another name) or deleted (`to` is null); null for other events. */
export function replacedTag({ tag }: TicketEvent["data"]): { from: string; to: string | null } | null {
  const isGiven = typeof tag === "object" && tag !== null && "from" in tag && "to" in tag;
  if (!isGiven || typeof tag.from !== "string") return null;
  return { from: tag.from, to: typeof tag.to === "string" ? tag.to : null };
}

/** Order of entries with the same time: texts precede the events about them. */
const RANKS = { day: 0, message: 1, reply: 2, note: 3, event: 4 } as const;

/**
 * Returns the messages, replies, notes and events of a ticket by time, with a day before its first entry. `dayOf`
 * returns the day of a time in the reader's time zone.
 */
export function buildTimeline(
  { messages, replies, events }: Pick<TicketDetail, "messages" | "replies" | "events">,
  dayOf: (time: string) => string,
): TimelineEntry[] {
  const entries: TimelineEntry[] = [
    ...messages.map((message) => ({
      kind: "message" as const,
      key: message.id,
      at: message.createdAt,
      message,
    })),
    ...replies.map((reply) => ({ kind: "reply" as const, key: reply.id, at: reply.createdAt, reply })),
    ...events.filter(isShown).map(entryOf),
  ];
  const sorted = entries.sort((one, other) => {
    const difference = Date.parse(one.at) - Date.parse(other.at);
    return difference === 0 ? RANKS[one.kind] - RANKS[other.kind] : difference;
  });
  let day = "";
  return sorted.flatMap((entry) => {
    const dayOfEntry = dayOf(entry.at);
    if (dayOfEntry === day) return [entry];
    day = dayOfEntry;
    return [{ kind: "day" as const, key: `day-${day}`, at: entry.at }, entry];
  });
}

/** Returns the loaded history of a ticket, and a function that loads older entries. */
export function useHistory(ticket: TicketDetail) {
  const { connection, toasts } = useServices();
  const { t } = useTexts();
  const [merged, setMerged] = useState(ticket);
  const [history, setHistory] = useState(() => mergeHistory(ticket, ticket));
  const [more, setMore] = useState(ticket.more);
  const [isLoading, setLoading] = useState(false);
  if (merged !== ticket) {
    setMerged(ticket);
    setHistory(mergeHistory(history, ticket));
  }
  const hasMore = more.messages || more.replies || more.events;

  async function loadOlder(): Promise<void> {
    if (isLoading || !hasMore) return;
    setLoading(true);
    const { events, messages, replies } = history;
    const query = {
      ...(more.messages ? { messagesBefore: String(messages[0]?.seq ?? 0) } : {}),
      ...(more.replies ? { repliesBefore: String(replies[0]?.seq ?? 0) } : {}),
      ...(more.events ? { eventsBefore: String(events[0]?.id ?? 0) } : {}),
    };
    try {
      const input = { params: { id: ticket.id }, query };
      const { item } = await connection.call("getTicketHistory", ticket.project, input);
      setHistory((loaded) => mergeHistory(item, loaded));
      setMore(item.more);
    } catch (error) {
      toasts.show({ kind: "error", text: describeError(error, t) });
    } finally {
      setLoading(false);
    }
  }
  return { history, hasMore, isLoading, loadOlder };
}
