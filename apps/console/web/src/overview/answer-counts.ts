import type { AnswerCounts, AnswerStats } from "@svc/contracts";
import type { Texts } from "../i18n/texts.ts";
import type { BarPart } from "./plots.tsx";

/** Outcomes of the answers of one agent. */
export type AgentAnswers = AnswerStats["agents"][number];

/** Outcomes of an answer, in display order. Each answer has exactly one. */
export const OUTCOMES = ["accepted", "edited", "askedPerson", "ratedBadly", "rejected", "undecided"] as const;
export type Outcome = (typeof OUTCOMES)[number];

const COLORS = {
  accepted: "ok",
  edited: "accent",
  askedPerson: "warn",
  ratedBadly: "bad",
  rejected: "strong",
  undecided: "rest",
} as const satisfies Record<Outcome, BarPart["color"]>;

/** Returns the parts of a bar of outcomes. */
export const outcomeParts = (t: Texts["t"]): BarPart[] =>
  OUTCOMES.map((outcome) => ({ label: t(`answers.${outcome}`), color: COLORS[outcome] }));

/** Returns the counts of all outcomes, in their order. */
export const outcomeValues = (counts: AnswerCounts): number[] => OUTCOMES.map((outcome) => counts[outcome]);

/** Answers of an agent that a threshold would have sent, with their outcomes. */
export interface ThresholdResult {
  sent: number;
  /** Share of all answers; null if there are none. */
  share: number | null;
  /** Share of decided answers that would have been sent; null if there are none. */
  accepted: number | null;
  edited: number | null;
  /** The customer asked for a person or rated badly, or an operator rejected the answer. */
  rejected: number | null;
  undecided: number;
}

/** Returns what a threshold, in whole percent, would have sent of these answers. */
export function resultAt({ answers, byConfidence }: AgentAnswers, thresholdPercent: number): ThresholdResult {
  const above = byConfidence.filter(({ percent }) => percent >= thresholdPercent);
  const sum = (...names: (keyof AnswerCounts)[]) =>
    above.reduce((total, counts) => total + names.reduce((part, name) => part + counts[name], 0), 0);
  const sent = sum("answers");
  const decided = sent - sum("undecided");
  const share = (count: number) => (decided === 0 ? null : count / decided);
  return {
    sent,
    share: answers === 0 ? null : sent / answers,
    accepted: share(sum("accepted")),
    edited: share(sum("edited")),
    rejected: share(sum("askedPerson", "ratedBadly", "rejected")),
    undecided: sum("undecided"),
  };
}

/** Width of a bar of the confidence histogram, in percent. */
export const BIN_PERCENT = 5;

/** Returns the outcomes of answers by confidence, one list for each 5 percent; 100 % belongs to the last one. */
export function histogramOf({ byConfidence }: AgentAnswers): number[][] {
  const bins = Array.from({ length: 100 / BIN_PERCENT }, () => OUTCOMES.map(() => 0));
  for (const counts of byConfidence) {
    const bin = bins[Math.min(Math.floor(counts.percent / BIN_PERCENT), bins.length - 1)];
    for (const [index, value] of outcomeValues(counts).entries())
      if (bin !== undefined) bin[index] = (bin[index] ?? 0) + value;
  }
  return bins;
}
