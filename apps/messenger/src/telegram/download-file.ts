import { createReadStream } from "node:fs";
import { isAbsolute } from "node:path";
import { Readable } from "node:stream";
import { BotApiError } from "./bot-api-error.ts";
import { unreachable } from "./classify-failure.ts";

/** Where a file may be, and how much of it is taken. */
interface DownloadOptions {
  /** The Bot API's root, with a slash at its end. */
  root: string;
  token: string;
  maxBytes: number;
  signal: AbortSignal;
}

/**
 * The bytes of a file by what `getFile` has answered. Telegram, and a self-hosted server, serve it under their own
 * address; a self-hosted server with `--local` answers a path on its own disk instead, which is read when this process
 * can, and asked for under the address otherwise.
 *
 * @throws BotApiError without the address, which has the token in it.
 */
export async function downloadFile(file: unknown, options: DownloadOptions): Promise<Buffer> {
  const { path, sizeBytes } = readFileAnswer(file);
  if (sizeBytes !== null && sizeBytes > options.maxBytes) throw tooLarge();
  if (!isAbsolute(path)) return await fetchFile(path, options);
  const below = pathBelowToken(path, options.token);
  if (below === null) throw badFile("The Bot API returned a path outside of its own folder");
  try {
    return await readAtMost(createReadStream(path, { signal: options.signal }), options.maxBytes);
  } catch (error) {
    if (error instanceof BotApiError) throw error;
    return await fetchFile(below, options);
  }
}

function readFileAnswer(file: unknown): { path: string; sizeBytes: number | null } {
  const answer: Partial<Record<"file_path" | "file_size", unknown>> =
    typeof file === "object" && file !== null ? file : {};
  if (typeof answer.file_path !== "string" || answer.file_path === "") throw badFile("The Bot API has no such file");
  return { path: answer.file_path, sizeBytes: typeof answer.file_size === "number" ? answer.file_size : null };
}

/** A local server keeps each bot's files in a folder that is named by its token. Other paths are none of ours. */
function pathBelowToken(path: string, token: string): string | null {
  const parts = path.split("/");
  const place = parts.indexOf(token);
  if (place === -1 || parts.includes("..")) return null;
  return parts.slice(place + 1).join("/");
}

async function fetchFile(path: string, { root, token, maxBytes, signal }: DownloadOptions): Promise<Buffer> {
  const safePath = path.split("/").filter((part) => part !== "" && part !== "." && part !== "..");
  const url = new URL(`./file/bot${token}/${safePath.map(encodeURIComponent).join("/")}`, root);
  let response: Response;
  try {
    // Another address would be given the token by nobody, but would be reached from inside of our network.
    response = await fetch(url, { signal, redirect: "error" });
  } catch {
    throw unreachable("The file could not be downloaded");
  }
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    if (response.status >= 500) throw unreachable("The file could not be downloaded", response.status);
    throw badFile(`The file request returned status ${response.status}`, response.status);
  }
  try {
    return await readAtMost(Readable.fromWeb(response.body), maxBytes);
  } catch (error) {
    throw error instanceof BotApiError ? error : unreachable("The download was interrupted");
  }
}

/** Leaving the loop early destroys the stream, and with it the connection. */
async function readAtMost(stream: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk as Uint8Array);
    sizeBytes += bytes.length;
    if (sizeBytes > maxBytes) throw tooLarge();
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

const tooLarge = (): BotApiError =>
  new BotApiError({ kind: "too_large", code: null, description: "The file is too large" });

const badFile = (description: string, code: number | null = null): BotApiError =>
  new BotApiError({ kind: "bad_request", code, description });
