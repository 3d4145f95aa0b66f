import { localUrl, replyItemSchema } from "@svc/contracts";
import { z } from "zod";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./exit-codes.ts";
import type { ExitCode } from "./exit-codes.ts";

/** Who is asked, with which key, about which project. */
export interface ApiTarget {
  /** Base URL without a path. */
  url: string;
  key: string;
  /** A key that is bound to a project needs none. */
  project?: string;
  /** How the product is started, for advice. */
  startWith: string;
}

const replies = z.array(replyItemSchema);

/** Answer of POST /api/v1/messages in sync mode: 200, or 202 with a status. */
const postedSchema = z.object({
  ok: z.literal(true),
  mode: z.literal("sync"),
  chatId: z.string(),
  ticketId: z.string(),
  status: z.enum(["pending", "in_review"]).optional(),
  timedOut: z.boolean().optional(),
  replies,
  drainUrl: z.string().optional(),
});
export type Posted = z.infer<typeof postedSchema>;

/** Answer of GET /api/v1/messages/:chatId. */
const drainedSchema = z.object({ ok: z.literal(true), chatId: z.string(), replies, more: z.boolean() });
export type Drained = z.infer<typeof drainedSchema>;

const problemSchema = z.object({ code: z.string(), detail: z.string(), requestId: z.string().optional() });

const EXIT_OF_STATUS: Readonly<Record<number, ExitCode>> = {
  401: EXIT.notAllowed,
  403: EXIT.notAllowed,
  502: EXIT.notRunning,
  503: EXIT.notRunning,
  504: EXIT.notRunning,
};

/** How much longer than the server the client waits, so that the server's own answer comes first. */
const PATIENCE_MS = 10_000;

/** Header values are bytes (RFC 9110, section 5.5). */
const UNSENDABLE = /[^\t\u0020-\u007e\u0080-\u00ff]/;

async function send(target: ApiTarget, path: string, init: { body?: object; waitMs: number }): Promise<Response> {
  const { url, key, project } = target;
  if (UNSENDABLE.test(key)) {
    throw new CliError(
      "invalid_key",
      EXIT.notAllowed,
      "The key has characters that cannot be sent. Check SVC_ADMIN_KEY.",
    );
  }
  const signal = AbortSignal.timeout(init.waitMs + PATIENCE_MS);
  try {
    return await fetch(new URL(path, url), {
      method: init.body === undefined ? "GET" : "POST",
      headers: {
        "X-Api-Key": key,
        ...(project === undefined ? {} : { "x-svc-project": project }),
        ...(init.body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
      redirect: "error",
      signal,
    });
  } catch (error) {
    if (signal.aborted) {
      throw new CliError("timeout", EXIT.notRunning, `${url} took the call and does not answer. Look at its log.`, {
        cause: error,
      });
    }
    const advice = `Start it with: ${target.startWith}\nIf it runs elsewhere, name its address with --url.`;
    throw new CliError("not_running", EXIT.notRunning, `Nothing answers at ${url}. ${advice}`, { cause: error });
  }
}

/** The JSON of an answer, or undefined where it has none: then no schema takes it. */
async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

async function readAnswer<Answer>(target: ApiTarget, response: Response, schema: z.ZodType<Answer>): Promise<Answer> {
  const body = await readJson(response);
  if (!response.ok) {
    const problem = problemSchema.safeParse(body);
    if (problem.success) {
      const { code, detail, requestId } = problem.data;
      const trace = response.status >= 500 && requestId !== undefined ? ` (request ${requestId})` : "";
      throw new CliError(code, EXIT_OF_STATUS[response.status] ?? EXIT.failed, `${detail}${trace}`);
    }
  }
  const answer = schema.safeParse(body);
  if (answer.success) return answer.data;
  throw new CliError(
    "not_this_product",
    EXIT.notRunning,
    `What answers at ${target.url} (status ${response.status}) is not this product. Check --url and SVC_API_PORT.`,
  );
}

/** Posts a message and waits for its answer. Throws CliError for everything but 200 and 202. */
export async function postMessage(
  target: ApiTarget,
  message: { text: string; chatId?: string; timeoutMs: number },
): Promise<Posted> {
  const response = await send(target, "/api/v1/messages", {
    body: { ...message, mode: "sync" },
    waitMs: message.timeoutMs,
  });
  return readAnswer(target, response, postedSchema);
}

/** Takes the replies that wait for a chat; waits up to `waitMs` for one. */
export async function collectReplies(target: ApiTarget, chatId: string, waitMs: number): Promise<Drained> {
  const path = `/api/v1/messages/${encodeURIComponent(chatId)}?wait=${waitMs}`;
  return readAnswer(target, await send(target, path, { waitMs }), drainedSchema);
}

const runningChannelSchema = z.object({
  state: z.enum(["running", "stopped", "failing"]),
  since: z.string(),
  error: z.string().nullable(),
});
/** A channel as the process that holds it describes it. */
export type RunningChannel = z.infer<typeof runningChannelSchema>;

/** What is at the address where the API should be. */
export type ApiState =
  | {
      kind: "ours";
      status: "pass" | "warn" | "fail";
      version: string;
      details: string[];
      /** By the channels' ids; null when they are not told, because no key was sent or all is not well. */
      channels: Partial<Record<string, RunningChannel>> | null;
    }
  | { kind: "stranger" }
  | { kind: "other_program" }
  | { kind: "nothing" };

const PROBE_TIMEOUT_MS = 3_000;

const checkSchema = z.object({ status: z.string(), detail: z.string() });
const healthSchema = z.object({
  status: z.enum(["pass", "warn", "fail"]),
  version: z.string(),
  checks: z.record(z.string(), z.unknown()).optional(),
});
const channelChecksSchema = z.object({ channels: z.record(z.string(), runningChannelSchema) });

/** Asks the address for its health, with a key to tell this installation from another one of the product. */
export async function probeApi(url: string, key: string | null): Promise<ApiState> {
  let response: Response;
  try {
    response = await fetch(new URL("/api/v1/health", url), {
      headers: key === null || UNSENDABLE.test(key) ? {} : { "X-Api-Key": key },
      redirect: "error",
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    });
  } catch (error) {
    const cause: unknown = error instanceof Error ? error.cause : undefined;
    const isRefused = cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED";
    return { kind: isRefused ? "nothing" : "other_program" };
  }
  const body = await readJson(response);
  const health = healthSchema.safeParse(body);
  if (!health.success) return { kind: "other_program" };
  // Health is for everybody; only an administrator of this installation is told its parts.
  const isStranger = health.data.checks === undefined && health.data.status !== "fail";
  if (key !== null && isStranger) return { kind: "stranger" };
  const details = Object.values(health.data.checks ?? {}).flatMap((value) => {
    const check = checkSchema.safeParse(value);
    return check.success && check.data.status !== "pass" ? [check.data.detail] : [];
  });
  const channels = channelChecksSchema.safeParse(health.data.checks);
  return {
    kind: "ours",
    status: health.data.status,
    version: health.data.version,
    details,
    channels: channels.success ? channels.data.channels : null,
  };
}

/** Where this machine reaches the API of a configuration. */
export function apiUrlOf({ bindHost, ports }: { bindHost: string | undefined; ports: { api: number } }): string {
  return localUrl(bindHost ?? "127.0.0.1", ports.api);
}
