// A proxy that adds a key: the conformance suite cannot send headers of its own.
import { createServer, request as ask } from "node:http";
import type { AddressInfo } from "node:net";

/** Listens on loopback and forwards every request, with unchanged `Host` and `Origin`, and the key. */
export async function startKeyProxy(target: string, key: string) {
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const onward = ask({ hostname, port, method, path, headers: { ...headers, "x-api-key": key } }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    // Forwards a disconnect of the client.
    outgoing.on("close", () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
