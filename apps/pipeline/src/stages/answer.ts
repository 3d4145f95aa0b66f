import { setTimeout } from "node:timers/promises";
import { SEARCH_LIMIT, answerQuestion, chooseAgent, chooseWithModel, questionOf } from "@svc/agents";
import { searchEach, searchKnowledge } from "@svc/knowledge";
import type { SearchResult } from "@svc/knowledge";
import { isUnavailable } from "@svc/store";
import type { OnText } from "@svc/agents";
import { announceText } from "@svc/queue";
import { openRunTools } from "../agent-tools.ts";
import { languageOf } from "../language-of.ts";
import { chosenAgent, historyOf, isSpam, move } from "../run.ts";
import type { Run, StageContext, TriageResult } from "../run.ts";

/**
 * Chooses the agent; none for spam. If the choice is unsure and there is a language model, the model is asked. The
 * result is stored between attempts.
 */
export async function triage(context: StageContext, run: Run): Promise<void> {
  if (isSpam(run)) return;
  move(run, "triage", "opened");
  run.triage ??= await choose(context, run);
}

async function choose({ store, triageModels, models, embeddings }: StageContext, run: Run): Promise<TriageResult> {
  const { project, agents, learned, message, signal, kbVersions } = run;
  const currentAgentId = run.ticket?.agentId ?? null;
  const searched: { kbIds: readonly string[]; found: SearchResult }[] = [];
  const decision = await chooseAgent({
    models: triageModels,
    project: project.id,
    agents,
    learned,
    text: message.text,
    currentAgentId,
    search: async (query, kbGroups, limit) => {
      const results = await searchEach({ store, embeddings }, project.id, { query, kbGroups, limit, kbVersions });
      searched.push(...results.flatMap((found, at) => ({ kbIds: kbGroups[at] ?? [], found })));
      return results;
    },
  });
  // An agent without a model has no setting for triage: the configured default model is used.
  const model = (await models?.forAgent({ model: null })) ?? null;
  const adviser = model === null ? null : { model, project: project.id, ticketId: message.ticketId, signal };
  const chosen = await chooseWithModel(decision, { agents, text: message.text, currentAgentId }, adviser);
  // The passages found for triage are reused for the answer, so that one search serves both.
  const kbIds = agents.find(({ id, fixedReply }) => id === chosen.agentId && fixedReply === null)?.kbIds;
  if (kbIds !== undefined) {
    run.passages ??= searched.find((one) => one.kbIds.join() === kbIds.join())?.found ?? null;
  }
  return chosen;
}

/** Finds passages in the agent's knowledge bases. The result is stored between attempts. */
export async function retrieve({ store, embeddings }: StageContext, run: Run): Promise<void> {
  const agent = chosenAgent(run);
  if (agent === null) return;
  move(run, "retrieval", run.triage?.why ?? "");
  if (run.passages !== null || agent.fixedReply !== null || agent.kbIds.length === 0) return;
  run.passages = await searchKnowledge({ store, embeddings }, run.project.id, {
    query: questionOf(run.message.text),
    kbIds: agent.kbIds,
    limit: SEARCH_LIMIT,
    // A model may have taken long to choose the agent.
    kbVersions: run.triage?.model === undefined ? run.kbVersions : {},
  });
}

/** Text that arrives within this time is written together. */
const COLLECT_MS = 100;
/** Longer answers are no longer updated while they grow. */
const MAX_TEXT_CHARS = 100_000;

const ignore: OnText = () => undefined;

/**
 * Returns true if the answer is sent without a review to a caller who may watch it grow: no person has the
 * conversation or must look first, it is not sent by callback, and the run makes no draft.
 */
function isShown(run: Run): boolean {
  const { ticket, message } = run;
  const isOwned = ticket === null || ticket.assignee !== null || ticket.stage === "review" || "review" in run;
  return !isOwned && message.mode !== "webhook" && chosenAgent(run)?.reviewPolicy === "auto";
}

/** Returns the text without half a surrogate pair at its end. */
const wholeCharacters = (text: string) => text.replace(/[\uD800-\uDBFF]$/, "");

/**
 * Shows an answer to waiting callers while it is being made: writes the text so far several times a second, under the
 * lease of the run, so that a worker that has lost it writes nothing. Errors are ignored, since the reply is sent in
 * any case. An answer that may be held for a person is not shown.
 */
export function createTextStream({ store, queues, log }: StageContext, run: Run): OnText {
  if (!isShown(run)) return ignore;
  const { project, ticketId, messageId, leaseId } = run.message;
  let text = "";
  let written = "";
  let isWriting = false;
  let isOver = false;

  async function write(): Promise<void> {
    isWriting = true;
    try {
      // After the decision of the gate, the answer is being sent or held.
      while (!isOver && run.gate === null && !run.signal.aborted && text !== written) {
        written = text;
        const isMine = await store.unfinishedReplies.write(project, {
          ticketId,
          messageId,
          leaseId,
          text: wholeCharacters(written),
        });
        if (!isMine) isOver = true;
        else announceText(queues, ticketId);
        await setTimeout(COLLECT_MS, undefined, { ref: false });
      }
    } catch (error) {
      isOver = true;
      log.debug({ error, messageId }, "partial answer cannot be shown; the reply is not affected");
    } finally {
      isWriting = false;
    }
  }

  return (piece) => {
    text = text.slice(0, piece.offset) + piece.text;
    if (text.length > MAX_TEXT_CHARS) isOver = true;
    if (!isWriting && !isOver) void write();
  };
}

/**
 * Lets the agent answer. If the agent fails, the customer gets no error: the error is recorded and a person takes
 * over. The answer is stored between attempts.
 */
export async function answer(context: StageContext, run: Run): Promise<void> {
  const { store, embeddings, models, log } = context;
  const agent = chosenAgent(run);
  if (agent === null) return;
  move(run, "agent", run.passages === null ? "nothing to look up" : `${run.passages.hits.length} passages found`);
  if (run.answer !== null) return;
  const { message, passages } = run;
  // A fixed reply does not depend on the conversation.
  const history = agent.fixedReply === null ? await historyOf(context, run) : [];
  run.language = agent.fixedReply === null ? languageOfChat(run) : null;
  const model = agent.fixedReply === null ? ((await models?.forAgent(agent)) ?? null) : null;
  try {
    const calls = model === null ? null : await openRunTools(context, run, agent);
    const found = await answerQuestion({
      agent,
      text: message.text,
      history,
      language: run.language,
      said: run.said,
      search: (query, kbIds, limit) =>
        passages !== null && limit <= SEARCH_LIMIT && query === questionOf(message.text)
          ? Promise.resolve(passages)
          : searchKnowledge({ store, embeddings }, run.project.id, { query, kbIds, limit }),
      model:
        model === null || calls === null
          ? null
          : {
              model,
              project: run.project.id,
              ticketId: message.ticketId,
              signal: run.signal,
              tools: calls.tools,
              results: calls.results,
              onText: calls.suppressWhileHeld(createTextStream(context, run)),
            },
    });
    run.answer = calls === null ? found : await calls.finish(found);
  } catch (error) {
    run.signal.throwIfAborted();
    if (isUnavailable(error)) throw error;
    log.error({ error, messageId: message.messageId, agentId: agent.id }, "agent failed; handing over to an operator");
    const why = "the agent failed; see the server log";
    run.answer = { text: null, markdown: false, sources: [], confidence: 0, why, isFault: true };
  }
}

/**
 * Returns the language of the chat, which the first message in a clear language determines; null if none was clear yet.
 */
function languageOfChat({ ticket, message }: Run): string | null {
  return ticket?.language ?? languageOf(message.text);
}
