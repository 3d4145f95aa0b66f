import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A server that listens. */
export interface Listening {
  server: Server;
  port: number;
  /** Takes no further connection, closes idle ones, waits for answers that are being given, at most `deadlineMs`. */
  close(deadlineMs: number): Promise<void>;
}

/** A port that another program has. */
export class PortTakenError extends Error {
  constructor(port: number, setting: string) {
    super(`Port ${port} is taken by another program. Stop that program, or choose another port with ${setting}.`);
    this.name = "PortTakenError";
  }
}

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;

/**
 * Listens on a host and port. Slow headers are cut after 10 s and slow bodies after 30 s. Throws PortTakenError, which
 * names the setting that chooses the port.
 */
export async function listen(
  handler: RequestListener,
  address: { host: string; port: number; setting: string },
): Promise<Listening> {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 65_000,
      noDelay: true,
    },
    handler,
  );
  await new Promise<void>((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => {
      reject(error.code === "EADDRINUSE" ? new PortTakenError(address.port, address.setting) : error);
    };
    server.once("error", fail);
    server.listen(address.port, address.host, () => {
      server.off("error", fail);
      resolve();
    });
  });
  const { port } = server.address() as AddressInfo;
  return {
    server,
    port,
    async close(deadlineMs) {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), deadlineMs);
      await closed;
      clearTimeout(timer);
    },
  };
}
