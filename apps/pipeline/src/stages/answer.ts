import { HISTORY_LIMIT, answerQuestion, questionOf } from "@svc/agents";
import { searchWithEmbeddings } from "@svc/knowledge";
import { isUnavailable } from "@svc/store";
import { detectLanguage } from "@svc/text";
import { chosenAgent, move } from "../run.ts";
import type { Run } from "../run.ts";
import type { StageContext } from "../stage-context.ts";

/** From this confidence on the text itself says which language it is in. */
const CLEAR_LANGUAGE = 0.5;

/**
 * Lets the agent answer. An agent that fails is no error for the customer: its fault is noted and a person takes over.
 * The answer is kept between tries.
 */
export async function answer({ store, embeddings, log }: StageContext, run: Run): Promise<void> {
  const agent = chosenAgent(run);
  if (agent === null) return;
  move(run, "agent", run.passages === null ? "nothing to look up" : `${run.passages.hits.length} passages found`);
  if (run.answer !== null) return;
  const { message, passages } = run;
  const asked = questionOf(message.text);
  // A fixed reply is the same whatever was said.
  const looksBack = agent.fixedReply === null && message.seq > 1;
  const history = looksBack
    ? await store.history.listBefore(message.project, message.ticketId, message.seq, HISTORY_LIMIT)
    : [];
  run.language = agent.fixedReply === null ? languageOf(run) : null;
  try {
    run.answer = await answerQuestion({
      agent,
      text: message.text,
      history,
      language: run.language,
      search: (query, kbIds, limit) =>
        passages !== null && query === asked
          ? Promise.resolve(passages)
          : searchWithEmbeddings({ store, embeddings }, run.project.id, { query, kbIds, limit }),
    });
  } catch (error) {
    if (isUnavailable(error)) throw error;
    log.error({ error, messageId: message.messageId, agentId: agent.id }, "an agent failed; a person has to answer");
    run.answer = { text: null, markdown: false, sources: [], confidence: 0, why: "the agent failed; the log says how" };
  }
}

/** The language of the chat: that of the first message that says so. */
function languageOf({ ticket, message }: Run): string | null {
  if (ticket !== null && ticket.language !== null) return ticket.language;
  const { language, confidence } = detectLanguage(message.text);
  return confidence < CLEAR_LANGUAGE ? null : language;
}
