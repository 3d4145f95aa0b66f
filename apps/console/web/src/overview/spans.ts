/** The spans of time that can be looked at, in days. */
export const SPANS = [1, 7, 30, 90, 365] as const;
export type Span = (typeof SPANS)[number];

const DEFAULT_SPAN: Span = 30;

/** The span that an address or a choice names; the usual one where it names none. */
export function readSpan(value: unknown): Span {
  return SPANS.find((span) => span === Number(value)) ?? DEFAULT_SPAN;
}
