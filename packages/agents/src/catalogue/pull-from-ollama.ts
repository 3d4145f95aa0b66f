import { StringDecoder } from "node:string_decoder";
import type { ModelPullProgress, ErrorCode } from "@svc/contracts";
import { PullError, asProviderError, authorizationOf, countOf, fieldsOf } from "./create-ollama.ts";
import type { OllamaTarget } from "./create-ollama.ts";

interface KnownError {
  /** Pattern of Ollama's message. */
  said: RegExp;
  code: ErrorCode;
  explain: (name: string) => string;
}

/** Ollama's messages about pulls that a retry would not help. */
const KNOWN_ERRORS: readonly KnownError[] = [
  {
    said: /no space left|not enough (?:disk )?space|disk (?:is )?full|enospc/i,
    code: "disk_full",
    explain: (name) =>
      `The disk of the Ollama machine is full. Free disk space there (for example with ollama rm <model>), then pull ${name} again to resume.`,
  },
  {
    said: /file does not exist|manifest unknown|model .*not found|repository not found|not a valid model|invalid model name/i,
    code: "not_found",
    explain: (name) => `The model ${name} does not exist. Check its name and tag at https://ollama.com/library.`,
  },
  {
    said: /newer version of ollama|requires a newer|upgrade ollama/i,
    code: "pull_failed",
    explain: (name) => `${name} needs a newer Ollama than the one that is running. Update Ollama, then pull it again.`,
  },
  {
    said: /unauthorized|access denied|authentication required|forbidden/i,
    code: "pull_failed",
    explain: (name) =>
      `The registry allows only the owner of ${name} to download it. Sign in on the Ollama machine (ollama signin).`,
  },
];

const EXCERPT_CHARS = 200;

/** Options to follow and abort a pull. */
export interface PullOptions {
  /** Called for each progress event; there are many per second. */
  onProgress: (progress: ModelPullProgress) => void;
  /** Aborts the pull; the next one reuses what was downloaded. */
  signal: AbortSignal;
  /**
   * Time without data after which the pull fails; 3 minutes by default, because Ollama sends nothing while it verifies
   * large files.
   */
  silenceMs?: number;
}

const SILENCE_MS = 180_000;
/** Maximum length of a line, in characters; Ollama's are short. */
const MAX_LINE_CHARS = 65_536;
/** Maximum number of layers of a model; the largest have some dozens. */
const MAX_LAYERS = 1_000;

const cut = (name: string, cause?: unknown) =>
  new PullError("pull_failed", `The connection to Ollama was lost while pulling ${name}. Pull it again to resume.`, {
    isFinal: false,
    cause,
  });

/** Adds up the progress that Ollama reports layer by layer. */
function createTally() {
  const layers = new Map<string, { total: number; completed: number }>();
  let status = "pulling manifest";
  return {
    /** Reads one line and returns the progress of the whole pull. */
    add(line: Readonly<Record<string, unknown>>): ModelPullProgress {
      if (typeof line["status"] === "string") status = excerptOf(line["status"]);
      const total = countOf(line["total"]);
      const { digest } = line;
      if (typeof digest === "string" && total !== null && (layers.size < MAX_LAYERS || layers.has(digest))) {
        layers.set(digest, { total, completed: Math.min(countOf(line["completed"]) ?? 0, total) });
      }
      const sum = (part: "total" | "completed") =>
        Math.min(
          [...layers.values()].reduce((all, layer) => all + layer[part], 0),
          Number.MAX_SAFE_INTEGER,
        );
      return { status, completedBytes: sum("completed"), totalBytes: layers.size === 0 ? null : sum("total") };
    },
  };
}

/** Yields the lines of a response as they arrive. */
async function* linesOf(body: AsyncIterable<Uint8Array>, onBytes: () => void): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for await (const chunk of body) {
    onBytes();
    const lines = (rest + decoder.write(Buffer.from(chunk))).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
    if (rest.length > MAX_LINE_CHARS) throw new Error("a line without a line break");
  }
  yield rest + decoder.end();
}

function parseLine(line: string): Readonly<Record<string, unknown>> | null {
  if (line.trim() === "") return null;
  try {
    return fieldsOf(JSON.parse(line));
  } catch {
    throw new Error("a line that is not JSON");
  }
}

/** Reads the response to its end; rejects unless it reports that the model is installed. */
async function followPull(
  name: string,
  lines: AsyncIterable<string>,
  { explain, onProgress }: Pick<PullOptions, "onProgress"> & { explain: (said: string) => PullError },
): Promise<void> {
  const tally = createTally();
  for await (const text of lines) {
    const line = parseLine(text);
    if (line === null) continue;
    if (typeof line["error"] === "string") throw explain(line["error"]);
    onProgress(tally.add(line));
    if (line["status"] === "success") return;
  }
  throw cut(name);
}

async function post(target: OllamaTarget, name: string, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(`${target.rootUrl}/api/pull`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...authorizationOf(target) },
      body: JSON.stringify({ model: name, stream: true }),
      redirect: "error",
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    const { message } = asProviderError(error, signal);
    const advice = "Start it with: ollama serve. Then pull the model again.";
    throw new PullError("unavailable", `Ollama ${message}. ${advice}`, { isFinal: false, cause: error });
  }
}

/**
 * Pulls a model to an Ollama and resolves when it is installed there. Ollama continues where an earlier pull
 * was cut off. Rejects with a `PullError`, or with the reason of the signal.
 */
export async function pullFromOllama(target: OllamaTarget, name: string, options: PullOptions): Promise<void> {
  // Some proxies repeat the key that they reject.
  const { apiKey } = target;
  const explain = (said: string) =>
    explainPullError(name, apiKey === undefined ? said : said.replaceAll(apiKey, "[key]"));
  const { signal, silenceMs = SILENCE_MS } = options;
  const silence = new AbortController();
  const ending = AbortSignal.any([signal, silence.signal]);
  const minutes = Math.max(1, Math.round(silenceMs / 60_000));
  const whenSilent = () =>
    silence.abort(
      new PullError("pull_failed", `Ollama has sent no progress for ${name} for ${minutes} min. Check its log.`, {
        isFinal: false,
      }),
    );
  const timer = setTimeout(whenSilent, silenceMs);
  try {
    const response = await post(target, name, ending);
    if (!response.ok) {
      let first = "";
      for await (const line of linesOf(response.body ?? neverAnything(), () => undefined)) {
        first = line;
        break;
      }
      throw explain(`${response.status} ${first}`);
    }
    const lines = linesOf(response.body ?? neverAnything(), () => timer.refresh());
    await followPull(name, lines, { explain, onProgress: options.onProgress });
  } catch (error) {
    ending.throwIfAborted();
    throw error instanceof PullError ? error : cut(name, error);
  } finally {
    clearTimeout(timer);
    // Closes the connection of a response that was not read to its end.
    silence.abort();
  }
}

// oxlint-disable-next-line require-yield -- There is nothing to yield.
async function* neverAnything(): AsyncGenerator<Uint8Array> {}

/** Returns the beginning of a server's message on one line, without control characters. */
function excerptOf(text: string): string {
  return text.slice(0, 2_000).replaceAll(/\s+/g, " ").replaceAll(/\p{C}/gu, "").trim().slice(0, EXCERPT_CHARS);
}

/** Returns the error for Ollama's message about a pull. Unknown errors may be temporary. */
function explainPullError(name: string, said: string): PullError {
  const known = KNOWN_ERRORS.find((error) => error.said.test(said));
  if (known !== undefined) return new PullError(known.code, known.explain(name), { isFinal: true });
  const words = excerptOf(said);
  return new PullError(
    "pull_failed",
    `Ollama could not pull ${name}${words === "" ? "" : `: ${words}`}. Check its log, then pull it again.`,
    { isFinal: false },
  );
}
