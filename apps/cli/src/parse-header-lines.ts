/** Headers as Node gives them: names in lower case, and a list where one was sent more than once. */
export type Headers = Record<string, string | string[]>;

/** Marks of `curl -v` before a line, a name (RFC 9110, section 5.6.2) with or without quotes, and its value. */
const LINE = /^[<>]?\s*(["']?)([!#$%&'*+.^_`|~0-9a-z-]+)\1\s*:\s*(.*?)\s*$/i;

/** The value of a header whose name stood in quotes, as in a log of JSON. */
function unquote(value: string): string {
  return /^(["'])(.*)\1,?$/.exec(value)?.[2] ?? value;
}

/**
 * Reads the headers in lines as a log of requests, `curl -i` or `curl -v` shows them. The first line of a request or
 * answer and everything else that is no header is left out; what follows the first empty line is a body.
 */
export function parseHeaderLines(text: string): Headers {
  const headers = new Map<string, string | string[]>();
  for (const line of text.trimStart().split(/\r?\n/)) {
    if (line.trim() === "" || /^[<>]\s*$/.test(line)) break;
    const [, quote, name, value] = LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    const known = headers.get(name.toLowerCase());
    const found = quote === "" ? value : unquote(value);
    headers.set(name.toLowerCase(), known === undefined ? found : [known, found].flat());
  }
  return Object.fromEntries(headers);
}
