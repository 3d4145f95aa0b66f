import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { expect, test } from "@jest/globals";
import { judgeAbsence, judgeFailedProbe } from "./check.ts";

const part = { name: "Console", app: "console", where: "at http://127.0.0.1:1" };

/** Returns the check with this number of running processes of an app, here and elsewhere. */
const judge = (app: string, count: number, elsewhere: number) =>
  judgeAbsence(part, new Map([[app, { count, elsewhere }]]), { startWith: "npm start" });

test("warns about an app that does not respond here, unless it runs in its own container", () => {
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

/** Returns the error of a request to an address where connections are handled like this. */
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

test("distinguishes a program that does not respond, or does not speak HTTP, from an address where nothing listens", async () => {
  expect(await probe(null)).toBe("nothing");
  expect(await probe(() => undefined)).toBe("silent");
  expect(await probe((socket) => socket.write("+OK ready\r\n"))).toBe("other");
  expect(await probe((socket) => socket.end())).toBe("other");
  expect(() => judgeFailedProbe(new Error("unexpected"))).toThrow("unexpected");
});
