import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { errorCode } from "@svc/primitives";
import { ROLE } from "./cluster.ts";
import { EmbeddedPostgresError } from "./run-tool.ts";
import type { PostgresAccount, PostgresLogger } from "./run-tool.ts";
import type { PostgresBinaries } from "./find-binaries.ts";
import { launchPostmaster } from "./launch-postmaster.ts";
import type { RunningPostmaster } from "./launch-postmaster.ts";

const HOST = "127.0.0.1";
const PROTOCOL_VERSION = 0x0003_0000;
const AUTHENTICATION_REQUEST = "R".charCodeAt(0);

/** Returns a port on 127.0.0.1 that is currently free. */
async function findFreePort(): Promise<number> {
  const port = await listenOnce(0);
  if (port === null) throw new Error("The system has no free port on 127.0.0.1. Close programs that use many ports.");
  return port;
}

/** Returns true if this port on 127.0.0.1 is currently free. */
async function isPortFree(port: number): Promise<boolean> {
  return (await listenOnce(port)) !== null;
}

/**
 * Returns true if a Postgres on this port accepts sign-ins: sends a startup message and checks that it asks for a
 * password. A server that is starting, recovering or stopping responds with an error; the result is then false, as
 * after a timeout.
 */
export async function acceptsConnections(port: number, timeoutMs: number): Promise<boolean> {
  const socket = connect({ host: HOST, port, timeout: timeoutMs });
  try {
    return await new Promise<boolean>((resolve) => {
      socket.once("connect", () => socket.write(startupMessage()));
      socket.once("data", (answer) => resolve(answer[0] === AUTHENTICATION_REQUEST));
      for (const event of ["timeout", "error", "close"]) socket.once(event, () => resolve(false));
    });
  } finally {
    socket.destroy();
  }
}

/** Message format: "StartupMessage" in the chapter Frontend/Backend Protocol of the Postgres manual. */
function startupMessage(): Buffer {
  const parameters = Buffer.from(`user\0${ROLE}\0database\0postgres\0\0`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(head.length + parameters.length, 0);
  head.writeInt32BE(PROTOCOL_VERSION, 4);
  return Buffer.concat([head, parameters]);
}

function noLoopback(cause: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    "no_loopback",
    `The bundled PostgreSQL listens on ${HOST}, which does not exist on this machine. Enable IPv4 loopback ` +
      `(Linux: ip link set lo up; ip address add 127.0.0.1/8 dev lo), or set DATABASE_URL to your own PostgreSQL.`,
    { cause },
  );
}

/** Throws EmbeddedPostgresError if this machine has no IPv4 loopback, or it is down. */
export async function checkLoopback(): Promise<void> {
  // An address of an interface that is down accepts listeners, but no connections.
  const server = createServer((socket) => socket.destroy());
  try {
    await once(server.listen({ host: HOST, port: 0 }), "listening");
    const { port } = server.address() as AddressInfo;
    const socket = connect({ host: HOST, port });
    await once(socket, "connect");
    socket.destroy();
  } catch (error) {
    const code = errorCode(error);
    throw code === "EADDRNOTAVAIL" || code === "ENETUNREACH" ? noLoopback(error) : error;
  } finally {
    server.close();
  }
}

async function listenOnce(port: number): Promise<number | null> {
  const server = createServer();
  server.listen({ host: HOST, port, exclusive: true });
  try {
    await once(server, "listening");
  } catch (error) {
    const code = errorCode(error);
    if (code === "EADDRINUSE" || code === "EACCES") return null;
    if (code === "EADDRNOTAVAIL") throw noLoopback(error);
    throw error;
  }
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : null;
}

/** The options that are the same for every start of a server on one data folder. */
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
 * Starts the server on the given port; without one, on the previous port if it is free, else on any.
 *
 * Throws as `launchPostmaster` does; `port_taken` only for a given port.
 */
export async function launchOnSomePort(
  server: ServerOnFolder,
  wantedPort: number | undefined,
  lastPort: number | null,
): Promise<RunningPostmaster & { port: number }> {
  const never = new AbortController().signal;
  if (wantedPort !== undefined) return { ...(await launchWithRetries(server, wantedPort, never)), port: wantedPort };
  // Another program may take the port between the check and the start, so even a free one is retried.
  let port = lastPort !== null && (await isPortFree(lastPort)) ? lastPort : await findFreePort();
  for (let trial = 1; ; trial += 1) {
    try {
      return { ...(await launchWithRetries(server, port, never)), port };
    } catch (error) {
      if (!hasCode(error, "port_taken") || trial === PORT_TRIALS) throw error;
      port = await findFreePort();
    }
  }
}

/**
 * Starts the server on this port. After a SIGKILL of an earlier server its children need a moment to end, and until
 * then Postgres refuses to start: waits at most ten seconds for them.
 */
export async function launchWithRetries(
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
