import { setTimeout as delay } from "node:timers/promises";
import { EmbeddedPostgresError } from "./errors.ts";
import type { PostgresBinaries } from "./find-binaries.ts";
import { launchPostmaster } from "./launch-postmaster.ts";
import type { RunningPostmaster } from "./launch-postmaster.ts";
import type { PostgresLogger } from "./logger.ts";
import { findFreePort, isPortFree } from "./local-port.ts";
import type { PostgresAccount } from "./postgres-account.ts";

/** All that is the same for every start of a server on one data folder. */
export type ServerOnFolder = {
  clusterDir: string;
  binaries: PostgresBinaries;
  account: PostgresAccount;
  argumentsFor: (port: number) => string[];
  log: PostgresLogger;
};

const BUSY_TIMEOUT_MS = 10_000;
const BUSY_PAUSE_MS = 50;
const PORT_TRIALS = 5;

/**
 * Starts the server on the wanted port; or, where none is wanted, on the last one if it is free, else on any.
 *
 * Throws as `launchPostmaster` does; `port_taken` only for a wanted port.
 */
export async function launchOnSomePort(
  server: ServerOnFolder,
  wantedPort: number | undefined,
  lastPort: number | null,
): Promise<RunningPostmaster & { port: number }> {
  const never = new AbortController().signal;
  if (wantedPort !== undefined) return { ...(await launchPatiently(server, wantedPort, never)), port: wantedPort };
  // Another program may take a port between the look and the start, so that even a free one gets several trials.
  let port = lastPort !== null && (await isPortFree(lastPort)) ? lastPort : await findFreePort();
  for (let trial = 1; ; trial += 1) {
    try {
      return { ...(await launchPatiently(server, port, never)), port };
    } catch (error) {
      if (!hasCode(error, "port_taken") || trial === PORT_TRIALS) throw error;
      port = await findFreePort();
    }
  }
}

/**
 * Starts the server on this port. After a SIGKILL of an earlier one its children need a moment to end, and until then
 * Postgres refuses to start; this is waited for, at most ten seconds.
 */
export async function launchPatiently(
  server: ServerOnFolder,
  port: number,
  signal: AbortSignal,
): Promise<RunningPostmaster> {
  const { argumentsFor, ...rest } = server;
  const deadline = performance.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      return await launchPostmaster({ ...rest, args: argumentsFor(port), signal });
    } catch (error) {
      if (!hasCode(error, "folder_busy") || performance.now() > deadline) throw error;
      await delay(BUSY_PAUSE_MS, undefined, { signal });
    }
  }
}

function hasCode(error: unknown, code: EmbeddedPostgresError["code"]): boolean {
  return error instanceof EmbeddedPostgresError && error.code === code;
}
