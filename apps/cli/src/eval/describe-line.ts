import type { Source } from "@svc/contracts";
import { isSent } from "./is-sent.ts";
import type { AnswerOutcome, JudgedLine } from "./judge-line.ts";

/** A line with what was expected and what came out, as it is written to a file. */
export interface LinePrediction {
  line: number;
  id: string;
  text: string;
  /** What the line says; what it does not say is left out. */
  expected: { agent?: string | null; document?: string[] | null; answer?: string[] | null };
  /** The name of the agent that got it; null: none of them. */
  agent: string | null;
  agentConfidence: number;
  agentWhy: string;
  /** Keys of the documents found, the best first; empty where the line names none. */
  documents: string[];
  /** Place of the first wanted document, from 1 on; null where it is not found or none is wanted. */
  place: number | null;
  /** What the agent has to say, whether it is sent or not. */
  answer: string | null;
  answerConfidence: number;
  answerWhy: string;
  /** False when a person has to answer. */
  isSent: boolean;
  sources: Pick<Source, "title" | "documentId" | "quote">[];
  /** Null where the line says nothing about it. */
  isAgentRight: boolean | null;
  answerOutcome: AnswerOutcome | null;
  isAsExpected: boolean | null;
  ms: number;
}

const round = (number: number, digits: number) => Number(number.toFixed(digits));

/** Puts a line into words. `nameOfAgent` and `keyOfDocument` are asked with ids. */
export function describeLine(
  { line, asked, agent, retrieval, answer, isAsExpected }: JudgedLine,
  names: { nameOfAgent: (id: string) => string; keyOfDocument: (id: string) => string },
): LinePrediction {
  const { agentId, documents, answers } = line;
  return {
    line: line.line,
    id: line.id,
    text: line.text,
    expected: {
      ...(agentId === undefined ? {} : { agent: agentId === null ? null : names.nameOfAgent(agentId) }),
      ...(documents === undefined ? {} : { document: documents?.map(({ name }) => name) ?? null }),
      ...(answers === undefined ? {} : { answer: answers }),
    },
    agent: asked.agent?.name ?? null,
    agentConfidence: round(asked.triage.confidence, 4),
    agentWhy: asked.triage.why,
    documents: asked.ranked.map((id) => names.keyOfDocument(id)),
    place: retrieval?.place ?? null,
    answer: asked.answer.text,
    answerConfidence: round(asked.answer.confidence, 4),
    answerWhy: asked.answer.why,
    isSent: isSent(asked.agent, asked.answer),
    sources: asked.answer.sources.map(({ title, documentId, quote }) => ({ title, documentId, quote })),
    isAgentRight: agent?.isRight ?? null,
    answerOutcome: answer?.outcome ?? null,
    isAsExpected,
    ms: round(asked.ms, 2),
  };
}
