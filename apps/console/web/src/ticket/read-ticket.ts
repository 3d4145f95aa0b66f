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
 * Returns JSON as labels with their values, for people: the label of a nested value is the path to it, and a list of
 * plain values is one value.
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

/** A text in three: what stands before the quote, the quote as it stands there, and what stands behind. */
export interface QuotedText {
  before: string;
  quote: string;
  after: string;
}

const escape = (word: string) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
/** A quote of more words than that is found by its first ones. */
const WORDS_MAX_COUNT = 2_000;

/**
 * Finds a quote in its passage, whatever white space is between its words. Where it is not in it, all of the passage
 * counts as quoted.
 */
export function splitQuote(passage: string, quote: string): QuotedText {
  const words = quote.trim().split(/\s+/).slice(0, WORDS_MAX_COUNT);
  const found = quote.trim() === "" ? null : new RegExp(words.map(escape).join(String.raw`\s+`)).exec(passage);
  if (found === null) return { before: "", quote: passage, after: "" };
  const end = found.index + found[0].length;
  return { before: passage.slice(0, found.index), quote: found[0], after: passage.slice(end) };
}

type Fields = Pick<TicketItem, "subject" | "priority" | "tags">;

/** What of subject, priority and tags has to change for `before` to become `after`: what is the same is left out. */
export function differenceOf(before: Fields, after: Fields): TicketChange {
  const hasSameTags =
    before.tags.length === after.tags.length && before.tags.every((tag, index) => tag === after.tags[index]);
  return {
    ...(before.subject === after.subject ? {} : { subject: after.subject }),
    ...(before.priority === after.priority ? {} : { priority: after.priority }),
    ...(hasSameTags ? {} : { tags: after.tags }),
  };
}

/** Of one change what another one is about, too. */
export const pickOf = (change: TicketChange, other: TicketChange): TicketChange =>
  Object.fromEntries(Object.entries(change).filter(([name]) => Object.hasOwn(other, name)));

/** What the pipeline has done with one message. */
export interface TraceRun {
  id: number;
  at: string;
  messageId: string | null;
  triage: { why: string; confidence: number | null } | null;
  gate: { why: string; sends: boolean } | null;
  /** How long each stage took, in milliseconds, in their order. */
  stages: { name: string; ms: number }[];
  passages: { chunkId: string; score: number }[];
  moves: { at: string; to: string; why: string }[];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown) => (typeof value === "string" ? value : "");
const numberOf = (value: unknown) => (typeof value === "number" && Number.isFinite(value) ? value : null);

/** The stages in the order in which they run; others stand behind them. */
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

/** What the pipeline has done for a ticket, the newest first, out of its events. */
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
 * Returns the page that a value of `channel_meta` names, by its address alone or as an object with `url` and `title`; null
 * if that is not an address of the web.
 */
export function pageOf(value: unknown): { url: string; title: string } | null {
  const { url, title } = isObject(value) ? (value as Record<string, unknown>) : { url: value, title: undefined };
  if (typeof url !== "string" || !URL.canParse(url)) return null;
  const { protocol, host, pathname } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") return null;
  return { url, title: typeof title === "string" && title.trim() !== "" ? title : `${host}${pathname}` };
}
