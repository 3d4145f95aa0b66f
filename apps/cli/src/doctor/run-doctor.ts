import { hostname } from "node:os";
import { CHANNELS, PUSHING_CHANNELS } from "@svc/contracts";
import type { EarlyConfig } from "@svc/runtime";
import { openStore } from "@svc/store";
import type { RunningCount, Store } from "@svc/store";
import { apiUrlOf, probeApi } from "../api-client.ts";
import type { Cli } from "../cli.ts";
import { InterruptedError } from "../cli-error.ts";
import { explainError } from "../explain-error.ts";
import { findKey } from "../find-key.ts";
import { hasData, withDatabase } from "../with-database.ts";
import type { Database } from "../with-database.ts";
import { onDatabase } from "../with-resources.ts";
import { checkApi } from "./check-api.ts";
import { checkClock } from "./check-clock.ts";
import { checkConfiguration } from "./check-configuration.ts";
import { checkConsole } from "./check-console.ts";
import { checkDataFolder } from "./check-data-folder.ts";
import { checkDatabase } from "./check-database.ts";
import { checkEmbeddings } from "./check-embeddings.ts";
import { checkInstallation } from "./check-installation.ts";
import { checkKnowledge } from "./check-knowledge.ts";
import { checkModels } from "./check-models.ts";
import { checkNode } from "./check-node.ts";
import { checkProcesses } from "./check-processes.ts";
import { checkPushingChannel } from "./check-pushing-channel.ts";
import { checkQueues } from "./check-queues.ts";
import { checkRedis } from "./check-redis.ts";
import { checkStorage } from "./check-storage.ts";
import { checkTools } from "./check-tools.ts";
import { checkWidget } from "./check-widget.ts";
import type { Check } from "./check.ts";

/** Does a look; what keeps it from being done is a finding of its own. */
async function look(name: string, work: () => Promise<Check[]>): Promise<Check[]> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InterruptedError) throw error;
    const { code, message } = explainError(error);
    const [detail = "", ...advice] = message.split("\n");
    const what = code === "no_secret_key" ? "Secret key" : name;
    return [{ name: what, status: "fail", detail, ...(advice.length === 0 ? {} : { advice: advice.join(" ") }) }];
  }
}

/** Whether the first initialisation is done; asked without the secret key, which the first process to open a store sets. */
async function isInitialized({ config, log }: Database): Promise<boolean> {
  const store = openStore({ url: config.databaseUrl, secretKey: config.secretKey, log, app: "svc-doctor" });
  try {
    return await store.installation.isInitialized();
  } finally {
    await store.close();
  }
}

/** What one look finds and the later ones need. */
interface Finds {
  key: string | null;
  /** How many processes of each app run, by its name. */
  running: Map<string, RunningCount>;
}

async function lookAtChannels(cli: Cli, store: Store): Promise<Check[]> {
  const checks = PUSHING_CHANNELS.map((id) => look(CHANNELS[id].label, () => checkPushingChannel(cli, store, id)));
  return (await Promise.all(checks)).flat();
}

async function lookInside(cli: Cli, config: EarlyConfig, database: Database, finds: Finds): Promise<Check[]> {
  const { key, running } = finds;
  const { checks, canOpen } = await checkDatabase(cli, database);
  if (!canOpen) return checks;
  if (!(await isInitialized(database))) {
    const advice = `Run: ${cli.self} init (or ${cli.startWith}, which initializes automatically)`;
    return [...checks, { name: "Installation", status: "fail", detail: "is not initialized", advice }];
  }
  // In production a Redis that may drop jobs keeps everything from opening: checkRedis reports it, not this look.
  const opened = { ...database, config: { ...database.config, isProduction: false } };
  const inside = await look("Secret key", () =>
    onDatabase(opened, async (resources) => [
      // The store is not opened with another key than the one that it was set up with.
      { name: "Secret key", status: "ok", detail: "matches this database" },
      ...(await look("Clock", async () => [await checkClock(resources.store)])),
      // Said only where it fails: a full disk lets everything be read.
      ...(await look("Disk", async () => {
        await resources.store.checkWrites();
        return [];
      })),
      ...(await look("Storage", async () => [await checkStorage(resources.store)])),
      ...(await look("Processes", async () => {
        for (const found of await resources.store.processes.countRunning(hostname())) running.set(found.app, found);
        return [await checkProcesses(resources.store.processes, running)];
      })),
      ...(await look("Installation", () => checkInstallation(cli, resources.store, key))),
      ...(await look("Widget", () => checkWidget(cli, resources.store, config, running))),
      ...(await lookAtChannels(cli, resources.store)),
      ...(await look("Console", async () => [await checkConsole(cli, config, resources.store, running)])),
      ...(await look("Knowledge", async () => [await checkKnowledge(cli, resources.store)])),
      ...(await look("Embeddings", () => checkEmbeddings(resources.store, resources.embeddings))),
      ...(await look("Models", () => checkModels(resources.models, () => probeApi(apiUrlOf(config), key)))),
      ...(await look("Queues", () => checkQueues(cli, resources))),
    ]),
  );
  return [...checks, ...inside];
}

async function lookAtDatabase(cli: Cli, config: EarlyConfig, finds: Finds): Promise<Check[]> {
  if (config.databaseUrl === undefined && !hasData(config.dataDir)) {
    const advice = `It is created at the first startup: ${cli.startWith}`;
    return [{ name: "PostgreSQL", status: "warn", detail: "there is no database yet", advice }];
  }
  return look("PostgreSQL", () => withDatabase(cli, {}, (database) => lookInside(cli, config, database, finds)));
}

/** Looks at everything that the product needs, in the order in which it is needed. */
export async function runDoctor(cli: Cli): Promise<Check[]> {
  const { checks, config } = checkConfiguration(cli.env);
  const begin = [checkNode(process.versions.node), ...checks];
  if (config === null) return begin;
  const finds: Finds = { key: null, running: new Map() };
  const folder = await look("Data folder", async () => {
    finds.key = await findKey(config);
    return [await checkDataFolder(config)];
  });
  return [
    ...begin,
    ...folder,
    ...(await lookAtDatabase(cli, config, finds)),
    ...(config.redisUrl === undefined ? [] : [await checkRedis(config.redisUrl, config.isProduction)]),
    ...(await look("Port", () => checkApi(cli, config, finds.key, finds.running))),
    ...(await look("Tool server", async () => [await checkTools(cli, config, finds.key, finds.running)])),
  ];
}
