import { createServer, get } from "node:http";
import type { IncomingMessage } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Request } from "express";
import { collectLog } from "@svc/testing";
import { clientAddress, clientNetwork, isLocalRequest, isPrivateAddress } from "./client-address.ts";
import { createApp } from "./create-app.ts";
import { listen } from "./listen.ts";
import type { Listening } from "./listen.ts";

describe("clientAddress", () => {
  /** The address of the test's client, as the server sees it. */
  const PEER = "127.0.0.1";

  /** Servers by the proxies that they trust. */
  const TRUST = {
    nobody: [],
    strangers: ["10.0.0.0/8", "127.0.0.2", "2001:db8:ffff::/48"],
    peer: [PEER],
    peerAndNetwork: ["127.0.0.0/8", "10.0.0.0/8", "2001:db8:ffff::/48"],
  };

  let servers: Record<keyof typeof TRUST, Listening>;

  beforeAll(async () => {
    const start = async (trustProxy: readonly string[]) => {
      const addRoutes: Parameters<typeof createApp>[1] = (routes) => {
        routes.get("/", (request, response) => void response.send(clientAddress(request)));
      };
      const app = createApp(collectLog().log, addRoutes, { trustProxy });
      return listen(app, { host: PEER, port: 0, setting: "SVC_API_PORT" });
    };
    const entries = await Promise.all(
      Object.entries(TRUST).map(async ([name, trusted]) => [name, await start(trusted)] as const),
    );
    servers = Object.fromEntries(entries) as typeof servers;
  });

  afterAll(async () => {
    await Promise.all(Object.values(servers).map((server) => server.close(1_000)));
  });

  /** Returns the client address that a server determines for these `X-Forwarded-For`. */
  async function requestAddress(server: keyof typeof TRUST, ...forwarded: string[]): Promise<string> {
    const headers = forwarded.flatMap((value) => ["X-Forwarded-For", value]);
    const { port } = servers[server];
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get({ host: PEER, port, agent: false, headers: ["Host", "a", ...headers] }, resolve).on("error", reject);
    });
    let text = "";
    for await (const part of response.setEncoding("utf8")) text += String(part);
    return text;
  }

  describe("X-Forwarded-For", () => {
    test.each(["nobody", "strangers"] as const)(
      "is not believed from a caller who is no named proxy: %s",
      async (who) => {
        for (const forwarded of ["203.0.113.7", "10.0.0.1", "127.0.0.1", "::1", "203.0.113.7, 10.0.0.1", "junk", ""]) {
          expect(await requestAddress(who, forwarded)).toBe(PEER);
        }
      },
    );

    test.each([
      ["203.0.113.7", "203.0.113.7"],
      ["203.0.113.7,127.0.0.1", "203.0.113.7"],
      ["  203.0.113.7  ", "203.0.113.7"],
    ])("is believed from a named proxy: %j is %s", async (forwarded, address) => {
      expect(await requestAddress("peer", forwarded)).toBe(address);
    });

    test("that a named proxy does not send leaves the proxy itself", async () => {
      expect(await requestAddress("peer")).toBe(PEER);
    });

    test.each([
      ["198.51.100.1, 203.0.113.7"],
      ["127.0.0.1, 203.0.113.7"],
      ["10.9.9.9, 127.0.0.1, 203.0.113.7"],
      ["198.51.100.1, 10.0.0.5, 203.0.113.7, 10.1.2.3"],
      ["junk, , ::1, 203.0.113.7, 10.1.2.3, 10.4.5.6"],
      ["198.51.100.1, 203.0.113.7, 2001:db8:ffff::5"],
    ])("counts for the first caller who is no named proxy, whatever that one claims: %s", async (forwarded) => {
      expect(await requestAddress("peerAndNetwork", forwarded)).toBe("203.0.113.7");
    });

    test("in several headers is one list, in their order", async () => {
      expect(await requestAddress("peer", "198.51.100.1", "203.0.113.7")).toBe("203.0.113.7");
    });

    test.each(["junk", "unknown", "_hidden", "999.1.1.1", "1.2.3", "::g", "[::1", "203.0.113.7, junk", "%", "١.٢.٣.٤"])(
      "that names no address counts for the proxy that passed it on: %s",
      async (forwarded) => {
        expect(await requestAddress("peer", Buffer.from(forwarded).toString("latin1"))).toBe(PEER);
      },
    );

    test.each([
      ["203.0.113.7:4711", "203.0.113.7"],
      ["[2001:db8:1:2::5]:4711", "2001:db8:1:2::/64"],
      ["[2001:db8:1:2::5]", "2001:db8:1:2::/64"],
    ])("may name a port, which does not make another caller: %s", async (forwarded, address) => {
      expect(await requestAddress("peer", forwarded)).toBe(address);
    });
  });

  describe("an IPv6 address", () => {
    test.each([
      "2001:db8:1:2::",
      "2001:db8:1:2::1",
      "2001:DB8:1:2:ffff:ffff:ffff:ffff",
      "2001:0db8:0001:0002:0000:0000:0000:0009",
      "2001:db8:1:2::192.0.2.1",
      "2001:db8:1:2::1%eth0",
    ])("counts for its /64, in every notation: %s", async (address) => {
      expect(await requestAddress("peer", address)).toBe("2001:db8:1:2::/64");
    });

    test.each([
      ["2001:db8:1:3::1", "2001:db8:1:3::/64"],
      ["2001:db8::1", "2001:db8:0:0::/64"],
      ["2001::1", "2001:0:0:0::/64"],
      ["::1", "0:0:0:0::/64"],
      ["::", "0:0:0:0::/64"],
      ["1:2:3:4:5:6:7:8", "1:2:3:4::/64"],
      ["1:2:3:4:5:6:7::", "1:2:3:4::/64"],
      ["::2:3:4:5:6:7:8", "0:2:3:4::/64"],
    ])("of another /64 counts by itself: %s", async (address, name) => {
      expect(await requestAddress("peer", address)).toBe(name);
    });

    test.each(["::ffff:203.0.113.7", "::ffff:cb00:7107", "0:0:0:0:0:FFFF:203.0.113.7", "[::ffff:203.0.113.7]:80"])(
      "that stands for an IPv4 address counts as that one: %s",
      async (address) => {
        expect(await requestAddress("peer", address)).toBe("203.0.113.7");
      },
    );
  });

  test.each([
    ["203.0.113.7", "203.0.113.0/24"],
    ["203.0.113.255", "203.0.113.0/24"],
    ["::ffff:203.0.113.7", "203.0.113.0/24"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"],
    ["::1", "0:0:0::/48"],
    ["junk", null],
    ["", null],
  ])("a request from %j comes from the network %j", (ip, network) => {
    expect(clientNetwork({ ip, socket: {} } as unknown as Request)).toBe(network);
  });
});

describe("isLocalRequest", () => {
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
});
