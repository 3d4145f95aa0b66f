import type {
  AgentPool,
  Answer,
  LanguageModels,
  LearnedMessage,
  MessageClass,
  ModelPart,
  TalkRecognizer,
  ToolOpener,
  TriageModels,
} from "@svc/agents";
import { isLegalMove } from "@svc/contracts";
import type { Agent, ReplyDraft, StageMove, TicketStage } from "@svc/contracts";
import type { Embeddings, SearchResult } from "@svc/knowledge";
import type { Log } from "@svc/log";
import type { Queues } from "@svc/queue";
import { HISTORY_LIMIT } from "@svc/agents";
import type {
  ClaimedMessage,
  ClaimedReview,
  NewDraft,
  OpenedChat,
  Project,
  ProjectId,
  Store,
  Ticket,
  Utterance,
} from "@svc/store";
import type { ProjectSettings } from "./project-settings.ts";

/** What the stages work with. */
export interface StageContext {
  store: Store;
  queues: Queues;
  log: Log;
  /** Settings of a project, some moments old at most; null when it no longer exists. */
  readSettings: (id: ProjectId) => Promise<ProjectSettings | null>;
  /** The enabled agents of all projects, some moments old at most. */
  readPool: () => Promise<AgentPool>;
  /** What this process has learned of each project. */
  triageModels: TriageModels;
  /** Null where no endpoint for embeddings is configured. */
  embeddings: Embeddings | null;
  /** Recognizes small talk by embeddings; null where no endpoint for embeddings is configured. */
  talk: TalkRecognizer | null;
  /** Null where no server with language models is configured. */
  models: LanguageModels | null;
  /** Finds what an agent can call. */
  openTools: ToolOpener;
}

/**
 * A stage: reads the run and adds what it finds. All but the first and the last change nothing else; every one may run
 * again after a crash.
 */
export type Stage<OneRun extends Run = Run> = (context: StageContext, run: OneRun) => Promise<void>;

/** Stages in order, by the name that metrics, traces and the events of tickets show. */
export type Stages<OneRun extends Run = Run> = Readonly<Record<string, Stage<OneRun>>>;

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
  /**
   * True when nothing goes out, and nobody has to look: the customer only thanks the person who has the conversation.
   */
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
  /** What was said in the chat before the message, oldest first; null as long as it is not read. */
  history: Utterance[] | null;
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

/** One run of the pipeline for an operator's decision, on the message that it answers. */
export interface ReviewRun extends Run {
  readonly review: ClaimedReview;
  /** The answers to the older messages of a draft, oldest first. */
  earlier: NewDraft[];
}

/** Returns the run of a message at its start, with what earlier attempts have stored. */
export function beginRun(
  message: ClaimedMessage,
  { project, agents, learned }: ProjectSettings,
  signal: AbortSignal,
  opened: OpenedChat | null = null,
): Run {
  // Written by progressOf alone, in this version or an earlier one.
  const kept = (message.progress ?? {}) as { triage?: TriageResult; passages?: SearchResult; answer?: AgentAnswer };
  return {
    message,
    signal,
    project,
    agents,
    learned,
    ticket: opened?.ticket ?? null,
    history: opened?.history ?? null,
    said: null,
    triage: kept.triage ?? null,
    passages: kept.passages ?? null,
    answer: kept.answer ?? null,
    language: null,
    gate: null,
    replies: [],
    stage: "received",
    moves: [],
    stageMs: {},
    hasMore: false,
    trace: message.trace,
  };
}

/** Returns the message that a decision answers; an empty one if it is no longer stored. */
function messageOf(review: ClaimedReview): ClaimedMessage {
  const { project, ticketId, leaseId, channelId, chatId, attempts, crashes, lapses, work } = review;
  const kept = review.message ?? { seq: 0, userId: null, text: "", channelMeta: {}, mode: null };
  const messageId = work.answers ?? ticketId;
  return {
    ...kept,
    project,
    messageId,
    ticketId,
    leaseId,
    channelId,
    chatId,
    attempts,
    crashes,
    lapses,
    hasCrashedAlone: false,
    progress: null,
    trace: null,
  };
}

/**
 * Returns the run of a decision at its start. The agent of the ticket answers if it is enabled: triage has nothing to
 * choose then. `agent` is that agent as it is now, since settings may be some moments old.
 */
export function beginReviewRun(
  review: ClaimedReview,
  {
    ticket,
    agent,
    settings,
    signal,
  }: { ticket: Ticket; agent: Agent | null; settings: ProjectSettings; signal: AbortSignal },
): ReviewRun {
  const others = settings.agents.filter(({ id }) => id !== ticket.agentId);
  const agents = agent === null ? others : [...others, agent];
  const isChosen = agent !== null && agent.enabled;
  return {
    ...beginRun(messageOf(review), { ...settings, agents }, signal),
    review,
    earlier: [],
    ticket,
    stage: ticket.stage,
    triage: isChosen ? { agentId: agent.id, confidence: 1, why: `${agent.name} already handles this ticket` } : null,
  };
}

/** Returns what was said in the chat before the message, oldest first; read once for each run. */
export async function historyOf({ store }: Pick<StageContext, "store">, run: Run): Promise<Utterance[]> {
  const { project, ticketId, seq } = run.message;
  run.history ??= seq > 1 ? await store.history.listBefore(project, ticketId, seq, HISTORY_LIMIT) : [];
  return run.history;
}

/** Records that the ticket moves to a stage. Throws if the table of legal moves does not have the move. */
export function move(run: Pick<Run, "stage" | "moves">, to: TicketStage, why: string): void {
  if (run.stage === to) return;
  if (!isLegalMove(run.stage, to)) throw new Error(`a ticket cannot go from ${run.stage} to ${to}`);
  run.moves.push({ at: new Date().toISOString(), actor: "pipeline", from: run.stage, to, why });
  run.stage = to;
}

/** Returns what is stored of a run between attempts. */
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
