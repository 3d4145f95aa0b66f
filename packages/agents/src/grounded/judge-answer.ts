import type { Source } from "@svc/contracts";
import { cutText } from "@svc/text";
import { joinClaims } from "./stream-text.ts";
import type { JudgedClaim } from "./judge-claim.ts";

/** Assessment of a model's answer. */
export interface JudgedAnswer {
  /** The whole text of the model. */
  whole: string;
  /** The part that may be sent: supported statements and courtesies. */
  sendable: string;
  sources: Source[];
  /** Share of its statements that are supported, by length; 0 if it states nothing. */
  support: number;
  /** Share of the supported statements that only tool results support. */
  byResults: number;
  isCompared: boolean;
  isSuspect: boolean;
  /** Number of supported statements, and of all statements. */
  supportedCount: number;
  statedCount: number;
  /** Titles of the cited texts. */
  titles: string[];
  /** The unsupported sentences with the reasons, for an operator; empty if there are none. */
  complaint: string;
}

const MAX_NAMED = 5;
const MAX_NAMED_CHARS = 120;
const MAX_WHY_CHARS = 200;

/** Combines judged claims. */
export function judgeAnswer(claims: readonly JudgedClaim[]): JudgedAnswer {
  const stated = claims.filter(({ kind }) => kind !== "courtesy");
  const supported = stated.filter(({ kind }) => kind === "supported");
  const sent = claims.filter(({ kind }) => kind === "supported" || kind === "courtesy");
  const seen = new Set<string>();
  return {
    whole: joinClaims(claims.map(({ text }) => text)),
    sendable: joinClaims(sent.map(({ text }) => text)),
    sources: supported
      .flatMap(({ sources }) => sources)
      .filter(({ chunkId, quote }) => {
        const key = `${chunkId} ${quote}`;
        return !seen.has(key) && seen.add(key);
      }),
    support: shareOf(supported, stated),
    byResults: shareOf(
      supported.filter(({ isByResults }) => isByResults),
      supported,
    ),
    isCompared: supported.every(({ isCompared }) => isCompared),
    isSuspect: claims.some(({ isSuspect }) => isSuspect),
    supportedCount: supported.length,
    statedCount: stated.length,
    titles: [...new Set(supported.flatMap(({ titles }) => titles))],
    complaint: complaintOf(stated.filter(({ kind }) => kind !== "supported")),
  };
}

function shareOf(part: readonly JudgedClaim[], whole: readonly JudgedClaim[]): number {
  const lengthOf = (claims: readonly JudgedClaim[]) => claims.reduce((sum, { text }) => sum + text.length, 0);
  return whole.length === 0 ? 0 : lengthOf(part) / Math.max(1, lengthOf(whole));
}

function complaintOf(unsupported: readonly JudgedClaim[]): string {
  if (unsupported.length === 0) return "";
  const named = unsupported
    .slice(0, MAX_NAMED)
    .map(({ text, why }) => `"${short(text, MAX_NAMED_CHARS)}" (${short(why, MAX_WHY_CHARS)})`);
  const rest = unsupported.length > MAX_NAMED ? ` and ${unsupported.length - MAX_NAMED} more` : "";
  return `Not supported: ${named.join("; ")}${rest}.`;
}

function short(text: string, maxChars: number): string {
  const line = text.replace(/\s+/g, " ");
  return line.length <= maxChars ? line : `${cutText(line, maxChars)}…`;
}
