import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { holdResource } from "@svc/testing";

/** A relay to a server that forwards requests and can drop responses or hold them back. */
export interface DeafRelay {
  /** The server's URL, through the relay. */
  readonly url: string;
  /** From now on drops every response of the server, while requests still reach it. */
  swallowAnswers(): void;
  /** Drops every response of the server from the next request that contains this prepared statement. */
  swallowAnswersFrom(statement: string): void;
  /** From now on holds back every response of the server, while the connections stay open. */
  hold(): void;
  /** Sends what was held back, and everything after it. */
  release(): void;
  /** Drops every connection, and every new one until `comeBack`. */
  goAway(): void;
  /** New connections work again. */
  comeBack(): void;
  close(): Promise<void>;
}

/** Starts such a relay on a free port of 127.0.0.1 in front of the server of a URL. */
export async function startDeafRelay(serverUrl: string): Promise<DeafRelay> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const upstreams = new Set<Socket>();
  let isHeld = false;
  let isDeaf = false;
  let deafFrom: string | null = null;
  let isAway = false;
  const server = createServer((client) => {
    if (isAway) {
      client.destroy();
      return;
    }
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
    }
    client.on("data", (chunk) => {
      isDeaf ||= deafFrom !== null && chunk.includes(deafFrom);
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      if (!isDeaf) client.write(chunk);
    });
    if (isHeld) upstream.pause();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const goAway = () => {
    isAway = true;
    for (const socket of sockets) socket.destroy();
  };
  const close = async () => {
    goAway();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  };
  const { port } = server.address() as AddressInfo;
  const release = holdResource(`relay on port ${port}`, close);
  const url = new URL(serverUrl);
  url.hostname = "127.0.0.1";
  url.port = String(port);
  return {
    url: url.href,
    swallowAnswers() {
      isDeaf = true;
    },
    swallowAnswersFrom(statement) {
      deafFrom = statement;
    },
    hold() {
      isHeld = true;
      for (const upstream of upstreams) upstream.pause();
    },
    release() {
      isHeld = false;
      for (const upstream of upstreams) upstream.resume();
    },
    goAway,
    comeBack() {
      isAway = false;
      isDeaf = false;
      deafFrom = null;
    },
    async close() {
      await close();
      release();
    },
  };
}
