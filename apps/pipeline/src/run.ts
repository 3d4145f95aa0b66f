import { createAgentPool, HISTORY_LIMIT } from "@svc/agents";
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
import { LeaseLostError, createBriefCache, isUnavailable } from "@svc/store";
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
import { inSpan, observe } from "@svc/telemetry";
import type { Failure } from "@svc/work";

/** Settings of a project that the stages read. */
interface ProjectSettings {
  project: Project;
  agents: Agent[];
  /** Messages that people have decided; the same array while it has not changed. */
  learned: LearnedMessage[];
}

/** A change of a project, its agents or decided messages takes effect within this time. */
const SETTINGS_MS = 1_000;

/** Maximum number of projects in the cache; one with 15,000 examples takes several megabytes. */
const MAX_PROJECTS = 100;

/** A list, and the version by which it is known to be unchanged. */
interface Versioned<Item> {
  mark: string;
  items: Item[];
}

/**
 * Creates the function that reads a project's settings: at most once a second, and examples and decided messages only
 * when they have changed. Null if the project no longer exists.
 */
export function createSettingsReader(store: Store): (id: ProjectId) => Promise<ProjectSettings | null> {
  const brief = createBriefCache<ProjectSettings>(SETTINGS_MS);
  const agents = cacheByVersion<Agent>(
    (id) => store.agents.findMark(id),
    (id) => store.agents.list(id),
  );
  const learned = cacheByVersion<LearnedMessage>(
    (id) => store.triageMessages.findMark(id),
    (id) => store.triageMessages.list(id),
  );
  return (id) =>
    brief.get(id, async () => {
      const [project, ofAgents, ofPeople] = await Promise.all([store.projects.find(id), agents(id), learned(id)]);
      return project === null ? null : { project, agents: ofAgents, learned: ofPeople };
    });
}

/** Reads a project's list again only if its mark has changed; the mark is read first, so that no change is missed. */
function cacheByVersion<Item>(
  findMark: (id: ProjectId) => Promise<string>,
  list: (id: ProjectId) => Promise<Item[]>,
): (id: ProjectId) => Promise<Item[]> {
  const cache = new Map<ProjectId, Versioned<Item>>();
  return async (id) => {
    const mark = await findMark(id);
    const known = cache.get(id);
    const now = known?.mark === mark ? known : { mark, items: await list(id) };
    // Moves it to the end of the cache; the least recently used entry is evicted.
    cache.delete(id);
    cache.set(id, now);
    const [oldest] = cache.keys();
    if (cache.size > MAX_PROJECTS && oldest !== undefined) cache.delete(oldest);
    return now.items;
  };
}

/**
 * Creates the function that reads the enabled agents of all projects, with what people have decided about them, as one
 * choice. A project that is deleted meanwhile is skipped.
 */
export function createPoolReader(
  store: Store,
  readSettings: (id: ProjectId) => Promise<ProjectSettings | null>,
): () => Promise<AgentPool> {
  const join = createAgentPool();
  return async () => {
    const found: ProjectSettings[] = [];
    // One after the other: an issue can wait, and customers' messages need the connections.
    for (const { id } of await store.projects.list()) {
      const settings = await readSettings(id);
      if (settings !== null) found.push(settings);
    }
    return join(found.map(({ project, agents, learned }) => ({ id: project.id, agents, learned })));
  };
}

/** Dependencies of the stages. */
export interface StageContext {
  store: Store;
  queues: Queues;
  log: Log;
  /** Returns the settings of a project, at most a moment old; null if it no longer exists. */
  readSettings: (id: ProjectId) => Promise<ProjectSettings | null>;
  /** Returns the enabled agents of all projects, at most a moment old. */
  readPool: () => Promise<AgentPool>;
  /** Trained triage models by project. */
  triageModels: TriageModels;
  /** Null if no endpoint for embeddings is configured. */
  embeddings: Embeddings | null;
  /** Recognizes small talk by embeddings; null if no endpoint for embeddings is configured. */
  talk: TalkRecognizer | null;
  /** Null if no server with language models is configured. */
  models: LanguageModels | null;
  /** Opens the tools of an agent. */
  openTools: ToolOpener;
}

/**
 * A stage, which reads the run and adds its result. Only the first and the last stage have other effects; each may
 * run again after a crash.
 */
type Stage<OneRun extends Run = Run> = (context: StageContext, run: OneRun) => Promise<void>;

/** Stages in order, by the name that metrics, traces and the events of tickets show. */
export type Stages<OneRun extends Run = Run> = Readonly<Record<string, Stage<OneRun>>>;

/** Result of triage. */
export interface TriageResult {
  /** Null if no agent matches. */
  agentId: string | null;
  confidence: number;
  why: string;
  /** The language model's part; absent if none was called. */
  model?: ModelPart;
  /** For a submitted issue that triage has assigned: the id of the project. */
  project?: string;
}

/**
 * The agent's answer; without a text and with `isFault` if the agent failed, which does not count as missing
 * knowledge.
 */
export interface AgentAnswer extends Answer {
  isFault?: true;
}

/** Decision of the gate: the answer is sent, a person must look, or there is no answer. */
export interface GateResult {
  sends: boolean;
  /** True if the message ends without an answer and without a review. */
  rejects?: boolean;
  why: string;
  /** True if the answer is sent and a person must look as well. */
  needsPerson?: true;
  /**
   * True if nothing is sent and nobody needs to look: the customer only thanks the person who has the conversation.
   */
  isSilent?: true;
  /** True if it is held because there is no good answer, and not because a person must look anyway. */
  isGap?: true;
}

/**
 * One run of the pipeline for one message: its input and the results of its stages so far. `triage`, `passages` and
 * `answer` are stored with the message, so that a retry reuses them.
 */
export interface Run {
  readonly message: ClaimedMessage;
  /** Aborted when the lease is lost or the process shuts down. */
  readonly signal: AbortSignal;
  project: Project;
  agents: Agent[];
  /** Messages of the project that people have decided. */
  learned: LearnedMessage[];
  ticket: Ticket | null;
  /** Earlier messages of the chat, oldest first; null until it is read. */
  history: Utterance[] | null;
  /** Versions of knowledge bases when the message was claimed, by id, as far as they are known. */
  readonly kbVersions: Readonly<Record<string, string>>;
  /** Class of the message; null until it is known. */
  said: MessageClass | null;
  triage: TriageResult | null;
  passages: SearchResult | null;
  answer: AgentAnswer | null;
  /** Language of the chat (ISO 639-1); null until a message determines it. */
  language: string | null;
  gate: GateResult | null;
  replies: ReplyDraft[];
  stage: TicketStage;
  moves: StageMove[];
  /** Duration of each stage, in milliseconds. */
  stageMs: Record<string, number>;
  /** True if a message arrived in the conversation during this run. */
  hasMore: boolean;
  /** Trace context of this run, as in `traceparent`; null if tracing is off. */
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
  // Written only by progressOf, in this version or an earlier one.
  const kept = (message.progress ?? {}) as { triage?: TriageResult; passages?: SearchResult; answer?: AgentAnswer };
  return {
    message,
    signal,
    project,
    agents,
    learned,
    ticket: opened?.ticket ?? null,
    history: opened?.history ?? null,
    kbVersions: opened?.kbVersions ?? {},
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
 * Returns the run of a decision at its start. The agent of the ticket answers if it is enabled, so triage has no
 * choice to make. `agent` is its current version, since settings may be a moment old.
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

/**
 * Returns true if an operator has marked the conversation as spam: the pipeline neither searches nor replies there.
 */
export function isSpam({ ticket }: Pick<Run, "ticket">): boolean {
  return ticket?.status === "spam";
}

/** Returns the agent that triage chose, or null. */
export function chosenAgent(run: Run): Agent | null {
  if (isSpam(run)) return null;
  return run.agents.find((agent) => agent.id === run.triage?.agentId) ?? null;
}

/** Thrown when a run is aborted because its lease is lost or the process stops. */
class RunAbortedError extends Error {
  constructor() {
    super("run abandoned");
    this.name = "RunAbortedError";
  }
}

/** Rejects once the signal is aborted. */
export function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new RunAbortedError()), { once: true });
  });
}

/**
 * Runs stages one after the other. An aborted run ends immediately, even in the middle of a stage: what that stage
 * does afterwards only changes the run in memory.
 */
export async function runStages<OneRun extends Run>(
  context: StageContext,
  run: OneRun,
  stages: Stages<OneRun>,
): Promise<void> {
  const aborted = whenAborted(run.signal);
  for (const [name, stage] of Object.entries(stages)) {
    if (run.signal.aborted) throw new RunAbortedError();
    const startedAt = performance.now();
    let outcome = "fault";
    try {
      await inSpan(`stage ${name}`, { parent: run.trace }, () => Promise.race([stage(context, run), aborted]));
      outcome = "ok";
    } finally {
      const ms = performance.now() - startedAt;
      run.stageMs[name] = Math.round(ms * 10) / 10;
      const labels = { stage: name, outcome: run.signal.aborted ? "given_up" : outcome };
      observe("svc_stage_duration_seconds", labels, ms / 1_000);
    }
  }
}

/** Returns why work failed, in words for an operator. */
export function failureText(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 1_000) : "unknown error";
}

/** Classifies the error of a run. It counts as an attempt unless the store is unavailable or another process has the conversation. */
export function judgeRunError(error: unknown, attempts: number): Failure {
  const isOwn = !isUnavailable(error) && !(error instanceof RunAbortedError) && !(error instanceof LeaseLostError);
  return isOwn ? { counts: true, reason: failureText(error), attempts } : { counts: false, delayMs: 0 };
}
