import type { Asked } from "./ask-product.ts";
import { isInAnswer } from "./is-in-answer.ts";
import { isSent } from "./is-sent.ts";
import type { ResolvedLine } from "./resolve-lines.ts";

/** How an answer ended: it contains what it must, does not, or was handed to a person. */
export type AnswerOutcome = "right" | "wrong" | "handed_over";

/** What came out of a line. A part that the line says nothing about is null. */
export interface JudgedLine {
  line: ResolvedLine;
  asked: Asked;
  agent: { isRight: boolean; expectsNone: boolean } | null;
  retrieval: {
    /** Names of the wanted documents, each once. */
    wanted: string[];
    /** What was found, the best first: by the wanted name, else the id of the document. */
    ranked: string[];
    /** Place of the first wanted one, from 1 on; null below the tenth. */
    place: number | null;
  } | null;
  answer: {
    outcome: AnswerOutcome;
    /** True when a person has to answer. */
    expectsHandover: boolean;
    /** Whether what the agent has to say contains what it must, also when it was not sure enough to send it. */
    isTextRight: boolean;
    isRight: boolean;
  } | null;
  /** Whether all holds that the line says; null when it says nothing. */
  isAsExpected: boolean | null;
}

/** A wanted document among so many is where the line wants it. */
export const GOOD_PLACE = 3;

/** Compares what came out of a line with what it says. With `hasTriage` false its agent is not looked at. */
export function judgeLine(line: ResolvedLine, asked: Asked, hasTriage: boolean): JudgedLine {
  const agent = hasTriage ? judgeAgent(line, asked) : null;
  const retrieval = judgeRetrieval(line, asked);
  const answer = judgeAnswer(line, asked);
  const verdicts = [
    ...(agent === null ? [] : [agent.isRight]),
    ...(retrieval === null ? [] : [retrieval.place !== null && retrieval.place <= GOOD_PLACE]),
    ...(answer === null ? [] : [answer.isRight]),
  ];
  return {
    line,
    asked,
    agent,
    retrieval,
    answer,
    isAsExpected: verdicts.length === 0 ? null : verdicts.every((isRight) => isRight),
  };
}

function judgeAgent({ agentId }: ResolvedLine, { agent }: Asked): JudgedLine["agent"] {
  if (agentId === undefined) return null;
  return { isRight: (agent?.id ?? null) === agentId, expectsNone: agentId === null };
}

function judgeRetrieval({ documents }: ResolvedLine, asked: Asked): JudgedLine["retrieval"] {
  if (documents === undefined || documents === null) return null;
  const nameOf = new Map(documents.flatMap(({ name, ids }) => ids.map((id) => [id, name] as const)));
  const wanted = [...new Set(nameOf.values())];
  const ranked = [...new Set(asked.ranked.map((id) => nameOf.get(id) ?? id))];
  const first = ranked.findIndex((name) => wanted.includes(name));
  return { wanted, ranked, place: first === -1 ? null : first + 1 };
}

function judgeAnswer({ answers, documents }: ResolvedLine, { agent, answer }: Asked): JudgedLine["answer"] {
  // Where nothing in the knowledge bases answers, a person has to, unless the line knows an answer all the same.
  const wanted = answers === undefined && documents === null ? null : answers;
  if (wanted === undefined) return null;
  const sent = isSent(agent, answer);
  const isTextRight = wanted?.some((part) => isInAnswer(answer.text ?? "", part)) ?? false;
  const outcome = sent ? (isTextRight ? "right" : "wrong") : "handed_over";
  const expectsHandover = wanted === null;
  return { outcome, expectsHandover, isTextRight, isRight: expectsHandover ? !sent : outcome === "right" };
}

/** How bad it is that a line is not as expected: a wrong answer that was sure is the worst. 0 when it is as expected. */
export function badnessOf({ asked, agent, retrieval, answer }: JudgedLine): number {
  const isHeld = answer?.outcome === "handed_over";
  const ofAnswer =
    answer === null || answer.isRight ? 0 : isHeld ? 1 + (1 - asked.answer.confidence) : 3 + asked.answer.confidence;
  const ofAgent = agent === null || agent.isRight ? 0 : 2 + asked.triage.confidence;
  const place = retrieval === null ? 1 : (retrieval.place ?? 11);
  const ofRetrieval = place <= GOOD_PLACE ? 0 : 1 + place / 11;
  return Math.max(ofAnswer, ofAgent, ofRetrieval);
}
