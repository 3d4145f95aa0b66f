import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { expect, test } from "@jest/globals";
import { judgeAbsence, judgeFailedProbe } from "./check.ts";

const part = { name: "Console", app: "console", where: "at http://127.0.0.1:1" };

/** What is said while so many processes of an app run, and so many of them elsewhere. */
const judge = (app: string, count: number, elsewhere: number) =>
  judgeAbsence(part, new Map([[app, { count, elsewhere }]]), { startWith: "npm start" });

test("an app that does not answer here is warned of, unless it runs in a container of its own", () => {
  for (const absence of [judge("api", 1, 1), judge("console", 1, 0)]) {
    expect(absence).toEqual({
      name: "Console",
      status: "warn",
      detail: "is not running at http://127.0.0.1:1",
      advice: "Start it with: npm start",
    });
  }
  expect(judge("console", 3, 2)).toEqual({
    name: "Console",
    status: "ok",
    detail: "running elsewhere, in 2 processes; not at http://127.0.0.1:1",
  });
});

/** What a failed request says of an address where this happens to connections. */
async function probe(onConnection: ((socket: Socket) => void) | null) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    onConnection?.(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => new Promise((resolve) => server.close(resolve));
  if (onConnection === null) await close();
  try {
    const request = fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(250) });
    return await request.then(() => "no failure", judgeFailedProbe);
  } finally {
    for (const socket of sockets) socket.destroy();
    if (onConnection !== null) await close();
  }
}

test("a program that does not respond, or speaks no HTTP, is not taken for an address where nothing listens", async () => {
  expect(await probe(null)).toBe("nothing");
  expect(await probe(() => undefined)).toBe("silent");
  expect(await probe((socket) => socket.write("+OK ready\r\n"))).toBe("other");
  expect(await probe((socket) => socket.end())).toBe("other");
  expect(() => judgeFailedProbe(new Error("unexpected"))).toThrow("unexpected");
});
