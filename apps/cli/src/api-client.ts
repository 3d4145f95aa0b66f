import { ServiceError, createClient, isValidHeaderValue } from "@svc/client";
import type { Client, SentMessage } from "@svc/client";
import { localUrl, runningChannelSchema } from "@svc/contracts";
import type { EarlyConfig } from "@svc/runtime";
import { z } from "zod";
import { errorCode } from "@svc/primitives";
import { CliError, EXIT } from "./cli.ts";
import type { Cli, ExitCode } from "./cli.ts";
import { isHttpUrl } from "./options.ts";

/** The server of calls, with the key and the project. */
export interface ApiTarget {
  /** Base URL without a path. */
  url: string;
  key: string;
  /** A key that is bound to a project needs none. */
  project?: string;
  /** How the product is started, for advice. */
  startWith: string;
}

/** Returns the JSON of a response; undefined without one, which no schema accepts. */
async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** A message that was accepted in mode sync, with its response so far. */
export type SyncMessage = Extract<SentMessage, { mode: "sync" }>;

/** Exit codes of the statuses of rejected calls; the others have exit code 1. */
export const EXIT_OF_STATUS: Readonly<Record<number, ExitCode>> = {
  401: EXIT.notAllowed,
  403: EXIT.notAllowed,
  502: EXIT.notRunning,
  503: EXIT.notRunning,
  504: EXIT.notRunning,
};

/** The error if nothing listens at the address of a target. */
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

/** Errors of the client itself, for people; the others are responses of the product. */
const CLIENT_ERRORS: Readonly<Record<string, (target: ApiTarget, error: ServiceError) => CliError>> = {
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

/** Returns the error of a failed call as a CliError. */
function explain(target: ApiTarget, error: ServiceError): CliError {
  const { code, status, detail, requestId } = error;
  const ofClient = CLIENT_ERRORS[code];
  if (ofClient !== undefined) return ofClient(target, error);
  const trace = status !== null && status >= 500 && requestId !== null ? ` (request ${requestId})` : "";
  return new CliError(code, EXIT_OF_STATUS[status ?? 0] ?? EXIT.failed, `${detail}${trace}`, { cause: error });
}

/**
 * Calls the API. By default it does not retry, since a person can run the command again. `timeoutMs` is the time
 * limit of the response, by default 10 s. Throws CliError for every error.
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

/** Posts a message and waits for its response. Throws CliError for any status other than 200 and 202. */
export async function postMessage(
  target: ApiTarget,
  message: { text: string; chatId?: string; timeoutMs: number },
): Promise<SyncMessage> {
  const sent = await withClient(target, (client) => client.send({ ...message, mode: "sync" }));
  if (sent.mode === "sync") return sent;
  throw notThisProduct(target, `mode ${sent.mode}`);
}

const checkSchema = z.object({ status: z.string(), detail: z.string() });
const channelSchema = runningChannelSchema.omit({ id: true });
/** A channel as its process reports it. */
export type RunningChannel = z.infer<typeof channelSchema>;

/** Health of a part of the product. */
type PartHealth = z.infer<typeof checkSchema>;

/** Program at the address of the API. */
export type ApiState =
  | {
      kind: "ours";
      status: "pass" | "warn" | "fail";
      version: string;
      details: string[];
      /** Its language models; null if it has none, `unknown` if the response has no parts. */
      models: PartHealth | "unknown" | null;
      /** By the IDs of channels; null if the response has none, because no key was sent or the service is unhealthy. */
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

/** Requests the health at an address, with a key to distinguish this installation from another one of the product. */
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
  // Health is public, but only an administrator of this installation gets its parts.
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

/** Returns the URL at which this machine reaches the API of a configuration. */
export function apiUrlOf({ bindHost, ports }: { bindHost: string | undefined; ports: { api: number } }): string {
  return localUrl(bindHost ?? "127.0.0.1", ports.api);
}

/** Returns the key of this installation: SVC_ADMIN_KEY, else the one in the data folder; null without both. */
export async function findKey({ adminKey, dataDir }: EarlyConfig): Promise<string | null> {
  if (adminKey !== undefined) return adminKey;
  const { localKeyFile, readLocalKey } = await import("@svc/operations");
  try {
    return await readLocalKey(dataDir);
  } catch (error) {
    const code = errorCode(error);
    if (code !== "EACCES" && code !== "EPERM") throw error;
    throw new CliError(
      "no_key",
      EXIT.notAllowed,
      `Only its owner can read ${localKeyFile(dataDir)}. Run this command as the user that started the service, or set SVC_ADMIN_KEY.`,
      { cause: error },
    );
  }
}

/** Returns the key for calls: SVC_KEY, else that of this installation. Throws CliError `no_key` without one. */
async function getKey(cli: Cli, config: EarlyConfig): Promise<string> {
  const key = readVariable(cli, "SVC_KEY") ?? (await findKey(config));
  if (key !== null) return key;
  throw new CliError(
    "no_key",
    EXIT.notAllowed,
    `There is no key in ${config.dataDir}. Start the service with: ${cli.startWith}\n` +
      "If it runs elsewhere, set SVC_ADMIN_KEY to one of its keys, or SVC_DATA_DIR to its data folder.",
  );
}

/** Options that select the server of a command. */
interface TargetOptions {
  url?: string | undefined;
  project?: string | undefined;
}

const readVariable = ({ env }: Cli, name: "SVC_URL" | "SVC_KEY"): string | undefined => env[name] || undefined;

/** Returns the URL in SVC_URL, which the documentation uses too; undefined if it is not set. Throws CliError `configuration`. */
function readUrl(cli: Cli): string | undefined {
  const url = readVariable(cli, "SVC_URL");
  if (url === undefined) return undefined;
  if (isHttpUrl(url)) return new URL(url).origin;
  const message = "SVC_URL must be a URL such as http://127.0.0.1:31416.";
  throw new CliError("configuration", EXIT.configuration, message);
}

async function makeTarget(
  cli: Cli,
  { url, project }: TargetOptions,
  urlOf: (config: EarlyConfig) => string,
): Promise<ApiTarget> {
  const { readEnvironment } = await import("@svc/runtime");
  const config = readEnvironment(cli.env);
  return {
    url: url ?? urlOf(config),
    key: await getKey(cli, config),
    startWith: cli.startWith,
    ...(project === undefined ? {} : { project }),
  };
}

/**
 * Returns the API that a command calls: the one at `--url`, else at SVC_URL, else that of this machine. The key is SVC_KEY,
 * else SVC_ADMIN_KEY, else the one in the data folder.
 */
export function makeApiTarget(cli: Cli, options: TargetOptions): Promise<ApiTarget> {
  return makeTarget(cli, options, (config) => readUrl(cli) ?? apiUrlOf(config));
}

/** Like `makeApiTarget`, for the tool server, which is at `--url` or on this machine. */
export function makeToolsTarget(cli: Cli, options: TargetOptions): Promise<ApiTarget> {
  return makeTarget(cli, options, ({ bindHost, ports }) => localUrl(bindHost ?? "127.0.0.1", ports.tools));
}

/** Returns the API at `--url` or SVC_URL, else that of this installation if it is running; null if it is not. */
export async function findRunningService(cli: Cli, options: TargetOptions): Promise<ApiTarget | null> {
  if (options.url !== undefined || readUrl(cli) !== undefined) return makeApiTarget(cli, options);
  const { readEnvironment } = await import("@svc/runtime");
  const config = readEnvironment(cli.env);
  const key = (await findKey(config)) ?? readVariable(cli, "SVC_KEY") ?? null;
  if (key === null || (await probeApi(apiUrlOf(config), key)).kind !== "ours") return null;
  return makeApiTarget(cli, options);
}
