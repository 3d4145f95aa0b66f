import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { holdResource } from "@svc/testing";

/** A relay to a server that forwards requests and can drop responses. */
export interface DeafRelay {
  /** The server's URL, through the relay. */
  readonly url: string;
  /** From now on drops every response of the server, while requests still reach it. */
  swallowAnswers(): void;
  /** Drops every response of the server from the next request that contains this prepared statement. */
  swallowAnswersFrom(statement: string): void;
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
  let isDeaf = false;
  let deafFrom: string | null = null;
  let isAway = false;
  const server = createServer((client) => {
    if (isAway) {
      client.destroy();
      return;
    }
    const upstream = connect({ host: target.hostname, port: Number(target.port) });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
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
