/** A line of a robots.txt that allows or forbids paths (RFC 9309, section 2.2.2). */
export interface PathRule {
  isAllowed: boolean;
  /** Length of the pattern: of the rules that match, the longest decides. */
  length: number;
  /** Whether a path, with its query, is one that this rule speaks of. Takes time in proportion to both lengths at worst. */
  matches(path: string): boolean;
  /** Whether comparing may take long. */
  isCostly: boolean;
}

/** Hexadecimal digits of an escape are the same in upper and lower case (RFC 3986, section 6.2.2.1). */
const upperEscapes = (text: string) => text.replace(/%[0-9a-f]{2}/gi, (escape) => escape.toUpperCase());

/** A path as rules compare it. */
export const comparablePath = ({ pathname, search }: URL): string => upperEscapes(`${pathname}${search}`);

/** Compares from left to right with no way back: each part between two stars is found where it comes first. */
function matchParts(path: string, { start, parts, end }: { start: string; parts: string[]; end: string }): boolean {
  if (!path.startsWith(start)) return false;
  let at = start.length;
  for (const part of parts) {
    const found = path.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return path.length - end.length >= at && path.endsWith(end);
}

/** Reads a pattern: `*` is any text, `$` at its end is the end of the path, and without it a path may go on. */
export function parsePathRule(text: string, isAllowed: boolean): PathRule {
  const pattern = upperEscapes(encodeURI(text.toWellFormed()).replace(/%25/g, "%"));
  const isAnchored = pattern.endsWith("$");
  const [start = "", ...parts] = (isAnchored ? pattern.slice(0, -1) : pattern).split("*");
  const isCostly = parts.length > 0;
  const base = { isAllowed, length: pattern.length, isCostly };
  if (!isCostly) return { ...base, matches: (path) => (isAnchored ? path === start : path.startsWith(start)) };
  const end = isAnchored ? (parts.pop() ?? "") : "";
  const between = parts.filter((part) => part !== "");
  return { ...base, matches: (path) => matchParts(path, { start, parts: between, end }) };
}
