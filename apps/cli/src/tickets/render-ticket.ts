import { z } from "zod";
import type { TicketDetail, TicketDraft, TicketEvent, TicketItem, TicketMessage, TicketReply } from "@svc/contracts";
import { renderSources, renderAge, renderFacts, renderTable, toMinute } from "../render-table.ts";
import { safeLine, safeText } from "../terminal.ts";
import type { Paint, Terminal } from "../terminal.ts";
import { renderToolCall } from "./render-tool-call.ts";

/** Maximum number of passages whose scores are shown. */
const SHOWN_PASSAGES = 5;

/** A fact of a trace, with its name. */
type TraceFact = readonly [name: string, value: string];

type Reader = (value: unknown) => TraceFact[] | null;

const triageSchema = z.object({ why: z.string() }).nullable();
const gateSchema = z
  .object({ sends: z.boolean(), rejects: z.boolean().optional(), needsPerson: z.boolean().optional(), why: z.string() })
  .nullable();
const usageSchema = z.object({
  model: z.string(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  costUsd: z.number().nullable(),
});
const answerSchema = z.object({
  model: z.object({
    usage: usageSchema.nullable(),
    fallback: z.string().nullable(),
    mustReview: z.boolean().optional(),
  }),
});
const passagesSchema = z.array(z.object({ score: z.number() }));

/** Returns the reason without the error code before it, which is for machines. */
const reasonOf = (fallback: string) => safeLine(fallback.replace(/^[a-z_]+: /, ""), LINE_CHARS);

/** Readers of the parts of a run's trace, in the order in which they are shown. */
const READERS: Readonly<Record<string, Reader>> = {
  triage: reader(triageSchema, (triage) => (triage === null ? [] : [["triage", safeLine(triage.why, LINE_CHARS)]])),
  passages: reader(passagesSchema, (passages) => [["passages", describePassages(passages)]]),
  answer: reader(answerSchema, ({ model: { usage, fallback, mustReview } }) => [
    ...(usage === null ? [] : [["model", describeUsage(usage)] as const]),
    ...(fallback === null
      ? []
      : [["quotes", `instead of the model: ${reasonOf(fallback)} (see docs/models.md)`] as const]),
    ...(mustReview === true ? [["review", "requires an operator, regardless of the policy"] as const] : []),
  ]),
  gate: reader(gateSchema, (gate) => (gate === null ? [] : [["decision", describeGate(gate)]])),
  stageMs: reader(z.record(z.string(), z.number()), (stageMs) => {
    const times = Object.entries(stageMs).map(([stage, ms]) => `${safeLine(stage, NAME_CHARS)} ${ms} ms`);
    return times.length === 0 ? [] : [["times", times.join(", ")]];
  }),
  attempts: reader(z.number(), (attempts) => (attempts <= 1 ? [] : [["attempts", String(attempts)]])),
};

const SUBJECT_CHARS = 100;
const SHORT_NAME_CHARS = 24;
const PERSON_CHARS = 40;

/** Returns tickets as a table, each with the time since its last event. */
export function renderTickets(tickets: readonly TicketItem[], { paint, width }: Terminal, now: number): string {
  const { dim, red, yellow } = paint;
  const rows = tickets.map((ticket) => {
    const { id, status, stage, assignee, updatedAt, subject, channelId, chatId, priority, tags, customer } = ticket;
    const stages = { review: yellow(stage), failed: red(stage) } as const;
    const person = customer?.name ?? customer?.email ?? null;
    const remarks = [
      ...(ticket.origin === null ? [] : ["task"]),
      ...(person === null ? [] : [safeLine(person, PERSON_CHARS)]),
      `${channelId} ${safeLine(chatId, SHORT_NAME_CHARS)}`,
      ...(priority === "normal" ? [] : [priority]),
      ...tags.map((tag) => `#${safeLine(tag, SHORT_NAME_CHARS)}`),
    ];
    return [
      id,
      `${status}\n${stage === "review" || stage === "failed" ? stages[stage] : stage}`,
      assignee === null ? "-" : safeLine(assignee, SHORT_NAME_CHARS),
      renderAge(Math.max(0, now - Date.parse(updatedAt))),
      `${safeLine(subject, SUBJECT_CHARS)}\n${dim(remarks.join(", "))}`,
    ];
  });
  return renderTable(["TICKET", "STATE", "ASSIGNEE", "UPDATED", "SUBJECT AND CHAT"], rows, width);
}

const NAME_CHARS = 80;
const LINE_CHARS = 300;
const KIB = 1024;

/** Fields of `channel_meta` that are shown for a submitted issue. */
const ISSUE_FACTS = ["source", "severity", "person", "dueDate"] as const;

/** Returns an external text with a mark before every line, so that it cannot be mistaken for its surroundings. */
export function quoted(text: string): string {
  return safeText(text)
    .split("\n")
    .map((line) => `  │ ${line}`.trimEnd())
    .join("\n");
}

const AUTHORS = { agent: "agent", operator: "operator", system: "service" } as const;
const MESSAGE_REMARKS: Record<TicketMessage["state"], string> = {
  received: "waiting for the pipeline",
  held: "waiting for an operator",
  answered: "",
  rejected: "dismissed",
  failed: "failed",
};

/** One message of a conversation: time, author, and the text or file. */
interface Utterance {
  seq: number;
  head: string;
  text: string;
}

function ofMessage(message: TicketMessage, { origin }: Pick<TicketDetail, "origin">, paint: Paint): Utterance {
  const { seq, timestamp, userId, text, attachments, state, failure } = message;
  const remarks = [MESSAGE_REMARKS[state], ...(failure === null ? [] : [safeLine(failure, LINE_CHARS)])];
  const remark = remarks.filter((part) => part !== "").join(": ");
  const author = origin === null ? "customer" : "task";
  const who = userId === null ? author : `${author} ${safeLine(userId, NAME_CHARS)}`;
  return {
    seq,
    head: `${paint.dim(toMinute(timestamp))}  ${paint.bold(who)}${remark === "" ? "" : `  ${paint.yellow(remark)}`}`,
    text: [
      ...(text === "" ? [] : [quoted(text)]),
      ...attachments.map(({ name = "unnamed", type }) => quoted(`[file ${safeLine(name)}, ${safeLine(type)}]`)),
    ].join("\n"),
  };
}

function ofReply(reply: TicketReply, paint: Paint): Utterance {
  const { seq, createdAt, author, deliveredAt } = reply;
  const remark = deliveredAt === null ? paint.dim("  not collected yet") : "";
  const facts = reply.type === "attachment" ? `${Math.ceil(reply.sizeBytes / KIB)} KB` : "";
  return {
    seq,
    head: `${paint.dim(toMinute(createdAt))}  ${paint.bold(AUTHORS[author])}${remark}`,
    text: quoted(
      reply.type === "message" ? reply.text : `[file ${safeLine(reply.filename)}, ${safeLine(reply.mime)}, ${facts}]`,
    ),
  };
}

function renderConversation(ticket: TicketDetail, paint: Paint): string {
  const { messages, replies, more } = ticket;
  const said = [
    ...messages.map((message) => ofMessage(message, ticket, paint)),
    ...replies.map((reply) => ofReply(reply, paint)),
  ];
  const lines = said.toSorted((one, other) => one.seq - other.seq).map(({ head, text }) => `${head}\n${text}`);
  return [...(more.messages || more.replies ? [paint.dim("(older entries are not shown)")] : []), ...lines].join("\n");
}

const undeliveredSchema = z.object({ reason: z.string(), isDead: z.boolean() });

/** Returns that and why the customer has not received a reply; null if the data has another meaning. */
function describeUndelivered(value: unknown): string | null {
  const { success, data } = undeliveredSchema.safeParse(value);
  if (!success) return null;
  const { reason, isDead } = data;
  return `reply not delivered: ${safeLine(reason, LINE_CHARS)}${isDead ? " (dead letter; can be retried)" : ""}`;
}

/** Returns the data of an event without its moves and trace: a note, or the assignee. */
function describeData(data: Record<string, unknown>): string {
  const parts = Object.entries(data).map(([name, value]) => {
    const undelivered = name === "undelivered" ? describeUndelivered(value) : null;
    if (undelivered !== null) return undelivered;
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return `${safeLine(name, NAME_CHARS)}: ${safeLine(text, LINE_CHARS)}`;
  });
  return parts.join(", ");
}

function renderEvent({ at, actor, moves, data }: TicketEvent, paint: Paint): string {
  const steps = moves.map(({ from, to, why }) => `${from} → ${to} (${safeLine(why, LINE_CHARS)})`);
  const { facts, rest } = readTrace(data);
  const what = [...steps, ...(Object.keys(rest).length === 0 ? [] : [describeData(rest)])].join("; ");
  const head = `${paint.dim(toMinute(at))}  ${safeLine(actor, NAME_CHARS)}  ${what}`.trimEnd();
  return facts.length === 0 ? head : `${head}\n${renderFacts(facts, "    ")}`;
}

/** Returns the waiting draft with its reasons. External texts are escaped. */
function renderDraft(draft: TicketDraft, paint: Paint): string {
  const { text, confidence, why, isStale, sources, covers } = draft;
  const messages = covers.length === 1 ? "1 message" : `${covers.length} messages`;
  const sureness = confidence === null ? "" : `, confidence ${Math.floor(confidence * 100 + 1e-9)}%`;
  return [
    `Draft for ${messages}${sureness}: ${safeLine(why, LINE_CHARS)}`,
    ...(isStale
      ? [paint.yellow("This draft does not cover a newer message, which is still being processed or has failed.")]
      : []),
    text === "" ? paint.yellow("  (no text: the agent found no answer)") : quoted(text),
    ...(sources.length === 0 ? [] : [renderSources(sources, paint)]),
  ].join("\n");
}

/** Returns the usage of language models in one line. */
function renderModelUsage({ calls, inputTokens, outputTokens, costUsd }: TicketDetail["modelUsage"]): string {
  const cost = costUsd === null ? "" : `, $${costUsd.toFixed(4)}`;
  return `${calls} ${calls === 1 ? "call" : "calls"}, ${inputTokens} + ${outputTokens} tokens${cost}`;
}

/** Returns name and email address as the sender gave them. */
const renderCustomer = ({ id, name, email, alias }: NonNullable<TicketDetail["customer"]>) =>
  [name ?? (email === null ? alias : null), name === null || email === null ? email : `<${email}>`, id && `(${id})`]
    .flatMap((part) => (part === null ? [] : [safeLine(part, LINE_CHARS)]))
    .join(" ");

/** Returns a ticket as text: facts, messages, events and the draft. */
export function renderTicket(ticket: TicketDetail, paint: Paint): string {
  const { id, subject, status, stage, channelId, chatId, userId, assignee, agentId, priority, tags, version } = ticket;
  const { channel_meta: meta, customer, origin } = ticket;
  const issueFacts = ISSUE_FACTS.flatMap((name) => {
    const value = origin === null ? null : meta[name];
    return typeof value === "string" ? [[name, safeLine(value, LINE_CHARS)] as const] : [];
  });
  const facts = renderFacts([
    ["ticket", id],
    ["subject", safeLine(subject, LINE_CHARS)],
    ...(origin === null ? [] : [["origin", origin] as const, ...issueFacts]),
    ["state", `${status}, ${stage}`],
    ["chat", `${channelId} ${safeLine(chatId)}`],
    ["customer", customer !== null && renderCustomer(customer)],
    ["user", userId !== null && safeLine(userId)],
    ["assignee", assignee !== null && safeLine(assignee)],
    ["snoozed until", ticket.snooze !== null && (ticket.snooze.until ?? "the customer writes")],
    ["agent", agentId],
    ["priority", priority],
    ["tags", tags.length > 0 && tags.map((tag) => safeLine(tag, NAME_CHARS)).join(", ")],
    ["language models", ticket.modelUsage.calls > 0 && renderModelUsage(ticket.modelUsage)],
    ["version", String(version)],
  ]);
  const { events, draft, more, toolCalls } = ticket;
  return [
    facts,
    "",
    renderConversation(ticket, paint),
    ...(events.length === 0
      ? []
      : [
          "",
          "Events",
          ...(more.events ? [paint.dim("(older events are not shown)")] : []),
          ...events.map((event) => renderEvent(event, paint)),
        ]),
    ...(toolCalls.length === 0 ? [] : ["", "Tool calls", ...toolCalls.map((call) => renderToolCall(call, paint))]),
    ...(draft === null ? [] : ["", renderDraft(draft, paint)]),
  ].join("\n");
}

/** Returns what an operator needs for a decision: the waiting messages, and the draft. */
export function renderQuestion(ticket: TicketDetail, paint: Paint): string {
  const { messages, draft } = ticket;
  const waiting = messages
    .filter(({ state }) => state !== "answered" && state !== "rejected")
    .map((message) => ofMessage(message, ticket, paint));
  return [
    ...waiting.map(({ head, text }) => `${head}\n${text}`),
    ...(draft === null ? [] : ["", renderDraft(draft, paint)]),
  ].join("\n");
}

/** Returns a reader of a part with this shape; it returns null for any other, which is then shown unchanged. */
function reader<Part>(schema: z.ZodType<Part>, facts: (part: Part) => TraceFact[]): Reader {
  return (value) => {
    const read = schema.safeParse(value);
    return read.success ? facts(read.data) : null;
  };
}

function describeUsage({ model, inputTokens, outputTokens, costUsd }: z.infer<typeof usageSchema>): string {
  const cost = costUsd === null ? "" : `, $${costUsd.toFixed(4)}`;
  return `${safeLine(model, NAME_CHARS)}, ${inputTokens} + ${outputTokens} tokens${cost}`;
}

function describeGate({ sends, rejects, needsPerson, why }: NonNullable<z.infer<typeof gateSchema>>): string {
  const fate =
    rejects === true
      ? "no answer"
      : !sends
        ? "held"
        : needsPerson === true
          ? "sent, and an operator follows up"
          : "sent";
  return `${fate}: ${safeLine(why, LINE_CHARS)}`;
}

function describePassages(passages: z.infer<typeof passagesSchema>): string {
  if (passages.length === 0) return "none";
  const scores = passages.slice(0, SHOWN_PASSAGES).map(({ score }) => score.toFixed(2));
  return `${passages.length}, best scores ${scores.join(", ")}`;
}

/** Returns the trace of a pipeline run as facts; `rest` has the other data of the event. */
export function readTrace(data: Record<string, unknown>): { facts: TraceFact[]; rest: Record<string, unknown> } {
  const facts: TraceFact[] = [];
  const rest = { ...data };
  for (const [name, read] of Object.entries(READERS)) {
    if (!(name in data)) continue;
    const found = read(data[name]);
    if (found === null) continue;
    facts.push(...found);
    delete rest[name];
  }
  return { facts, rest };
}
