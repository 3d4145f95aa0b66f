import type { Source } from "@svc/contracts";
import { cutText } from "@svc/text";
import { joinClaims } from "./stream-text.ts";
import type { JudgedClaim } from "./judge-claim.ts";

/** What an answer of a model is worth. */
export interface JudgedAnswer {
  /** All that the model said. */
  whole: string;
  /** What of it may be sent: supported statements and courtesies. */
  sendable: string;
  sources: Source[];
  /** The share of its statements that are supported, by length; 0 where it states nothing. */
  support: number;
  /** The share that only results of tools support, of what is supported. */
  byResults: number;
  isCompared: boolean;
  isSuspect: boolean;
  /** Supported statements, and all of them. */
  supportedCount: number;
  statedCount: number;
  /** Titles of what it cites. */
  titles: string[];
  /** The unsupported sentences and why, in words for an operator; empty where there are none. */
  complaint: string;
}

const MAX_NAMED = 5;
const MAX_NAMED_CHARS = 120;
const MAX_WHY_CHARS = 200;

/** Puts judged claims together. */
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
