import type { Answer, LearnedMessage, MessageClass, ModelPart } from "@svc/agents";
import { isLegalMove } from "@svc/contracts";
import type { Agent, ReplyDraft, StageMove, TicketStage } from "@svc/contracts";
import type { SearchResult } from "@svc/knowledge";
import type { ClaimedMessage, Project, Ticket } from "@svc/store";

/** What triage decided. */
export interface TriageResult {
  /** Null when no agent fits. */
  agentId: string | null;
  confidence: number;
  why: string;
  /** What a language model had to do with it; absent where none was asked. */
  model?: ModelPart;
  /** Of a submitted issue that triage has sent somewhere: the id of that project. */
  project?: string;
}

/** What the agent answers; without a text and with `isFault` where it has failed, which is no want of knowledge. */
export interface AgentAnswer extends Answer {
  isFault?: true;
}

/** What the gate decided: the answer goes out, or a person has to look, or there is none. */
export interface GateResult {
  sends: boolean;
  /** True when the message ends without an answer, and nobody has to look. */
  rejects?: boolean;
  why: string;
  /** True when it goes out, and a person has to look all the same. */
  needsPerson?: true;
  /** True when nothing goes out, and nobody has to look: the customer only thanks the person who has the conversation. */
  isSilent?: true;
  /** True when it is held for want of a good answer, and not because a person has to look anyhow. */
  isGap?: true;
}

/**
 * One run of the pipeline for one message: what it started from and what its stages have found so far. `triage`,
 * `passages` and `answer` are kept with the message, so that a retry does not find them again.
 */
export interface Run {
  readonly message: ClaimedMessage;
  /** Aborted when the lease is lost or the process has to stop. */
  readonly signal: AbortSignal;
  project: Project;
  agents: Agent[];
  /** Messages of the project that people have decided. */
  learned: LearnedMessage[];
  ticket: Ticket | null;
  /** What the message is, beside a question; null before that is known. */
  said: MessageClass | null;
  triage: TriageResult | null;
  passages: SearchResult | null;
  answer: AgentAnswer | null;
  /** ISO 639-1, of the chat; null as long as no message has said so. */
  language: string | null;
  gate: GateResult | null;
  replies: ReplyDraft[];
  stage: TicketStage;
  moves: StageMove[];
  /** How long each stage took, in milliseconds. */
  stageMs: Record<string, number>;
  /** True when something came into the conversation while this run went on. */
  hasMore: boolean;
  /** The place of this run in a trace, as `traceparent` says it; null where nobody traces. */
  trace: string | null;
}

/** Writes down that the ticket goes on to a stage. Throws on a move that is not in the table of legal ones. */
export function move(run: Pick<Run, "stage" | "moves">, to: TicketStage, why: string): void {
  if (run.stage === to) return;
  if (!isLegalMove(run.stage, to)) throw new Error(`a ticket cannot go from ${run.stage} to ${to}`);
  run.moves.push({ at: new Date().toISOString(), actor: "pipeline", from: run.stage, to, why });
  run.stage = to;
}

/** What of a run is kept between tries. */
export function progressOf(run: Run): Record<string, unknown> {
  const { triage, passages, answer } = run;
  return { ...(triage && { triage }), ...(passages && { passages }), ...(answer && { answer }) };
}

/** True when an operator has marked the conversation as spam: nothing is looked up or answered there. */
export function isSpam({ ticket }: Pick<Run, "ticket">): boolean {
  return ticket?.status === "spam";
}

/** The agent that triage chose, or null. */
export function chosenAgent(run: Run): Agent | null {
  if (isSpam(run)) return null;
  return run.agents.find((agent) => agent.id === run.triage?.agentId) ?? null;
}
