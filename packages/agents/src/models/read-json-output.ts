/** What models think aloud, before their answer. */
const THOUGHTS = /^\s*<think(?:ing)?>[\s\S]*?(?:<\/think(?:ing)?>|$)/i;

/** JSON that comes in a fence, which need not be closed yet. */
const FENCE = /```(?:json)?[ \t]*\n?([\s\S]*?)(?:```|$)/i;

/**
 * The JSON of an answer from its beginning on, as far as it has come: models that were not bound to JSON put it in a
 * fence, or words before it. Empty where none has begun.
 */
export function jsonPartOf(text: string): string {
  if (text.startsWith("{")) return text;
  const said = text.replace(THOUGHTS, "");
  const start = said.search(/[[{]/);
  if (start === -1) return "";
  const fence = FENCE.exec(said);
  return fence !== null && fence.index < start ? (fence[1] ?? "").trim() : said.slice(start);
}

/** The value of an answer's JSON, whatever words stand around it; undefined where it is none. */
export function readJsonOutput(text: string): unknown {
  const part = jsonPartOf(text);
  const end = Math.max(part.lastIndexOf("}"), part.lastIndexOf("]"));
  for (const candidate of [text, part, part.slice(0, end + 1)]) {
    try {
      return JSON.parse(candidate) as unknown;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return undefined;
}
