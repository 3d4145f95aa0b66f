import { createSocket } from "node:dgram";
import type { Socket } from "node:dgram";
import { Resolver } from "node:dns";
import type { LookupAddress } from "node:dns";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createAddressGuard } from "./address-guard.ts";
import { guardedRequest } from "./guarded-request.ts";
import { createReceiverLookup } from "./receiver-lookup.ts";

const [A, AAAA, NXDOMAIN] = [1, 28, 3];
/** The zone of this test's name server; it does not respond for names below `silent.example`. */
const ZONE: Record<string, { 4?: number[]; 6?: number[] }> = {
  "both.example.com": { 4: [192, 0, 2, 1], 6: [0x20, 0x01, 0x0d, 0xb8, ...Array<number>(11).fill(0), 1] },
  "four.example.com": { 4: [192, 0, 2, 4] },
  "rebound.example.com": { 4: [127, 0, 0, 1] },
  "empty.example.com": {},
};

let server: Socket;
const asked: string[] = [];

/** Parses the question of a DNS message (RFC 1035, section 4.1). */
function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let position = 12;
  for (let length = message.readUInt8(position); length > 0; length = message.readUInt8(position)) {
    labels.push(message.toString("ascii", position + 1, position + 1 + length));
    position += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: message.readUInt16BE(position + 1), end: position + 5 };
}

function answerTo(message: Buffer): Buffer | null {
  const { name, type, end } = readQuestion(message);
  asked.push(name);
  if (name.endsWith("silent.example")) return null;
  const known = ZONE[name];
  const address = type === A ? known?.[4] : type === AAAA ? known?.[6] : undefined;
  const head = Buffer.from(message.subarray(0, 12));
  head.writeUInt16BE(0x8180 | (known === undefined ? NXDOMAIN : 0), 2);
  head.writeUInt16BE(address === undefined ? 0 : 1, 6);
  head.writeUInt32BE(0, 8);
  const question = message.subarray(12, end);
  if (address === undefined) return Buffer.concat([head, question]);
  const record = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, address.length, ...address]);
  return Buffer.concat([head, question, record]);
}

beforeAll(async () => {
  server = createSocket("udp4");
  server.on("message", (message, { port, address }) => {
    const answer = answerTo(message);
    if (answer !== null) server.send(answer, port, address);
  });
  server.bind(0, "127.0.0.1");
  await once(server, "listening");
});

afterAll(() => new Promise<void>((resolve) => server.close(resolve)));

function makeResolver(): Resolver {
  const resolver = new Resolver({ timeout: 1_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${server.address().port}`]);
  return resolver;
}

const fromSystem: LookupAddress[] = [{ address: "192.0.2.99", family: 4 }];

/** Resolves a name; returns the result, and whether the system resolver was used. */
async function check(
  name: string,
  { allow = [], family }: { allow?: string[]; family?: number | "IPv4" | "IPv6" } = {},
) {
  let isSystem = false;
  const lookup = createReceiverLookup(allow, {
    makeResolver,
    system: (_name, _options, callback) => {
      isSystem = true;
      callback(null, fromSystem);
    },
  });
  const found = await new Promise<{ code: string | undefined; addresses: string | LookupAddress[] }>((resolve) => {
    lookup(name, { all: true, ...(family === undefined ? {} : { family }) }, (error, addresses) =>
      resolve({ code: error?.code, addresses }),
    );
  });
  return { ...found, isSystem };
}

const four = { address: "192.0.2.1", family: 4 };
const six = { address: "2001:db8::1", family: 6 };

describe("the name of a receiver", () => {
  test("is asked of the name servers, for both families", async () => {
    expect(await check("both.example.com")).toEqual({ code: undefined, addresses: [four, six], isSystem: false });
  });

  test.each([
    [4, [four]],
    ["IPv4", [four]],
    [6, [six]],
    ["IPv6", [six]],
    [0, [four, six]],
  ] as const)("is asked for family %s alone where that is wanted", async (family, addresses) => {
    expect((await check("both.example.com", { family })).addresses).toEqual(addresses);
  });

  test("is found when it has an address of one family", async () => {
    expect((await check("four.example.com")).addresses).toEqual([{ address: "192.0.2.4", family: 4 }]);
  });

  test("that does not exist or has no address is not found, and the system is not asked either", async () => {
    const unknown = { code: "ENOTFOUND", addresses: [], isSystem: false };
    expect(await check("none.example.com")).toEqual(unknown);
    expect(await check("empty.example.com")).toEqual(unknown);
    expect(await check("four.example.com", { family: 6 })).toEqual(unknown);
  });

  test("whose name server does not answer ends in the fault that the system would tell", async () => {
    expect(await check("one.silent.example")).toEqual({ code: "EAI_AGAIN", addresses: [], isSystem: false });
  });
});

describe("the system is asked for", () => {
  test.each(["localhost", "a.localhost", "localhost.localdomain", "receiver"])(
    "a name of this machine: %s",
    async (name) => {
      expect(await check(name)).toEqual({ code: undefined, addresses: fromSystem, isSystem: true });
      expect(asked).not.toContain(name);
    },
  );

  test.each(["hooks.internal.example", "bücher.example"])("a name that the operator has named: %s", async (entry) => {
    const { hostname } = new URL(`http://${entry}`);
    for (const allow of [[entry], [` ${entry.toUpperCase()}. `, "10.0.0.0/8"]]) {
      expect((await check(hostname, { allow })).isSystem).toBe(true);
    }
    expect((await check(`other.${hostname}`, { allow: [entry] })).isSystem).toBe(false);
  });
});

test("a hundred receivers whose name servers do not answer keep no other one waiting, nor the rest of the process", async () => {
  let isOver = false;
  const silent = Promise.all(Array.from({ length: 100 }, (_, index) => check(`n${index}.silent.example`))).then(
    (all) => {
      isOver = true;
      return all;
    },
  );
  expect((await check("both.example.com")).addresses).toEqual([four, six]);
  // The system resolver, whose threads everything else in the process needs.
  const found = await new Promise((resolve) => {
    createReceiverLookup([])("localhost", { all: true }, (error) => resolve(error));
  });
  expect(found).toBeNull();
  expect(isOver).toBe(false);
  expect(new Set((await silent).map(({ code }) => code))).toEqual(new Set(["EAI_AGAIN"]));
});

test("the guard holds for what the name servers say: a name that resolves to this machine is not called", async () => {
  let calls = 0;
  const receiver = createServer((_request, response) => {
    calls += 1;
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const { port } = receiver.address() as AddressInfo;
  const lookup = createReceiverLookup([], { makeResolver });
  const request = (allowLoopback: boolean) =>
    guardedRequest(createAddressGuard({ allow: [], allowLoopback, ownPorts: [] }, { lookup }), {
      method: "POST",
      url: `http://rebound.example.com:${port}/`,
      body: "{}",
      timeoutMs: 10_000,
      maxResponseBytes: 1_000,
    });
  await expect(request(false)).rejects.toThrow("The address is not allowed");
  expect(calls).toBe(0);
  expect(await request(true)).toMatchObject({ status: 204 });
  expect(calls).toBe(1);
  await new Promise((resolve) => receiver.close(resolve));
});
