import type { TicketChange, TicketItem, TicketDetail } from "@svc/contracts";

/** A value with its name. */
export interface NamedText {
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
export interface QuotedText {
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
