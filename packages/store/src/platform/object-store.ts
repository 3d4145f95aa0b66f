import { createHash } from "node:crypto";
import { ServiceError } from "@svc/contracts";
import { errorMessage } from "@svc/primitives";
import { AwsClient } from "aws4fetch";

/**
 * Store for contents of files outside PostgreSQL: immutable objects by name. Every call throws `unavailable` if the
 * store is.
 */
export interface ObjectStore {
  /** Writes an object. Resolves when it is stored durably. */
  put(id: string, content: Buffer): Promise<void>;
  /** Reads an object from a position on, as fast as its reader consumes it. Throws not_found. */
  read(id: string, from?: number): AsyncGenerator<Buffer>;
  /** Deletes an object; has no effect if it does not exist. */
  remove(id: string): Promise<void>;
}

/** Timeout of a response of the server; files have at most 10 MB. A download may take as long as its reader. */
const ANSWER_MS = 60_000;

interface S3Location {
  /** URL of the bucket and the prefix of its objects, with a trailing slash. */
  base: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/**
 * Reads `s3://key:secret@host:port/bucket/prefix?region=eu-central-1&tls=false`, with `region` (us-east-1) and `tls`
 * (true) optional and the key and the secret percent-encoded. Returns null for anything else.
 */
export function parseFilesUrl(text: string): S3Location | null {
  if (!URL.canParse(text)) return null;
  const { protocol, username, password, host, pathname, searchParams, hash } = new URL(text);
  const path = pathname.replace(/^\/+|\/+$/g, "");
  const known = new Set(["region", "tls"]);
  const tls = searchParams.get("tls") ?? "true";
  const isKnown = [...searchParams.keys()].every((name) => known.has(name)) && ["true", "false"].includes(tls);
  if (protocol !== "s3:" || username === "" || password === "" || host === "" || path === "" || hash !== "")
    return null;
  if (!isKnown) return null;
  return {
    base: `${tls === "true" ? "https" : "http"}://${host}/${path}/`,
    region: searchParams.get("region") ?? "us-east-1",
    accessKeyId: decodeURIComponent(username),
    secretAccessKey: decodeURIComponent(password),
  };
}

const unavailable = (detail: string, cause?: unknown) =>
  new ServiceError("unavailable", `The file store ${detail}. Retry later.`, {
    headers: { "Retry-After": "10" },
    cause,
  });

/** Opens an S3-compatible store with path-style URLs. Nothing connects before the first call. */
export function openObjectStore(filesUrl: string): ObjectStore {
  const location = parseFilesUrl(filesUrl);
  if (location === null) throw new Error("SVC_FILES_URL is not a URL such as s3://key:secret@host/bucket");
  const { base, ...credentials } = location;
  // The callers retry.
  const client = new AwsClient({ ...credentials, service: "s3", retries: 0 });

  async function send(
    method: string,
    id: string,
    init: { body?: Buffer<ArrayBuffer>; headers?: Record<string, string> } = {},
  ) {
    const waiting = new AbortController();
    const timer = setTimeout(() => waiting.abort(), ANSWER_MS);
    try {
      return await client.fetch(`${base}${id}`, { method, ...init, signal: waiting.signal, redirect: "error" });
    } catch (error) {
      throw unavailable(`is unreachable (${errorMessage(error)})`, error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Throws the error of a response with a status that is not accepted. A missing bucket is 404 too. */
  async function finish(response: Response, accepted: readonly number[]): Promise<void> {
    if (accepted.includes(response.status)) return response.body?.cancel();
    const isMissing = response.status === 404 && (await response.text()).includes("<Code>NoSuchKey</Code>");
    if (isMissing) throw new ServiceError("not_found", "The file store does not have this file.");
    throw unavailable(`responded with status ${response.status}`);
  }

  return {
    async put(id, content) {
      const body = Buffer.from(content);
      const sha256 = createHash("sha256").update(body).digest("hex");
      const headers = { "X-Amz-Content-Sha256": sha256, "Content-Type": "application/octet-stream" };
      await finish(await send("PUT", id, { body, headers }), [200]);
    },

    async *read(id, from = 0) {
      const response = await send("GET", id, from === 0 ? {} : { headers: { Range: `bytes=${from}-` } });
      if (response.body === null || response.status !== (from === 0 ? 200 : 206)) {
        await finish(response, []);
        return;
      }
      for await (const piece of response.body) yield Buffer.from(piece);
    },

    async remove(id) {
      await finish(await send("DELETE", id), [200, 204]);
    },
  };
}
