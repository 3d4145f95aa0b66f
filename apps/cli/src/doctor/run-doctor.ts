import { CHANNELS, PUSHING_CHANNELS } from "@svc/contracts";
import { hostname } from "node:os";
import type { EarlyConfig, Resources } from "@svc/runtime";
import { openStore } from "@svc/store";
import type { RunningCount } from "@svc/store";
import { apiUrlOf, findKey, probeApi } from "../api-client.ts";
import { EXIT, InterruptedError } from "../cli.ts";
import type { Cli } from "../cli.ts";
import {
  checkClock,
  checkDatabase,
  checkEmbeddings,
  checkFileStore,
  checkInstallation,
  checkKnowledge,
  checkModels,
  checkProcesses,
  checkStorage,
} from "./check-database.ts";
import { checkConfiguration, checkDataFolder, checkNode } from "./check-environment.ts";
import {
  checkQueues,
  checkRedis,
  checkApi,
  checkEmail,
  checkConsole,
  checkPushingChannel,
  checkTools,
  checkWidget,
} from "./check-services.ts";
import { fail, ok, warn } from "./check.ts";
import type { Check } from "./check.ts";
import { explainError } from "../explain-error.ts";
import { safeText } from "../terminal.ts";
import { hasData, onDatabase, withDatabase } from "../with-resources.ts";
import type { Database } from "../with-resources.ts";

/** Context of the checks, and results that later checks use. */
interface Context {
  cli: Cli;
  config: EarlyConfig;
  key: string | null;
  /** Numbers of running processes by the name of their app. */
  running: Map<string, RunningCount>;
}

/** A check with the name under which an error of its own is reported. */
type NamedCheck = readonly [name: string, check: (context: Context, resources: Resources) => Promise<Check | Check[]>];

/** Checks of a database that can be opened, in the order in which they depend on each other. */
const INSIDE: readonly NamedCheck[] = [
  // The store is not opened with a key other than its own.
  ["Secret key", () => Promise.resolve(ok("Secret key", "matches this database"))],
  ["Clock", (_, { store }) => checkClock(store)],
  // Only shown if it fails: a full disk can still be read.
  ["Disk", (_, { store }) => store.checkWrites().then(() => [])],
  ["Storage", (_, { store }) => checkStorage(store)],
  ["File store", (_, { store }) => checkFileStore(store)],
  [
    "Processes",
    async ({ running }, { store }) => {
      for (const found of await store.processes.countRunning(hostname())) running.set(found.app, found);
      return checkProcesses(store.processes, running);
    },
  ],
  ["Installation", ({ cli, key }, { store }) => checkInstallation(cli, store, key)],
  ["Widget", ({ cli, config, running }, { store }) => checkWidget(cli, store, config, running)],
  ...PUSHING_CHANNELS.map((id): NamedCheck => [
    CHANNELS[id].label,
    ({ cli }, { store }) => checkPushingChannel(cli, store, id),
  ]),
  ["Console", ({ cli, config, running }, { store }) => checkConsole(cli, config, store, running)],
  ["Knowledge", ({ cli }, { store }) => checkKnowledge(cli, store)],
  ["Embeddings", (_, { store, embeddings }) => checkEmbeddings(store, embeddings)],
  ["Models", ({ config, key }, { models }) => checkModels(models, () => probeApi(apiUrlOf(config), key))],
  ["Email", (_, { store, mailer }) => checkEmail(store, mailer)],
  ["Queues", ({ cli }, resources) => checkQueues(cli, resources)],
];

/** Runs a check. An error that prevents it is the result. */
async function attempt(name: string, check: () => Promise<Check | Check[]>): Promise<Check[]> {
  try {
    return [await check()].flat();
  } catch (error) {
    if (error instanceof InterruptedError) throw error;
    const { code, message } = explainError(error);
    const [detail = "", ...advice] = message.split("\n");
    return [
      fail(code === "no_secret_key" ? "Secret key" : name, detail, advice.length === 0 ? undefined : advice.join(" ")),
    ];
  }
}

/** Returns true if the product was initialized. Works without the secret key, which the first process sets. */
async function isInitialized({ config, log }: Database): Promise<boolean> {
  const store = openStore({ url: config.databaseUrl, secretKey: config.secretKey, log, app: "svc-doctor" });
  try {
    return await store.installation.isInitialized();
  } finally {
    await store.close();
  }
}

async function checkInside(context: Context, database: Database): Promise<Check[]> {
  const { cli } = context;
  const { checks, canOpen } = await checkDatabase(cli, database);
  if (!canOpen) return checks;
  if (!(await isInitialized(database))) {
    const advice = `Run: ${cli.self} init (or ${cli.startWith}, which initializes automatically)`;
    return [...checks, fail("Installation", "is not initialized", advice)];
  }
  // In production, a Redis that may drop jobs prevents everything from opening: checkRedis reports it, not this check.
  const opened = { ...database, config: { ...database.config, isProduction: false } };
  const inside = await attempt("Secret key", () =>
    onDatabase(opened, async (resources) => {
      const found: Check[] = [];
      for (const [name, check] of INSIDE) found.push(...(await attempt(name, () => check(context, resources))));
      return found;
    }),
  );
  return [...checks, ...inside];
}

/** Checks everything that the product needs, in the order in which it is needed. */
async function runChecks(cli: Cli): Promise<Check[]> {
  const { checks, config } = checkConfiguration(cli.env);
  const found = [checkNode(process.versions.node), ...checks];
  if (config === null) return found;
  const context: Context = { cli, config, key: null, running: new Map() };
  const folder = async () => {
    context.key = await findKey(config);
    return checkDataFolder(config);
  };
  found.push(...(await attempt("Data folder", folder)));
  if (config.databaseUrl === undefined && !hasData(config.dataDir)) {
    const advice = `It is created at the first startup: ${cli.startWith}`;
    found.push(warn("PostgreSQL", "there is no database yet", advice));
  } else {
    const inside = () => withDatabase(cli, {}, (database) => checkInside(context, database));
    found.push(...(await attempt("PostgreSQL", inside)));
  }
  if (config.redisUrl !== undefined) found.push(await checkRedis(config.redisUrl, config.isProduction));
  const { key, running } = context;
  found.push(...(await attempt("Port", () => checkApi(cli, config, key, running))));
  found.push(...(await attempt("Tool server", () => checkTools(cli, config, key, running))));
  return found;
}

function renderCheck({ terminal }: Cli, check: Check, width: number): string {
  const { green, yellow, red, dim } = terminal.paint;
  const signs = { ok: green("ok  "), warn: yellow("warn"), fail: red("fail") } satisfies Record<
    Check["status"],
    string
  >;
  const margin = " ".repeat(width + 8);
  const lines = [...safeText(check.detail).split("\n"), ...(check.advice === undefined ? [] : [dim(check.advice)])];
  return `${signs[check.status]}  ${check.name.padEnd(width)}  ${lines.join(`\n${margin}`)}`;
}

const SUMMARIES = {
  ok: "No problems found.",
  warn: "The service works, but there are warnings.",
  fail: "Some checks failed. Follow the advice above.",
};

/** `svc doctor`: runs all checks and shows their results. */
export async function runDoctor(cli: Cli): Promise<void> {
  const checks = await runChecks(cli);
  const statuses = checks.map(({ status }) => status);
  const worst = statuses.includes("fail") ? "fail" : statuses.includes("warn") ? "warn" : "ok";
  if (worst === "fail") cli.setExitCode(EXIT.failed);
  cli.terminal.show({ ok: worst !== "fail", checks }, () => {
    const width = Math.max(...checks.map(({ name }) => name.length));
    return [...checks.map((check) => renderCheck(cli, check, width)), "", SUMMARIES[worst]].join("\n");
  });
}
