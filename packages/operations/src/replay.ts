import { answerQuestion, HISTORY_LIMIT, sendsAnswer } from "@svc/agents";
import type { Answer, HistoryMessage, LanguageModels } from "@svc/agents";
import type { Principal } from "@svc/auth";
import { checkInput, invalidInput, REPLAY_LIMITS, replayInputSchema } from "@svc/contracts";
import type { Agent, FieldError, ReplayItem, ReplayQuery, ReplayResult, ReplaySide } from "@svc/contracts";
import { searchKnowledge } from "@svc/knowledge";
import type { Embeddings } from "@svc/knowledge";
import type { Log } from "@svc/log";
import { isUnavailable } from "@svc/store";
import type { OperatorReply, Store } from "@svc/store";
import { compareTokens, tokenize } from "@svc/text";
import type { TokenScores } from "@svc/text";
import { errorsOfKbs, readAgent } from "./agents.ts";
import { operation } from "./operation.ts";

/** Maximum number of words that are compared, because the time is proportional to the product of both counts. */
const MAX_TOKENS = 2_000;

/** From this token F1, an answer is close to the sent text. */
const NEAR = 0.5;

/** Differences in token F1 below this are ignored: a word more or less. */
const MIN_CHANGE = 0.05;

const tokensOf = (text: string) =>
  tokenize(text)
    .slice(0, MAX_TOKENS)
    .map(({ term }) => term);

/**
 * Compares an answer with the text that a person sent, by its first 2,000 words; case, punctuation and Markdown are
 * ignored. 0 without an answer.
 */
export function scoreAnswer(answer: string | null, sent: string): TokenScores {
  return answer === null ? { f1: 0, rougeL: 0 } : compareTokens(tokensOf(answer), tokensOf(sent));
}

/** The values that decide a verdict. */
type Judged = Pick<ReplaySide, "tokenF1" | "sends">;

/**
 * Returns whether a change improves an answer. An answer that would now be sent although it is far from the sent text
 * is worse. Otherwise the similarity decides and, if it is unchanged, whether a close answer is now sent or held.
 * Holding a wrong answer does not make it better.
 */
export function verdictOf(before: Judged, after: Judged): ReplayItem["verdict"] {
  const isNear = after.tokenF1 >= NEAR;
  if (after.sends && !before.sends && !isNear) return "worse";
  const change = after.tokenF1 - before.tokenF1;
  if (Math.abs(change) >= MIN_CHANGE) return change > 0 ? "better" : "worse";
  if (after.sends === before.sends) return "same";
  if (!isNear) return "same";
  return after.sends ? "better" : "worse";
}

const mean = (numbers: readonly number[]) =>
  numbers.length === 0 ? null : numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

/** Tokens of language models that a side used. */
type SideUsage = ReplayResult["summary"]["usage"]["before"];

/** Summarizes all items. */
export function summarizeReplay(
  items: readonly ReplayItem[],
  usage: { before: SideUsage; after: SideUsage },
): ReplayResult["summary"] {
  const countOf = (verdict: ReplayItem["verdict"]) => items.filter((item) => item.verdict === verdict).length;
  const both = <Value>(of: (sides: ReplaySide[]) => Value) => ({
    before: of(items.map(({ before }) => before)),
    after: of(items.map(({ after }) => after)),
  });
  return {
    replies: items.length,
    better: countOf("better"),
    worse: countOf("worse"),
    same: countOf("same"),
    sends: both((sides) => sides.filter(({ sends }) => sends).length),
    tokenF1: both((sides) => mean(sides.map(({ tokenF1 }) => tokenF1))),
    rougeL: both((sides) => mean(sides.map(({ rougeL }) => rougeL))),
    usage,
  };
}

/** Returns the beginning of a text, without splitting a character. */
export function beginningOf(text: string): string {
  const { textMaxChars } = REPLAY_LIMITS;
  return text.length <= textMaxChars
    ? text
    : `${Array.from(text.slice(0, 2 * textMaxChars))
        .slice(0, textMaxChars)
        .join("")}…`;
}

/** Dependencies of a replay. */
interface ReplayDeps {
  store: Store;
  embeddings: Embeddings | null;
  models: LanguageModels | null;
  log: Log;
  /** Time limit in milliseconds, instead of the input's. */
  timeLimitMs?: number;
}

/** Number of replies processed concurrently: more would compete for the same processor or provider. */
const CONCURRENCY = 3;

const WHAT = "The replay";

/** The other side, and the names of the fields in which it differs. */
interface Against {
  agent: Agent;
  changed: string[];
}

/** Throws invalid_request with the errors that only the store can detect. */
async function findAgainst(
  store: Store,
  principal: Principal,
  agent: Agent,
  { agentId, ...change }: ReplayQuery["against"],
): Promise<Against> {
  if (agentId !== undefined) {
    const other = await store.agents.find(principal.project, agentId);
    if (other !== null) return { agent: other, changed: changedFields(agent, other) };
    const detail = "is not the ID of an agent in this project";
    throw invalidInput([{ pointer: "/against/agentId", code: "not_found", detail }], WHAT);
  }
  const errors = await errorsOfKbs(store, principal, change.kbIds ?? [], "/against");
  const agents = await store.agents.list(principal.project);
  if (agents.some(({ id, name }) => id !== agent.id && name === change.name)) {
    errors.push({
      pointer: "/against/name",
      code: "taken",
      detail: `is already used by another agent: ${change.name}`,
    });
  }
  if (errors.length > 0) throw invalidInput(errors, WHAT);
  // No tools are called here, so changes of tools have no effect.
  const { tools: _tools, ...fields } = change;
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const other: Agent = { ...agent, ...Object.fromEntries(given) };
  return { agent: other, changed: changedFields(agent, other) };
}

function changedFields(one: Agent, other: Agent): string[] {
  const names = Object.keys(one) as (keyof Agent)[];
  return names
    .filter((name) => name !== "id" && name !== "version")
    .filter((name) => JSON.stringify(one[name]) !== JSON.stringify(other[name]));
}

/** Throws invalid_request with an error for each of these tickets that is not in the project. */
async function requireTickets(store: Store, { project }: Principal, ticketIds: readonly string[]): Promise<void> {
  const found = await store.operatorReplies.findTickets(project, ticketIds);
  const detail = "is not the ID of a ticket in this project";
  const errors = ticketIds.flatMap((id, index): FieldError[] =>
    found.has(id.toLowerCase()) ? [] : [{ pointer: `/ticketIds/${index}`, code: "not_found", detail }],
  );
  if (errors.length > 0) throw invalidInput(errors, WHAT);
}

interface Played {
  side: ReplaySide;
  usage: SideUsage;
}

/** Returns one side's answer, as the pipeline would; an agent that fails has none. */
async function play(
  { store, embeddings, models, log }: ReplayDeps,
  { project }: Principal,
  agent: Agent,
  { reply, history, signal }: { reply: OperatorReply; history: readonly HistoryMessage[]; signal: AbortSignal },
): Promise<Played> {
  const model = (await models?.forAgent(agent)) ?? null;
  let answer: Answer;
  try {
    answer = await answerQuestion({
      agent,
      text: reply.questions.join("\n\n"),
      history,
      language: reply.language,
      search: (query, kbIds, limit) => searchKnowledge({ store, embeddings }, project, { query, kbIds, limit }),
      // Without a ticket, its usage is not counted there; without tools, nothing is called.
      model: model === null ? null : { model, project, ticketId: null, signal },
    });
  } catch (error) {
    signal.throwIfAborted();
    if (isUnavailable(error)) throw error;
    log.error({ error, agentId: agent.id, ticketId: reply.ticketId }, "agent failed during a replay");
    answer = { text: null, markdown: false, sources: [], confidence: 0, why: "the agent failed; see the server log" };
  }
  const { sends, why: sendsWhy } = sendsAnswer(agent, answer);
  const { f1: tokenF1, rougeL } = scoreAnswer(answer.text, reply.text);
  const { usage = null, fallback = null } = answer.model ?? {};
  return {
    side: {
      text: answer.text === null ? null : beginningOf(answer.text),
      markdown: answer.markdown,
      sources: answer.sources,
      confidence: answer.confidence,
      why: answer.why,
      sends,
      sendsWhy,
      tokenF1,
      rougeL,
      model: fallback === null ? (usage?.model ?? null) : null,
    },
    usage: { inputTokens: usage?.inputTokens ?? 0, outputTokens: usage?.outputTokens ?? 0 },
  };
}

/** Processes each item, a few concurrently, until `signal` is aborted. */
async function forEach<Item>(
  items: readonly Item[],
  signal: AbortSignal,
  work: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  const waiting = items.entries();
  const worker = async () => {
    for (const [index, item] of waiting) {
      if (signal.aborted) return;
      await work(item, index);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

const sumOf = (usages: readonly SideUsage[]): SideUsage => ({
  inputTokens: usages.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
  outputTokens: usages.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
});

interface ItemPlayed {
  item: ReplayItem;
  usage: { before: SideUsage; after: SideUsage };
}

/** Runs both sides for one reply. Rejects with the signal's reason when it is aborted meanwhile. */
async function playBoth(
  deps: ReplayDeps,
  principal: Principal,
  [agent, changed]: readonly [Agent, Agent],
  { reply, signal }: { reply: OperatorReply; signal: AbortSignal },
): Promise<ItemPlayed> {
  const history = await deps.store.history.listBefore(reply.home, reply.ticketId, reply.firstSeq, HISTORY_LIMIT);
  const [before, after] = await Promise.all(
    [agent, changed].map((one) => play(deps, principal, one, { reply, history, signal })) as [
      Promise<Played>,
      Promise<Played>,
    ],
  );
  return {
    item: {
      ticketId: reply.ticketId,
      messageId: reply.messageId,
      decidedAt: reply.decidedAt.toISOString(),
      decision: reply.decision,
      question: beginningOf(reply.questions.join("\n\n")),
      sent: { text: beginningOf(reply.text), author: reply.author },
      before: before.side,
      after: after.side,
      verdict: verdictOf(before.side, after.side),
    },
    usage: { before: before.usage, after: after.usage },
  };
}

/**
 * Previews a change: replays past replies that people approved, edited or wrote with the current and the changed agent,
 * using the chat before the question and the current knowledge bases. Messages that one reply answered are asked
 * together. Nothing is sent, stored or changed except the row of the audit log, and no tool is called. Returns what was
 * compared in time, and whether that is incomplete. Scopes agents:execute and tickets:read. Throws invalid_request with
 * every error of the input, those of the change as in `updateAgent`, below `/against`.
 */
export const replayAgent = operation(
  "replayAgent",
  async (deps: ReplayDeps, principal, { id, signal: cancelled }, input): Promise<ReplayResult> => {
    const { store, timeLimitMs = input.timeoutMs ?? REPLAY_LIMITS.timeLimitMs } = deps;
    const checked = checkInput(replayInputSchema, input, WHAT);
    const { limit = REPLAY_LIMITS.defaultReplies, from = null, to = null, ticketIds = null } = checked;
    const agent = await readAgent(store, principal, id);
    const against = await findAgainst(store, principal, agent, checked.against);
    if (ticketIds !== null) await requireTickets(store, principal, ticketIds);
    const query = { agentId: agent.id, ticketIds, from, to, limit };
    const replies = await store.operatorReplies.list(principal.project, query);

    const timeLimit = AbortSignal.timeout(timeLimitMs);
    // An error of the store aborts the other replays.
    const problem = new AbortController();
    const signal = AbortSignal.any([timeLimit, problem.signal, ...(cancelled === undefined ? [] : [cancelled])]);
    const played: (ItemPlayed | undefined)[] = replies.map(() => undefined);
    await forEach(replies, signal, async (reply, index) => {
      try {
        played[index] = await playBoth(deps, principal, [agent, against.agent], { reply, signal });
      } catch (error) {
        // Replays that were interrupted by the time limit are left out, like those not started.
        if (signal.aborted) return;
        problem.abort();
        throw error;
      }
    });
    const compared = played.filter((one) => one !== undefined);
    const items = compared.map(({ item }) => item);
    const left = replies.filter((_reply, index) => played[index] === undefined);
    return {
      agent: { id: agent.id, name: agent.name, version: agent.version },
      against: { id: against.agent.id, name: against.agent.name, changed: against.changed },
      knowledge: "now",
      summary: summarizeReplay(items, {
        before: sumOf(compared.map(({ usage }) => usage.before)),
        after: sumOf(compared.map(({ usage }) => usage.after)),
      }),
      items,
      isComplete: left.length === 0,
      notCompared: left.length,
      notComparedTicketIds: left.map(({ ticketId }) => ticketId),
    };
  },
  { audit: "agents.replay" },
);
