import type { TicketDetail } from "@svc/contracts";

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
const ORDER = ["openTicket", "triage", "triageAllProjects", "retrieve", "answer", "gate", "formatReply", "sendReply"];
const placeOf = (name: string) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);

function stagesOf(data: unknown): TraceRun["stages"] {
  if (!isRecord(data)) return [];
  return Object.entries(data)
    .map(([name, ms]) => ({ name, ms: numberOf(ms) ?? 0 }))
    .sort((one, other) => placeOf(one.name) - placeOf(other.name));
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
