import { createServer } from "node:http";
import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "@jest/globals";
import { isLocalRequest, isPrivateAddress } from "./is-local-request.ts";

const request = (remoteAddress: string, headers: Record<string, string>) =>
  ({ socket: { remoteAddress }, headers }) as unknown as IncomingMessage;

describe("a request is of this machine", () => {
  test.each([
    ["127.0.0.1", "127.0.0.1:31416"],
    ["127.8.9.1", "localhost"],
    ["::1", "[::1]:31416"],
    ["::ffff:127.0.0.1", "LOCALHOST:1"],
  ])("from %s to %s", (address, host) => {
    expect(isLocalRequest(request(address, { host, accept: "*/*" }))).toBe(true);
  });
});

describe("a request is not of this machine", () => {
  test.each([
    ["comes from elsewhere", "10.0.0.1", { host: "127.0.0.1" }],
    ["comes from elsewhere by IPv6", "::ffff:10.0.0.1", { host: "127.0.0.1" }],
    ["comes from nowhere", "", { host: "127.0.0.1" }],
    ["means another name", "127.0.0.1", { host: "evil.example" }],
    ["means a name that begins alike", "127.0.0.1", { host: "127.0.0.1.evil.example" }],
    ["means no name", "127.0.0.1", {}],
    ["was forwarded", "127.0.0.1", { host: "localhost", "x-forwarded-for": "127.0.0.1" }],
    ["was forwarded for a host", "127.0.0.1", { host: "localhost", "x-forwarded-host": "a" }],
    ["was forwarded in the standard way", "127.0.0.1", { host: "localhost", forwarded: "for=_a" }],
    ["came through a proxy", "127.0.0.1", { host: "localhost", via: "1.1 a" }],
    ["came through nginx", "127.0.0.1", { host: "localhost", "x-real-ip": "10.0.0.1" }],
  ])("that %s", (_what, address, headers) => {
    expect(isLocalRequest(request(address, headers))).toBe(false);
  });
});

test.each([
  ["127.0.0.1", true],
  ["::1", true],
  ["::ffff:10.1.2.3", true],
  ["172.31.255.255", true],
  ["192.168.0.1", true],
  ["fd00::1", true],
  ["172.32.0.1", false],
  ["203.0.113.1", false],
  ["2001:db8::1", false],
  ["", false],
])("that %p is an address of this machine or of a private network is %p", (address, isPrivate) => {
  expect(isPrivateAddress(address)).toBe(isPrivate);
});

test("a real caller on this machine is known as one", async () => {
  const server = createServer((incoming, response) => response.end(String(isLocalRequest(incoming))));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  expect(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).toBe("true");
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
});
