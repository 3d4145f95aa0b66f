import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

/** A relay to a server that can stop responding without closing connections. */
export interface Relay {
  /** The server's URL, through the relay. */
  readonly url: string;
  /** From now on holds back all responses of the server, while the connections stay open. */
  hold(): void;
  /** Sends what was held back, and everything after it. */
  release(): void;
  close(): Promise<void>;
}

/** Starts a relay on a free port of 127.0.0.1 in front of the server of a URL. */
export async function startRelay(serverUrl: string): Promise<Relay> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const upstreams = new Set<Socket>();
  let isHeld = false;
  const server = createServer((client) => {
    const upstream = connect({ host: target.hostname, port: Number(target.port) });
    upstreams.add(upstream);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        upstreams.delete(one);
        other.destroy();
      });
      one.on("data", (chunk) => other.write(chunk));
    }
    if (isHeld) upstream.pause();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const url = new URL(serverUrl);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    hold() {
      isHeld = true;
      for (const upstream of upstreams) upstream.pause();
    },
    release() {
      isHeld = false;
      for (const upstream of upstreams) upstream.resume();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
