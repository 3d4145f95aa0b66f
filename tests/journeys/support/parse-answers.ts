import { apiAnswer } from "./api-answer.ts";
import type { ApiAnswer } from "./api-answer.ts";

/** The responses on a connection. */
export interface ParsedAnswers {
  /** Complete responses, in order. */
  answers: ApiAnswer[];
  /** Statuses of interim responses (1xx), in order. */
  interim: number[];
  /** Bytes after the last complete response: the beginning of another one, or invalid HTTP. */
  rest: string;
}

const END_OF_HEAD = "\r\n\r\n";

/**
 * Parses HTTP/1.1 responses from the bytes of a connection (RFC 9112), for tests that send what no client library
 * allows. `isClosed` means that no more bytes follow: a response without a length ends there.
 */
export function parseAnswers(bytes: Buffer, isClosed: boolean): ParsedAnswers {
  const parsed: ParsedAnswers = { answers: [], interim: [], rest: "" };
  // One character per byte, so that lengths are bytes.
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

/** Returns the body at the beginning of a text with its length in the text; null if it is incomplete. */
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
