/** Maximum size of a result for the model, in bytes. */
export const RESULT_MAX_BYTES = 64 * 1024;
/** Minimum length of a secret: a shorter value would match in many texts. */
const SECRET_MIN_CHARS = 6;

const MASK = "********";

/** Returns the beginning of a text, in bytes of UTF-8, without splitting a character. */
function beginningOf(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  return new TextDecoder().decode(bytes.subarray(0, maxBytes)).replace(/\ufffd+$/, "");
}

/** Authentication schemes in a header, which are not secret. */
const SCHEMES: ReadonlySet<string> = new Set(["bearer", "digest"]);

/** Returns the user and the password of `Basic` credentials. */
function basicPartsOf(value: string): string[] {
  const [, coded] = /^basic\s+(\S+)$/i.exec(value) ?? [];
  if (coded === undefined) return [];
  const pair = Buffer.from(coded, "base64").toString();
  return [pair, pair.slice(pair.indexOf(":") + 1)];
}

/** Returns the secret parts of a header's value: the value, the token after `Bearer`, a password. */
const partsOf = (value: string) =>
  [value, ...value.split(/\s+/), ...basicPartsOf(value)].filter(
    (part) => part.length >= SECRET_MIN_CHARS && !SCHEMES.has(part.toLowerCase()),
  );

/** Returns the spellings of a secret: verbatim, in a JSON string, and in a URL. */
const spellingsOf = (secret: string) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];

/**
 * Sanitizes a server's text so that it may be stored, shown and given to a model: well-formed, without NUL, at most 64
 * KB, and without the values of the headers that were sent, in case it echoes them.
 */
export function toolText(text: string, headers: Readonly<Record<string, string>>): string {
  const secrets = Object.values(headers)
    .flatMap(partsOf)
    .flatMap(spellingsOf)
    .toSorted((one, other) => other.length - one.length);
  let clean = text.toWellFormed().replaceAll("\u0000", "\ufffd");
  for (const secret of secrets) clean = clean.replaceAll(secret, MASK);
  const cut = beginningOf(clean, RESULT_MAX_BYTES);
  return cut.length === clean.length ? cut : `${cut}\n(cut off here)`;
}
