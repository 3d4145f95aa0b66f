import { createServer } from "node:net";
import { once } from "node:events";
import type { Server } from "node:net";

/**
 * Below the range of ports for outgoing connections: any client could take a port of that range, even one that connects
 * to this very port while its server is down.
 */
const LOWEST = 20_000;
const HIGHEST = 29_999;

const given = new Set<number>();

/** Returns a free TCP port of 127.0.0.1 that it has not returned to this process before. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST + 1));
    if (given.has(port) || !(await canListen(port))) continue;
    given.add(port);
    return port;
  }
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** Makes a server of this process listen on 127.0.0.1 and returns the port: the given one, or a free one. */
export async function listenOnLoopback(server: Server, port?: number): Promise<number> {
  const chosen = port ?? (await freePort());
  server.listen(chosen, "127.0.0.1");
  // Rejects on "error", for example if the port is in use.
  await once(server, "listening");
  return chosen;
}
