import { once } from "node:events";
import type { Server } from "node:net";
import { freePort } from "./free-port.ts";

/** Lets a server of this process listen on 127.0.0.1 and answers the port: the one given, or a free one. */
export async function listenOnLoopback(server: Server, port?: number): Promise<number> {
  const chosen = port ?? (await freePort());
  server.listen(chosen, "127.0.0.1");
  // Rejects when the server says "error" first, for example because somebody else has the port.
  await once(server, "listening");
  return chosen;
}
