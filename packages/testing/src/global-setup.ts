import { openSharedServers } from "./shared-servers.ts";
import { RUN_URL_VARIABLE, readTestSettings } from "./test-settings.ts";

let servers: { close(): Promise<void> } | null = null;

/** Jest's global setup: makes the shared servers of this run available to test files. */
export default async function globalSetup(): Promise<void> {
  const opened = await openSharedServers(readTestSettings());
  process.env[RUN_URL_VARIABLE] = opened.url;
  servers = opened;
}

/** Stops the shared servers of this run. */
export async function closeSharedServers(): Promise<void> {
  await servers?.close();
  servers = null;
}
