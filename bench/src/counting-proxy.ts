// A proxy before PostgreSQL that counts what passes: statements by name, and transactions by their ends.
import net from "node:net";
import type { AddressInfo, Socket } from "node:net";

const HEADER_BYTES = 5;

/** Calls `onMessage` with the type and the body of each message of one side of a connection. */
function readMessages(onMessage: (type: string, body: Buffer) => void, { hasStartup }: { hasStartup: boolean }) {
  let buffer: Buffer = Buffer.alloc(0);
  let isStartup = hasStartup;
  return (part: Buffer) => {
    buffer = buffer.length === 0 ? part : Buffer.concat([buffer, part]);
    for (;;) {
      // The first message of a client has no type.
      const offset = isStartup ? 0 : 1;
      if (buffer.length < HEADER_BYTES) return;
      const end = offset + buffer.readInt32BE(offset);
      if (buffer.length < end) return;
      if (!isStartup) onMessage(buffer.toString("latin1", 0, 1), buffer.subarray(HEADER_BYTES, end));
      isStartup = false;
      buffer = buffer.subarray(end);
    }
  };
}

const textAt = (body: Buffer, start: number) => {
  const end = body.indexOf(0, start);
  return { text: body.toString("utf8", start, end), next: end + 1 };
};

/** Starts the proxy; `read` returns the statements so far by name, or by text if they have none, and the transactions. */
// oxlint-disable-next-line max-lines-per-function -- The state of one connection is read in both directions.
export async function startCountingProxy(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const statements: Record<string, number> = {};
  let transactions = 0;
  const sockets = new Set<Socket>();

  function note(name: string) {
    statements[name] = (statements[name] ?? 0) + 1;
  }

  function connect(client: Socket) {
    const server = net.connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    client.setNoDelay(true);
    const texts = new Map<string, string>();
    let bound = "";
    let isReady = false;
    const readClient = readMessages(
      (type, body) => {
        if (type === "Q") note(textAt(body, 0).text);
        if (type === "P") {
          const { text: name, next } = textAt(body, 0);
          texts.set(name, name === "" ? textAt(body, next).text : name);
        }
        if (type === "B") {
          const { text: name } = textAt(body, textAt(body, 0).next);
          bound = texts.get(name) ?? name;
        }
        if (type === "E") note(bound);
      },
      { hasStartup: true },
    );
    const readServer = readMessages(
      (type, body) => {
        if (type !== "Z") return;
        // Idle again: a transaction has ended. The first time, the connection has started.
        if (isReady && body[0] === "I".charCodeAt(0)) transactions += 1;
        isReady = true;
      },
      { hasStartup: false },
    );
    for (const [from, to, readPart] of [
      [client, server, readClient],
      [server, client, readServer],
    ] as const) {
      sockets.add(from);
      from.on("data", (part: Buffer) => {
        readPart(part);
        to.write(part);
      });
      from.on("error", () => to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  }

  const listener = net.createServer(connect);
  await new Promise<void>((resolve) => {
    listener.listen(0, "127.0.0.1", resolve);
  });
  const url = new URL(databaseUrl);
  url.port = String((listener.address() as AddressInfo).port);
  return {
    url: url.href,
    read: () => ({ statements: { ...statements }, transactions }),
    close() {
      listener.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
