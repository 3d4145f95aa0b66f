import { apiAnswer } from "./api-answer.ts";
import type { ApiAnswer } from "./api-answer.ts";

/** The answers that a connection has carried. */
export interface ParsedAnswers {
  /** Those that are there from the first byte to the last, in their order. */
  answers: ApiAnswer[];
  /** Statuses of interim answers (1xx), in their order. */
  interim: number[];
  /** What came after the last whole answer: the beginning of another one, or no HTTP at all. */
  rest: string;
}

const END_OF_HEAD = "\r\n\r\n";

/**
 * Reads HTTP/1.1 answers out of the bytes of a connection (RFC 9112), for tests that speak HTTP worse than any client
 * library lets them. `isClosed` says that no more bytes come: an answer without a length ends there.
 */
export function parseAnswers(bytes: Buffer, isClosed: boolean): ParsedAnswers {
  const parsed: ParsedAnswers = { answers: [], interim: [], rest: "" };
  // One character a byte, so that lengths are bytes.
  let text = bytes.toString("latin1");
  for (;;) {
    const head = parseHead(text);
    if (head === null) break;
    const after = text.slice(head.length);
    if (head.status < 200) {
      parsed.interim.push(head.status);
      text = after;
      continue;
    }
    const body = takeBody(after, head.headers, isClosed);
    if (body === null) break;
    const content = Buffer.from(body.content, "latin1").toString("utf8");
    parsed.answers.push(apiAnswer(head.status, head.headers, content));
    text = after.slice(body.length);
  }
  parsed.rest = text;
  return parsed;
}

function parseHead(text: string): { status: number; headers: Headers; length: number } | null {
  const end = text.indexOf(END_OF_HEAD);
  if (end < 0) return null;
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n");
  const status = /^HTTP\/1\.[01] (\d{3}) /.exec(statusLine)?.[1];
  if (status === undefined) return null;
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return { status: Number(status), headers, length: end + END_OF_HEAD.length };
}

/** The body at the beginning of a text, and how much of the text it takes; null when it is not there whole. */
function takeBody(text: string, headers: Headers, isClosed: boolean): { content: string; length: number } | null {
  if (headers.get("transfer-encoding") === "chunked") return takeChunks(text);
  const length = headers.get("content-length");
  if (length === null) return isClosed ? { content: text, length: text.length } : null;
  return text.length < Number(length) ? null : { content: text.slice(0, Number(length)), length: Number(length) };
}

function takeChunks(text: string): { content: string; length: number } | null {
  let content = "";
  let position = 0;
  for (;;) {
    const line = /^([0-9a-f]+)\r\n/i.exec(text.slice(position));
    if (line === null) return null;
    const [head, size = ""] = line;
    const begin = position + head.length;
    const end = begin + Number.parseInt(size, 16);
    if (text.length < end + 2) return null;
    content += text.slice(begin, end);
    position = end + 2;
    if (end === begin) return { content, length: position };
  }
}
