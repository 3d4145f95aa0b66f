import type { AnswerModel, Answer, HistoryMessage, Search, SearchResult } from "./answer.ts";
import type { Agent } from "@svc/contracts";
import { answerWithModel, holdIfInstructions } from "./grounded/answer-with-model.ts";
import { streamText } from "./grounded/judge-answer.ts";
import { ModelError } from "./models/model-error.ts";
import { quoteAnswer } from "./quote-answer.ts";
import { classifyMessage, contextAfter } from "./talk/classify-message.ts";
import type { MessageClass } from "./talk/classify-message.ts";
import { isForPerson, replyToTalk, whyOfTalk } from "./talk/recognize-talk.ts";

/** Result of a search without knowledge bases. */
const NOTHING: SearchResult = { hits: [], bestPossible: 0, words: [] };

/**
 * Answers a question from the agent's knowledge bases: with a language model if there is one, grounded in passages;
 * otherwise, and whenever the model gives no usable answer in time, verbatim from the documents. An agent with a fixed
 * reply always answers with that reply. A request for a person, a complaint or a statement to a person gets no answer
 * but `needsPerson`; small talk and questions about the assistant are answered in their language. `text` is null if
 * nothing relevant was found. `history` contains the previous messages of the chat, oldest first: with it "And on
 * Windows?" is understood, and "Why?" does not repeat the previous answer; ten messages are enough. `language` is that
 * of the chat (ISO 639-1), for words that exist in several languages. Only the agent's own knowledge bases are
 * searched.
 */
export async function answerQuestion(question: {
  agent: Agent;
  text: string;
  history?: readonly HistoryMessage[];
  language?: string | null;
  /** What `classifyMessage` says of the text after this history, if it is known. */
  said?: MessageClass | null;
  search: Search;
  model?: AnswerModel | null;
}): Promise<Answer> {
  const { agent, text, history = [], model = null } = question;
  const language = question.language ?? undefined;
  // A fixed reply may contain Markdown, as an answer may.
  const said = question.said ?? classifyMessage(text, { language, ...contextAfter(history) });
  const asked = said.kind === "person" ? { needsPerson: true as const } : {};
  if (agent.fixedReply !== null) {
    return { ...plainAnswer(agent.fixedReply, 1, "The agent has a fixed reply.", true), ...asked };
  }
  if (isForPerson(said.kind)) return { ...plainAnswer(null, 0, whyOfTalk(said.kind), false), needsPerson: true };
  const talk = replyToTalk(said, { language, agents: [agent] });
  if (talk !== null) return talk;
  const hasTools = model !== null && (model.tools ?? []).length > 0;
  if (agent.kbIds.length === 0 && !hasTools) {
    return plainAnswer(null, 0, `The agent ${agent.name} has no knowledge base to answer from.`, false);
  }
  const search: Search = (query, kbIds, limit) =>
    kbIds.length === 0 ? Promise.resolve(NOTHING) : question.search(query, kbIds, limit);
  const quoting: { answer?: Promise<Answer> } = {};
  const quote = (query?: string) =>
    query === undefined
      ? (quoting.answer ??= quoteAnswer({ kbIds: agent.kbIds, text, history, language, search }))
      : quoteAnswer({ kbIds: agent.kbIds, text: query, history: [], language: undefined, search });
  if (model === null) return quote();
  const stream = streamText(model.onText);
  try {
    return await answerWithModel({ agent, text, history, language, search, quote, model, stream });
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    const quoted = holdIfInstructions(await quote());
    stream.become(quoted.model?.mustReview === true ? "" : (quoted.text ?? ""));
    // The provider's message is for operators, so it is only in the trace.
    const why = `${model.model.id} gave no usable answer (${error.fault}), so the documents are quoted instead. ${quoted.why}`;
    const fallback = `${error.fault}: ${error.message}`;
    return { ...quoted, why, model: { usage: null, ...quoted.model, fallback } };
  }
}

function plainAnswer(text: string | null, confidence: number, why: string, markdown: boolean): Answer {
  return { text, markdown, sources: [], confidence, why };
}
