import type { DocBlock, DocPage } from "./read-doc-page.ts";

/** An HTTP message on a page: its first line, headers by lower-case name, and its body. */
export interface ShownMessage {
  firstLine: string;
  headers: Map<string, string>;
  body: string;
}

/** A curl command of a page with the response that follows it. */
export interface DocExample {
  /** Identifies the example in a test title. */
  title: string;
  command: string;
  status: number;
  /** The response's JSON, or its head, optionally with a body. */
  answer: { json: string } | { message: ShownMessage };
  /** The callback that is shown after the response. */
  callback: ShownMessage | null;
}

const ANSWER = /^Response `(\d{3})`:$/;

/**
 * Returns the curl commands of a page with their responses: a `sh` block, the words "Response `200`:", and a block of
 * `json` or `http`. A block of `http` that begins with POST, with the `json` after it, is the callback of the example
 * before it. Throws for a curl command without a response, so that every example shows one. Scripts, which begin with
 * #!, are not examples.
 */
export function readDocExamples({ path, blocks }: DocPage): DocExample[] {
  const examples: DocExample[] = [];
  for (const [index, block] of blocks.entries()) {
    const next = blocks[index + 1];
    if (block.language === "http" && block.text.startsWith("POST ")) {
      const example = examples.at(-1);
      if (example === undefined || next?.language !== "json") throw new Error(`${path}:${block.line} is no callback.`);
      example.callback = { ...readMessage(block.text), body: next.text };
    }
    if (block.language !== "sh" || !block.text.includes("curl ") || block.text.startsWith("#!")) continue;
    const status = ANSWER.exec(next?.before ?? "")?.[1];
    if (next === undefined || status === undefined) throw new Error(`${path}:${block.line} shows no answer.`);
    const title = `${path}:${block.line} ${requestOf(block.text)}`;
    examples.push({
      title,
      command: block.text,
      status: Number(status),
      answer: readAnswer(path, next),
      callback: null,
    });
  }
  return examples;
}

function readAnswer(path: string, { language, text, line }: DocBlock): DocExample["answer"] {
  if (language === "json") return { json: text };
  if (language === "http") return { message: readMessage(text) };
  throw new Error(`${path}:${line} is an answer in ${language}; show it as json or http.`);
}

/** Parses a head and the body after it. */
export function readMessage(text: string): ShownMessage {
  const [head = "", ...body] = text.replaceAll("\r", "").trimEnd().split("\n\n");
  const [firstLine = "", ...lines] = head.split("\n");
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { firstLine, headers: new Map(headers), body: body.join("\n\n") };
}

function requestOf(command: string): string {
  const path = /(?::\d+|\$SVC_URL)(\/[^\s"]*)/.exec(command)?.[1] ?? "";
  const method = /-X (\w+)/.exec(command)?.[1] ?? (command.includes("-d '") ? "POST" : "GET");
  return `${command.includes(" -I ") ? "HEAD" : method} ${path}`;
}
