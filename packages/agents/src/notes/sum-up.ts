import { tokenize } from "@svc/text";
import { cut } from "./find-issues.ts";
import type { CleanPart, NoteIssue } from "./find-issues.ts";
import type { IssueSeverity } from "./issue-words.ts";
import { NOTES_LIMITS } from "./notes-summary.ts";
import { pickSentences } from "./pick-sentences.ts";
import { stopped } from "./stopped.ts";

/** A summary has so many words at most, and no more than this share of a longer text. */
const SUMMARY_WORDS = 170;
const SUMMARY_SHARE = 0.4;
/** Notes of so few words are their own summary. */
const SHORT_WORDS = 40;

/** In which order things are said. What is no issue is like a normal one. */
const RANKS: Readonly<Record<IssueSeverity, number>> = { urgent: 0, high: 1, normal: 2, low: 3 };

interface Statement {
  text: string;
  severity: IssueSeverity;
  /** Sentences of one issue have its number, any other has one of its own. */
  topic: number;
  place: number;
}

/**
 * What notes say in short, in their own sentences: all of short ones, else those that cover most of what they are about.
 * What hurts most comes first, then what says most; sentences of one issue stay together, in their order.
 */
export function sumUp(parts: readonly CleanPart[], issues: readonly NoteIssue[], language: string): string {
  const said = statementsOf(parts, issues);
  const words = said.reduce((sum, { text }) => sum + tokenize(text).length, 0);
  const maxWords = Math.min(SUMMARY_WORDS, Math.max(SHORT_WORDS, Math.round(words * SUMMARY_SHARE)));
  const picked =
    words <= SHORT_WORDS
      ? []
      : pickSentences(
          said.map(({ text, severity }) => ({ text, comesFirst: severity === "urgent" })),
          { maxWords, language },
        );
  const chosen = picked.length === 0 ? said : picked.flatMap((place) => said[place] ?? []);
  const order = new Map<number, number>();
  for (const { topic } of chosen) if (!order.has(topic)) order.set(topic, order.size);
  const orderOf = ({ topic }: Statement) => order.get(topic) ?? 0;
  return cut(
    chosen
      .toSorted((a, b) => RANKS[a.severity] - RANKS[b.severity] || orderOf(a) - orderOf(b) || a.place - b.place)
      .map(({ text }) => stopped(text))
      .join(" "),
    NOTES_LIMITS.summaryMaxChars,
  );
}

function statementsOf(parts: readonly CleanPart[], issues: readonly NoteIssue[]): Statement[] {
  const issueAt = new Map(
    issues.flatMap(({ severity, quotes }, topic) => quotes.map(({ start }) => [start, { severity, topic }] as const)),
  );
  return parts.flatMap(({ kind, text, start }, place): Statement[] => {
    if (kind === "heading" || text === "") return [];
    return [{ text, place, ...(issueAt.get(start) ?? { severity: "normal", topic: issues.length + place }) }];
  });
}
