import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { closerOf, listenOnLoopback } from "./child-process.ts";

/** A model of a fake Ollama. */
export interface OllamaModel {
  /** With its tag: `llama3.2:3b`. */
  name: string;
  sizeBytes: number;
  contextWindow: number;
}

/** A step of a pull: sends a line, waits, or cuts the connection. */
export type PullStep = object | { wait: Promise<unknown> } | "cut";

/** Lines of a pull, in order. */
export type PullScript = (name: string, index: number) => readonly PullStep[];

/** A request for a pull. */
export interface OllamaPull {
  name: string;
  /** True while its client is connected and it has not ended. */
  readonly isOpen: boolean;
}

/** A server with the part of Ollama's API that lists, pulls and calls models. */
export interface FakeOllama {
  /** For `SVC_OLLAMA_BASE_URL`, such as http://127.0.0.1:20123. */
  readonly url: string;
  /** For `SVC_LLM_BASE_URL`: the same with `/v1`. */
  readonly baseUrl: string;
  /** Returns the installed models. */
  installed(): OllamaModel[];
  install(model: OllamaModel): void;
  /** Requested pulls, oldest first. */
  readonly pulls: readonly OllamaPull[];
  /**
   * Sets the script of all later pulls; the line `success` installs the model. By default, pulls complete immediately.
   */
  pullWith(script: PullScript): void;
  /** Stops or resumes responding; open connections stay open. */
  setSilent(isSilent: boolean): void;
  /** Cuts open connections and frees the port. Idempotent. */
  close(): Promise<void>;
}

const DIGEST = "sha256:c6eb396dbd5992bbe3f5cdb947e8bbc0ee413d7c17e2beaae69f5d569cf982eb";
const TOTAL_BYTES = 1_000_000;

/** Returns the lines of a successful pull, in Ollama's format. */
export function linesOfPull(totalBytes = TOTAL_BYTES, parts = 2): object[] {
  const status = `pulling ${DIGEST.slice(7, 19)}`;
  const layer = Array.from({ length: parts + 1 }, (_, part) => ({
    status,
    digest: DIGEST,
    total: totalBytes,
    ...(part === 0 ? {} : { completed: Math.round((totalBytes * part) / parts) }),
  }));
  return [
    { status: "pulling manifest" },
    ...layer,
    { status: "verifying sha256 digest" },
    { status: "writing manifest" },
    { status: "success" },
  ];
}

/** Ollama's error for a model that its library does not have. */
export const UNKNOWN_MODEL: readonly object[] = [
  { status: "pulling manifest" },
  { error: "pull model manifest: file does not exist" },
];

/** Ollama's error if its disk is full in the middle of a download. */
export const DISK_FULL: readonly object[] = [
  ...linesOfPull().slice(0, 3),
  {
    error: `write /root/.ollama/models/blobs/${DIGEST.replace(":", "-")}-partial: no space left on device`,
  },
];

const nameOf = (text: unknown) => {
  const name = typeof text === "string" ? text : "";
  return name.slice(name.lastIndexOf("/") + 1).includes(":") ? name : `${name}:latest`;
};

async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString("utf8") || "{}") as Record<string, unknown>;
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

/** Starts a fake Ollama with these models on a port of 127.0.0.1. A test file that does not close it fails. */
export async function startFakeOllama(models: readonly OllamaModel[] = []): Promise<FakeOllama> {
  const installed = new Map(models.map((model) => [model.name, model]));
  const pulls: { name: string; isOpen: boolean }[] = [];
  let script: PullScript = () => linesOfPull();
  let isSilent = false;

  function install(name: string, sizeBytes = TOTAL_BYTES): void {
    installed.set(name, { name, sizeBytes, contextWindow: 4_096 });
  }

  async function pull(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = nameOf((await readJson(request))["model"]);
    const entry = { name, isOpen: true };
    pulls.push(entry);
    const closed = new Promise<void>((resolve) => {
      response.once("close", () => {
        entry.isOpen = false;
        resolve();
      });
    });
    response.writeHead(200, { "Content-Type": "application/x-ndjson" });
    for (const step of script(name, pulls.length - 1)) {
      if (step === "cut") {
        // An empty line flushes the lines before it to the client.
        await new Promise<void>((resolve) => response.write("\n", () => resolve()));
        response.destroy();
        return;
      }
      if ("wait" in step) await Promise.race([step.wait, closed]);
      else {
        if ("status" in step && step.status === "success") install(name);
        response.write(`${JSON.stringify(step)}\n`);
      }
      if (!entry.isOpen) return;
    }
    response.end();
  }

  type Route = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;
  const ROUTES: Record<string, Route> = {
    "GET /api/version": (_, response) => sendJson(response, 200, { version: "0.40.12" }),
    "GET /api/tags": (_, response) =>
      sendJson(response, 200, {
        models: [...installed.values()].map(({ name, sizeBytes }) => ({
          name,
          model: name,
          modified_at: "2026-11-01T10:00:00Z",
          size: sizeBytes,
          digest: DIGEST.slice(7),
          details: { format: "gguf", family: "llama", parameter_size: "3.2B", quantization_level: "Q4_K_M" },
        })),
      }),
    async "POST /api/show"(request, response) {
      const model = installed.get(nameOf((await readJson(request))["model"]));
      if (model === undefined) return sendJson(response, 404, { error: "model not found" });
      const model_info = { "general.architecture": "llama", "llama.context_length": model.contextWindow };
      return sendJson(response, 200, { capabilities: ["completion"], model_info });
    },
    "POST /api/pull": pull,
    "GET /v1/models": (_, response) =>
      sendJson(response, 200, {
        object: "list",
        data: [...installed.keys()].map((id) => ({ id, object: "model", created: 1, owned_by: "library" })),
      }),
    async "POST /v1/chat/completions"(request, response) {
      const { model } = await readJson(request);
      const message = { role: "assistant", content: "Hello." };
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      const choices = [{ index: 0, message, finish_reason: "stop" }];
      sendJson(response, 200, { id: "chatcmpl-1", object: "chat.completion", created: 1, model, choices, usage });
    },
  };

  const server = createServer((request, response) => {
    if (isSilent) return;
    const route = ROUTES[`${request.method} ${request.url}`];
    if (route === undefined) {
      sendJson(response, 404, { error: "not found" });
      return;
    }
    Promise.resolve(route(request, response)).catch(() => response.destroy());
  });
  const port = await listenOnLoopback(server);
  const url = `http://127.0.0.1:${port}`;

  return {
    url,
    baseUrl: `${url}/v1`,
    installed: () => [...installed.values()],
    install: ({ name, sizeBytes, contextWindow }) => void installed.set(name, { name, sizeBytes, contextWindow }),
    pulls,
    pullWith(chosen) {
      script = chosen;
    },
    setSilent(silent) {
      isSilent = silent;
    },
    close: closerOf(server, `a fake Ollama at ${url}`),
  };
}
