import { SEARCH_LIMIT, answerQuestion, questionOf } from "@svc/agents";
import { searchWithEmbeddings } from "@svc/knowledge";
import { isUnavailable } from "@svc/store";
import { openRunTools } from "../agent-tools.ts";
import { languageOf } from "../language-of.ts";
import { chosenAgent, historyOf, move } from "../run.ts";
import type { Run, StageContext } from "../run.ts";
import { createTextStream } from "../stream-text.ts";

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
          : searchWithEmbeddings({ store, embeddings }, run.project.id, { query, kbIds, limit }),
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
