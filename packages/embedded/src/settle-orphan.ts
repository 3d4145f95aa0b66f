import type { RunningPostmaster } from "./launch-postmaster.ts";
import type { ServerOnFolder } from "./launch-on-port.ts";
import { acceptsConnections } from "./local-port.ts";
import { readLastCommand, spellCommand, waitForReady } from "./postmaster-file.ts";
import { stopPostmaster, waitUntilGone } from "./stop-postmaster.ts";

const READY_TIMEOUT_MS = 10_000;
const PROBE_TIMEOUT_MS = 2000;
const POLL_MS = 200;

/**
 * Looks for a server that a killed owner left on this cluster. It is adopted when it lets clients sign in, on the
 * wanted port, and was started by the very command that we would use; else it is stopped and the result is null.
 */
export async function settleOrphan(
  server: ServerOnFolder,
  wantedPort: number | undefined,
  mustStop: boolean,
): Promise<(RunningPostmaster & { port: number }) | null> {
  const { clusterDir, binaries, argumentsFor, log } = server;
  const found = await waitForReady(clusterDir, mustStop ? 0 : READY_TIMEOUT_MS);
  if (found === null) return null;
  const { identity, port, isReady } = found;
  const isFit =
    !mustStop &&
    isReady &&
    port !== null &&
    (wantedPort === undefined || wantedPort === port) &&
    (await readLastCommand(clusterDir)) === spellCommand(binaries.postgres, argumentsFor(port)) &&
    (await acceptsConnections(port, PROBE_TIMEOUT_MS));
  if (isFit) {
    log.info({ pid: identity.pid, port }, "Adopting a PostgreSQL server left by a killed process");
    const exited = waitUntilGone(identity, POLL_MS).then(() => ({ code: null, signal: null }));
    return { identity, exited, port };
  }
  log.info({ pid: identity.pid }, "Restarting a PostgreSQL server left by a killed process");
  await stopPostmaster(identity, binaries);
  return null;
}
