import { once } from "node:events";
import type { Server } from "node:net";
import { freePort } from "./free-port.ts";

/** Makes a server of this process listen on 127.0.0.1 and returns the port: the given one, or a free one. */
export async function listenOnLoopback(server: Server, port?: number): Promise<number> {
  const chosen = port ?? (await freePort());
  server.listen(chosen, "127.0.0.1");
  // Rejects on "error", for example if the port is in use.
  await once(server, "listening");
  return chosen;
}
