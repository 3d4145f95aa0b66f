import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { checkPortsFree } from "./check-ports-free.ts";
import { CannotListenError, PortTakenError } from "./listen.ts";

const HOST = "127.0.0.1";
const servers: Server[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

async function takePort(): Promise<number> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  return (server.address() as AddressInfo).port;
}

test("free ports can be listened on afterwards", async () => {
  const port = await takePort();
  await new Promise((resolve) => servers.pop()?.close(resolve));
  await checkPortsFree([{ host: HOST, port, setting: "SVC_API_PORT" }]);
  await checkPortsFree([{ host: HOST, port, setting: "SVC_API_PORT" }]);
});

test("names every port that is taken, and the settings that choose others", async () => {
  const [first, second] = [await takePort(), await takePort()];
  const checking = checkPortsFree([
    { host: HOST, port: first, setting: "SVC_API_PORT" },
    { host: HOST, port: 0, setting: "SVC_TOOLS_PORT" },
    { host: HOST, port: second, setting: "SVC_CONSOLE_PORT" },
  ]);
  await expect(checking).rejects.toThrow(PortTakenError);
  await expect(checking).rejects.toThrow(
    `Ports ${first}, ${second} are already in use, possibly by another installation of this product. ` +
      "Stop that program, or choose other ports with SVC_API_PORT, SVC_CONSOLE_PORT.",
  );
});

test("an address that this machine does not have is named with its settings", async () => {
  const checking = checkPortsFree([{ host: "203.0.113.1", port: 0, setting: "SVC_API_PORT" }]);
  await expect(checking).rejects.toThrow(CannotListenError);
});
