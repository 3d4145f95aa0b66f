import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { holdResource } from "@svc/testing";

/** A way to a server on which what was asked for arrives, and its answers may get lost. */
export interface DeafRelay {
  /** The server's URL, by way of the relay. */
  readonly url: string;
  /** From now on every answer of the server is thrown away, while requests still reach it. */
  swallowAnswers(): void;
  /** From the next request on that names this prepared statement, every answer of the server is thrown away. */
  swallowAnswersFrom(statement: string): void;
  /** Breaks every connection, and every new one until `comeBack`. */
  goAway(): void;
  /** New connections are whole again. */
  comeBack(): void;
  close(): Promise<void>;
}

/** Starts such a relay on a free port of 127.0.0.1 in front of the server that a URL names. */
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
