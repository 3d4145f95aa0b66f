/** Characters of an answer that are looked through for what it says. */
const SEARCHED_CHARS = 10_000;

/** What looks like somebody's key or token, whoever's it is. */
const KEYS = /\b(?:sk|pk|rk|xox[a-z]|gh[a-z]|glpat|AKIA)[-_][\w-]{8,}|\bBearer\s+[\w.~+/-]{8,}=*/gi;

/**
 * The beginning of what a server says of an error, for operators: one line of at most `maxChars`, and without the secret
 * of the call, which some servers repeat, or anything that looks like a key. The `message` of a JSON answer, else the answer itself. Empty for an empty one.
 */
export function excerptOf(
  answer: string,
  { secret, maxChars }: { secret?: string | undefined; maxChars: number },
): string {
  const text = answer.slice(0, SEARCHED_CHARS);
  const message = /"message"\s*:\s*"((?:[^"\\]|\\.)*)/.exec(text)?.[1] ?? text;
  const clean = secret === undefined || secret === "" ? message : message.replaceAll(secret, "[key]");
  return clean.replaceAll(KEYS, "[key]").replaceAll(/\s+/g, " ").replaceAll(/\p{C}/gu, "").trim().slice(0, maxChars);
}
