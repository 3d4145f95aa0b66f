import { ServiceError, createClient, isValidHeaderValue } from "@svc/client";
import type { Client, SentMessage } from "@svc/client";
import { localUrl, runningChannelSchema } from "@svc/contracts";
import type { DrainAnswer } from "@svc/contracts";
import { z } from "zod";
import { errorCode } from "@svc/primitives";
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

/** The JSON of an answer, or undefined where it has none: then no schema takes it. */
async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** A message that was accepted in mode sync, with what there is of its answer. */
export type Posted = Extract<SentMessage, { mode: "sync" }>;

/** What the status of a refused call means for the exit code; the others are plain failures. */
export const EXIT_OF_STATUS: Readonly<Record<number, ExitCode>> = {
  401: EXIT.notAllowed,
  403: EXIT.notAllowed,
  502: EXIT.notRunning,
  503: EXIT.notRunning,
  504: EXIT.notRunning,
};

/** Nothing listens at the address of a target. */
export function notRunning({ url, startWith }: ApiTarget, cause: unknown): CliError {
  const advice = `Start it with: ${startWith}\nIf it runs elsewhere, set its URL with --url.`;
  return new CliError("not_running", EXIT.notRunning, `No server responds at ${url}. ${advice}`, { cause });
}

/** Throws CliError for a key that no header can carry. */
export function requireSendableKey({ key }: ApiTarget): void {
  if (isValidHeaderValue(key)) return;
  throw new CliError(
    "invalid_key",
    EXIT.notAllowed,
    "The API key contains characters that cannot be sent. Check SVC_ADMIN_KEY.",
  );
}

/** What the client's own faults mean for somebody who runs a command; the others are answers of the product. */
const CLIENT_FAULTS: Readonly<Record<string, (target: ApiTarget, fault: ServiceError) => CliError>> = {
  unreachable: notRunning,
  timeout: ({ url }, cause) =>
    new CliError(
      "timeout",
      EXIT.notRunning,
      `${url} accepted the request but did not respond. Check the server's log.`,
      { cause },
    ),
  unexpected_answer: (target, { status }) => notThisProduct(target, `status ${status}`),
};

function notThisProduct({ url }: ApiTarget, answer: string): CliError {
  return new CliError(
    "not_this_product",
    EXIT.notRunning,
    `The server at ${url} (${answer}) is not this product. Check --url and SVC_API_PORT.`,
  );
}

/** A failed call in the words of the command line. */
function explain(target: ApiTarget, fault: ServiceError): CliError {
  const { code, status, detail, requestId } = fault;
  const ofClient = CLIENT_FAULTS[code];
  if (ofClient !== undefined) return ofClient(target, fault);
  const trace = status !== null && status >= 500 && requestId !== null ? ` (request ${requestId})` : "";
  return new CliError(code, EXIT_OF_STATUS[status ?? 0] ?? EXIT.failed, `${detail}${trace}`, { cause: fault });
}

/**
 * Calls the API. Whoever runs a command can run it again, so that nothing is tried twice unless that is asked for.
 * `timeoutMs` is how long an answer may take, 10 s where absent. Throws CliError for every fault.
 */
export async function withClient<Result>(
  target: ApiTarget,
  call: (client: Client) => Promise<Result>,
  { maxRetries = 0, timeoutMs }: { maxRetries?: number; timeoutMs?: number } = {},
): Promise<Result> {
  const { url, key, project } = target;
  requireSendableKey(target);
  try {
    return await call(createClient({ url, key, project, maxRetries, timeoutMs }));
  } catch (error) {
    throw error instanceof ServiceError ? explain(target, error) : error;
  }
}

/** Posts a message and waits for its answer. Throws CliError for everything but 200 and 202. */
export async function postMessage(
  target: ApiTarget,
  message: { text: string; chatId?: string; timeoutMs: number },
): Promise<Posted> {
  const sent = await withClient(target, (client) => client.send({ ...message, mode: "sync" }));
  if (sent.mode === "sync") return sent;
  throw notThisProduct(target, `mode ${sent.mode}`);
}

/** Takes the replies that wait for a chat; waits up to `waitMs` for one. */
export function collectReplies(target: ApiTarget, chatId: string, waitMs: number): Promise<DrainAnswer> {
  return withClient(target, (client) => client.drain(chatId, { waitMs }));
}

const checkSchema = z.object({ status: z.string(), detail: z.string() });
const channelSchema = runningChannelSchema.omit({ id: true });
/** A channel as the process that holds it describes it. */
export type RunningChannel = z.infer<typeof channelSchema>;

/** How a part of the product is, in its own words. */
export type PartHealth = z.infer<typeof checkSchema>;

/** What is at the address where the API should be. */
export type ApiState =
  | {
      kind: "ours";
      status: "pass" | "warn" | "fail";
      version: string;
      details: string[];
      /** Its language models; null when it has none, `unknown` when its parts are not told. */
      models: PartHealth | "unknown" | null;
      /** By the channels' ids; null when they are not told, because no key was sent or all is not well. */
      channels: Partial<Record<string, RunningChannel>> | null;
    }
  | { kind: "stranger" }
  | { kind: "other_program" }
  | { kind: "nothing" };

const PROBE_TIMEOUT_MS = 3_000;

const healthSchema = z.object({
  status: z.enum(["pass", "warn", "fail"]),
  version: z.string(),
  checks: z.record(z.string(), z.unknown()).optional(),
});
const channelChecksSchema = z.object({ channels: z.record(z.string(), channelSchema) });

/** Asks the address for its health, with a key to tell this installation from another one of the product. */
export async function probeApi(url: string, key: string | null): Promise<ApiState> {
  let response: Response;
  try {
    response = await fetch(new URL("/api/v1/health", url), {
      headers: key === null || !isValidHeaderValue(key) ? {} : { "X-Api-Key": key },
      redirect: "error",
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    });
  } catch (error) {
    const cause: unknown = error instanceof Error ? error.cause : undefined;
    const isRefused = errorCode(cause) === "ECONNREFUSED";
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
  const models = checkSchema.safeParse(health.data.checks?.["models"]);
  return {
    kind: "ours",
    status: health.data.status,
    version: health.data.version,
    details,
    models: health.data.checks === undefined ? "unknown" : models.success ? models.data : null,
    channels: channels.success ? channels.data.channels : null,
  };
}

/** Where this machine reaches the API of a configuration. */
export function apiUrlOf({ bindHost, ports }: { bindHost: string | undefined; ports: { api: number } }): string {
  return localUrl(bindHost ?? "127.0.0.1", ports.api);
}
