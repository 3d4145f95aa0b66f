/** Bytes of a result that the model gets. */
export const RESULT_MAX_BYTES = 64 * 1024;
/** A shorter value is no secret, and would be found in half of all texts. */
const SECRET_MIN_CHARS = 6;

const MASK = "********";

/** The beginning of a text, in bytes of UTF-8, never cut inside of a character. */
function beginningOf(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  return new TextDecoder().decode(bytes.subarray(0, maxBytes)).replace(/\ufffd+$/, "");
}

/** How credentials are announced in a header: no secrets. */
const SCHEMES: ReadonlySet<string> = new Set(["bearer", "digest"]);

/** The user and the password of `Basic` credentials, as a server reads them. */
function basicPartsOf(value: string): string[] {
  const [, coded] = /^basic\s+(\S+)$/i.exec(value) ?? [];
  if (coded === undefined) return [];
  const pair = Buffer.from(coded, "base64").toString();
  return [pair, pair.slice(pair.indexOf(":") + 1)];
}

/** The parts of a header's value that are secret by themselves: the value, what stands behind `Bearer`, a password. */
const partsOf = (value: string) =>
  [value, ...value.split(/\s+/), ...basicPartsOf(value)].filter(
    (part) => part.length >= SECRET_MIN_CHARS && !SCHEMES.has(part.toLowerCase()),
  );

/** A secret as texts of machines hold it: as it is, in a string of JSON, and in an address. */
const spellingsOf = (secret: string) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];

/**
 * What of a text of the other end may be kept, shown and given to a model: well formed, without NUL, at most 64 KB, and
 * without the values of the headers that were sent there, should it have echoed them.
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
