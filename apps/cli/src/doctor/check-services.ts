import { createServer } from "node:net";
import { CHANNELS, localUrl, REPLY_QUEUES, explainCertificateError } from "@svc/contracts";
import type { ChannelDescriptor, ChannelId, WidgetSettings, QueueName } from "@svc/contracts";
import { isValidHeaderValue } from "@svc/client";
import { localAdministrator } from "@svc/auth";
import { listDeadLetters } from "@svc/operations";
import { EmailError } from "@svc/outbound";
import type { Mailer } from "@svc/outbound";
import { errorCode } from "@svc/primitives";
import { BACKEND_NAMES, askRedis } from "@svc/queue";
import type { EarlyConfig, Resources } from "@svc/runtime";
import type { ReplicaState, Store } from "@svc/store";
import { apiUrlOf, probeApi } from "../api-client.ts";
import type { ApiState } from "../api-client.ts";
import { toSecond } from "../render-table.ts";
import { hasData } from "../with-resources.ts";
import { waitForQueues } from "../as-administrator.ts";
import type { Cli } from "../cli.ts";
import { fail, judgeAbsence, judgeProbe, ok, probe, warn } from "./check.ts";
import type { Check, RunningApps } from "./check.ts";

const QUEUES: QueueName[] = ["incoming-messages", ...Object.values(REPLY_QUEUES), "webhook-deliveries"];
/** A message that waits longer means that no worker processes the queue. */
const WAITING_TOO_LONG_MS = 30_000;

/** Failed attempts from which a receiver is probably broken rather than busy. */
const FAILING_TRIES = 3;

/** Facts that a Redis server reports about itself. */
interface RedisInfo {
  /** As in `7.0.15`; Valkey reports the version of Redis that it is compatible with. */
  version: string;
  policy: string;
  /** `failing` if its last write to disk failed. */
  writes: "fine" | "failing";
}

const TIMEOUT_MS = 5_000;

const REDIS = "Redis";
const OLDEST_REDIS = { major: 6, minor: 2 };

/** Settings of the addresses of apps. */
type Addresses = Pick<EarlyConfig, "bindHost" | "ports">;

/** Returns the code of the error of listening there, as in "EADDRINUSE", or null if listening is possible. */
function findListenProblem(port: number, host: string): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

const LISTEN_ADVICE: Readonly<Record<string, string>> = {
  EACCES: "Set SVC_API_PORT to a port of at least 1024.",
  EADDRNOTAVAIL: "Set SVC_BIND_HOST to an address of this machine.",
};

/** Returns the checks of a port in use, by what is there. */
function judgeApi(cli: Cli, port: number, url: string, state: ApiState): Check[] {
  if (state.kind !== "ours") {
    const isStranger = state.kind === "stranger";
    const by = isStranger ? "another installation of this product, or one with a different key" : "another program";
    return [fail("Port", `${port} is already in use by ${by}`, "Stop it, or choose another port with SVC_API_PORT.")];
  }
  const judge = { pass: ok, warn, fail }[state.status];
  const detail = [`${url} responds, version ${state.version}, health: ${state.status}`, ...state.details].join("\n");
  const advice = state.status === "pass" ? undefined : `Check its log, or restart it: ${cli.startWith}`;
  return [ok("Port", `${port} is used by this service`), judge("HTTP API", detail, advice)];
}

/** Checks that the port of the API is free or used by this service, and its health if it is running. */
export async function checkApi(
  cli: Cli,
  config: EarlyConfig,
  key: string | null,
  running: RunningApps,
): Promise<Check[]> {
  const { api: port } = config.ports;
  const code = await findListenProblem(port, config.bindHost ?? "127.0.0.1");
  if (code === "EADDRINUSE") {
    const url = apiUrlOf(config);
    const state = await probeApi(url, key);
    // A service that responds without a key is this one only if there is an installation here.
    const isNew = config.databaseUrl === undefined && !hasData(config.dataDir);
    return judgeApi(cli, port, url, state.kind === "ours" && isNew ? { kind: "stranger" } : state);
  }
  if (code !== null) {
    const advice = LISTEN_ADVICE[code] ?? "Correct SVC_API_PORT and SVC_BIND_HOST.";
    return [fail("Port", `${port} cannot be used (${code})`, advice)];
  }
  return [ok("Port", `${port} is free`), judgeAbsence({ name: "HTTP API", app: "api", where: "here" }, running, cli)];
}

/** Connects to the mail server, and reports emails that wait for it; says which settings are missing if there is none. */
export async function checkEmail(store: Pick<Store, "emailNotifications">, mailer: Mailer | null): Promise<Check> {
  const name = "Email";
  const { failing, since, failure } = await store.emailNotifications.readState();
  const waiting =
    failing === 0 ? "" : `; ${failing} notifications wait since ${since?.toISOString() ?? ""}: ${failure ?? ""}`;
  if (mailer === null) {
    return ok(name, `no mail server: set SVC_SMTP_URL and SVC_EMAIL_FROM to send emails${waiting}`);
  }
  try {
    await mailer.check();
  } catch (error) {
    if (!(error instanceof EmailError)) throw error;
    const advice = "Check SVC_SMTP_URL. Emails are retried for three days.";
    return fail(name, `the mail server cannot be used: ${error.message}${waiting}`, advice);
  }
  if (failing === 0) return ok(name, "the mail server accepts the sign-in");
  return warn(name, `the mail server accepts the sign-in${waiting}`, "Check SVC_EMAIL_FROM: svc email test <address>");
}

/** Checks whether the console responds at its port, and shows how the first administrator signs up. */
export async function checkConsole(
  cli: Cli,
  { bindHost, ports }: Addresses,
  store: Store,
  running: RunningApps,
): Promise<Check> {
  const url = localUrl(bindHost ?? "127.0.0.1", ports.console);
  const hint = `; no operator has a password yet: ${cli.self} operators link`;
  const isFirstMissing = await store.operatorLinks.isFirstMissing();
  const result = await probe(`${url}/sign-in-ways`, { redirect: "error" }, async (response) => {
    const text = await response.text();
    return response.ok && text.startsWith('{"ok":true,"password":true') ? "ours" : "other";
  });
  const ours = `${url} responds${isFirstMissing ? hint : ""}`;
  const app = { name: "Console", app: "console", url, portSetting: "SVC_CONSOLE_PORT", ours };
  return judgeProbe(app, result, running, cli);
}

const LIST_TOOLS = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });

/** Checks whether the tool server responds at its port, and accepts the key of this installation. */
export async function checkTools(
  cli: Cli,
  { bindHost, ports }: Addresses,
  key: string | null,
  running: RunningApps,
): Promise<Check> {
  const url = `${localUrl(bindHost ?? "127.0.0.1", ports.tools)}/mcp`;
  const headers = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-11-25",
    ...(key === null || !isValidHeaderValue(key) ? {} : { "X-Api-Key": key }),
  };
  const init = { method: "POST", headers, body: LIST_TOOLS, redirect: "error" } as const;
  const result = await probe(url, init, (response) => {
    const isProblem = response.headers.get("content-type")?.startsWith("application/problem+json") === true;
    if (response.status === 401 && isProblem) return key === null ? "ours" : "stranger";
    return response.ok || (response.status === 429 && isProblem) ? "ours" : "other";
  });
  const ours = `${url} responds`;
  const app = { name: "Tool server", app: "tool-server", url, portSetting: "SVC_TOOLS_PORT", ours };
  return judgeProbe(app, result, running, cli);
}

/** Returns the checks of the widget's settings. */
export function judgeSettings(config: WidgetSettings, hasProject: boolean, self: string): Check[] {
  const set = `${self} channels set widget`;
  if (config.apiKey === null) {
    const advice = `Generate a key: ${self} channels disable widget, then ${self} channels enable widget`;
    return [fail("Widget", "is enabled, but has no key: no page can use it", advice)];
  }
  const { project, allowedOrigins } = config;
  const missing = `the project ${project} does not exist: visitors' messages are rejected`;
  return [
    ...(hasProject ? [] : [fail("Widget project", missing, `Choose another project: ${set} '{"project":"default"}'`)]),
    allowedOrigins.length > 0
      ? ok("Widget sites", allowedOrigins.join(", "))
      : warn(
          "Widget sites",
          "any site can load the widget",
          `Restrict it: ${set} '{"allowedOrigins":["https://www.example.com"]}'`,
        ),
  ];
}

/** Checks the widget if it is enabled: its key, its project, its sites, and whether it responds. */
export async function checkWidget(
  cli: Cli,
  store: Store,
  { bindHost, ports }: Addresses,
  running: RunningApps,
): Promise<Check[]> {
  const { enabled, widget } = await store.channelsConfig.read();
  if (!enabled.includes("widget")) return [];
  const { project, apiKey } = widget.config;
  const hasProject = (await store.projects.findByName(project)) !== null;
  const checks = judgeSettings(widget.config, hasProject, cli.self);
  if (apiKey === null) return checks;
  const url = localUrl(bindHost ?? "127.0.0.1", ports.widget);
  // A rate limit or a forbidden site are responses of a widget that knows the key.
  const result = await probe(`${url}/api/widget/config/${encodeURIComponent(apiKey)}`, {}, ({ status }) =>
    [200, 403, 429].includes(status) ? "ours" : "other",
  );
  const states = result === "ours" ? [] : await store.channelStates.list();
  const error = states.find(({ id, state }) => id === "widget" && state === "failing")?.error ?? null;
  if (error !== null) return [fail("Widget", error, `See also: ${cli.self} channels list`), ...checks];
  const app = {
    name: "Widget",
    app: "widget",
    url,
    portSetting: "SVC_WIDGET_PORT",
    ours: `${url} responds; its messages go to the project ${project}`,
    other: `the server at ${url} does not know the widget's key: another program or installation`,
  };
  return [judgeProbe(app, result, running, cli), ...checks];
}

/** Returns the check of a channel that pushes replies by its replicas; a failing one counts before those that run. */
export function judgeReplicas(
  id: ChannelId,
  replicas: readonly ReplicaState[],
  cli: Pick<Cli, "self" | "startWith">,
): Check {
  const { label } = CHANNELS[id];
  const failing = replicas.find(({ state }) => state === "failing");
  if (failing !== undefined) {
    const since = toSecond(failing.since.toISOString());
    const advice = `docs/${id}.md describes the states; see also: ${cli.self} channels list`;
    return fail(label, `${failing.error ?? "failing"} (since ${since})`, advice);
  }
  const running = replicas.filter(({ state }) => state === "running").length;
  if (running === 0) return warn(label, "is not running", `Start it with: ${cli.startWith}`);
  return ok(label, running === 1 ? "runs" : `running in ${running} replicas, one of which is active`);
}

/** Checks a channel that pushes replies, if it is enabled: whether its secrets are set, and the states of its replicas. */
export async function checkPushingChannel(cli: Cli, store: Store, id: ChannelId): Promise<Check[]> {
  const { label, secrets }: ChannelDescriptor = CHANNELS[id];
  const { enabled, [id]: settings } = await store.channelsConfig.read();
  if (!enabled.includes(id)) return [];
  const unset = Object.entries(settings.config).find(([setting, value]) => setting in secrets && value === null);
  const secret = secrets[unset?.[0] ?? ""];
  if (secret !== undefined) {
    const advice = `${secret.advice}: ${cli.self} channels set ${id} ${unset?.[0]}=…`;
    return [fail(label, `is enabled, but has no ${secret.label}`, advice)];
  }
  const replicas = (await store.channelStates.list()).filter((replica) => replica.id === id);
  return [judgeReplicas(id, replicas, cli)];
}

async function checkBacklog(store: Store, { self, startWith }: Cli): Promise<Check> {
  const name = "Backlog";
  const waitingMs = await store.messages.oldestWaitingMs();
  if (waitingMs < WAITING_TOO_LONG_MS) return ok(name, "no message is overdue");
  return warn(
    name,
    `a message has been waiting for ${Math.round(waitingMs / 1_000)} s`,
    `Check that the pipeline is running. Start it with: ${startWith} (or ${self} start pipeline)`,
  );
}

async function checkDeadLetters(store: Store, { self }: Cli): Promise<Check> {
  const name = "Dead letters";
  const counts: string[] = [];
  for (const project of await store.projects.list()) {
    const letters = await listDeadLetters({ store }, localAdministrator(project));
    if (letters.length > 0) counts.push(`${letters.length} in ${project.name}`);
  }
  if (counts.length === 0) return ok(name, "none");
  const advice = `Check and retry them: ${self} dead-letters list`;
  return warn(name, counts.join(", "), advice);
}

async function checkFailingDeliveries(store: Store, { self }: Cli): Promise<Check> {
  const name = "Failing deliveries";
  const failing = await store.deliveries.countFailing(FAILING_TRIES);
  if (failing === 0) return ok(name, "none");
  const detail = `${failing} ${failing === 1 ? "callback keeps" : "callbacks keep"} failing and will be retried`;
  const advice = `Check the errors, fix the receiver, and deliver them now: ${self} deliveries list --state pending`;
  return warn(name, detail, advice);
}

async function checkDeadDeliveries(store: Store, { self }: Cli): Promise<Check> {
  const name = "Dead deliveries";
  const dead = await store.deliveries.countDead();
  if (dead === 0) return ok(name, "none");
  const detail = `${dead} ${dead === 1 ? "callback" : "callbacks"} could not be delivered`;
  const advice = `Check the errors and replay them: ${self} deliveries list --state dead`;
  return warn(name, detail, advice);
}

/** Checks the queues, waiting jobs, and dead letters. */
export async function checkQueues(cli: Cli, { queues, store }: Resources): Promise<Check[]> {
  const others = [
    await checkBacklog(store, cli),
    await checkDeadLetters(store, cli),
    await checkFailingDeliveries(store, cli),
    await checkDeadDeliveries(store, cli),
  ];
  if (!(await waitForQueues(queues))) {
    const detail = `${BACKEND_NAMES[queues.backend]} is unreachable; messages are accepted and processed later`;
    return [warn("Queues", detail), ...others];
  }
  const counts = await Promise.all(
    QUEUES.map(async (name) => {
      const { waiting, active, delayed } = await queues.countJobs(name);
      return { name, jobs: waiting + active + delayed };
    }),
  );
  const busy = counts.filter(({ jobs }) => jobs > 0).map(({ name, jobs }) => `${name} ${jobs}`);
  const detail = `on ${BACKEND_NAMES[queues.backend]}, ${busy.length === 0 ? "all empty" : `jobs: ${busy.join(", ")}`}`;
  return [ok("Queues", detail), ...others];
}

/**
 * Requests version and policy of a Redis server. The queues' own client retries forever and hides errors; this
 * connects once, and rejects with the error of the system or of Redis.
 */
async function readRedisInfo(redisUrl: string): Promise<RedisInfo> {
  const text = await askRedis(redisUrl, TIMEOUT_MS, "server", "memory", "persistence");
  const version = /^redis_version:(\S+)/m.exec(text)?.[1] ?? "unknown";
  const isFailing = /^(?:rdb_last_bgsave_status|aof_last_write_status|aof_last_bgrewrite_status):err/m.test(text);
  const policies = [...text.matchAll(/^maxmemory_policy:(\S+)/gm)].map(([, name = "unknown"]) => name);
  const policy = policies.find((name) => name !== "noeviction") ?? policies[0] ?? "unknown";
  return { version, policy, writes: isFailing ? "failing" : "fine" };
}

/** Returns the check of a Redis by its information. In production, the apps do not start with one that may drop jobs. */
export function judgeRedis({ version, policy, writes }: RedisInfo, isProduction: boolean): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const detail = `version ${version}, maxmemory-policy ${policy}`;
  if (major < OLDEST_REDIS.major || (major === OLDEST_REDIS.major && minor < OLDEST_REDIS.minor)) {
    return fail(REDIS, detail, `Upgrade to version ${OLDEST_REDIS.major}.${OLDEST_REDIS.minor} or newer.`);
  }
  if (policy !== "noeviction") {
    const judge = isProduction ? fail : warn;
    const rejected = isProduction ? " The apps do not start with it." : "";
    const advice = `Redis may drop jobs when its memory is full.${rejected} Run: redis-cli config set maxmemory-policy "noeviction"`;
    return judge(REDIS, detail, advice);
  }
  if (writes === "failing") {
    const advice = "Check whether its disk is full, and free disk space. Messages are accepted and processed later.";
    return fail(REDIS, `${detail}; cannot write to disk`, advice);
  }
  return ok(REDIS, detail);
}

/** Checks that the Redis of REDIS_URL can be reached, is new enough, and drops no jobs. */
export async function checkRedis(redisUrl: string, isProduction: boolean): Promise<Check> {
  try {
    return judgeRedis(await readRedisInfo(redisUrl), isProduction);
  } catch (error) {
    const certificate = explainCertificateError(error);
    if (certificate !== null) {
      const detail = `cannot be used: ${certificate}; messages are accepted and processed later`;
      return fail(REDIS, detail, "For TLS, see docs/recipes/managed.md.");
    }
    // An AggregateError of several addresses has no text, but a code.
    const code = errorCode(error);
    const reason = error instanceof Error && error.message !== "" ? error.message : String(code);
    return fail(
      REDIS,
      `cannot be used (${reason}); messages are accepted and processed later`,
      "Start it, or correct the host, port and password in REDIS_URL.",
    );
  }
}
