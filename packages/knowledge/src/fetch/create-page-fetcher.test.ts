import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createAddressGuard, createReceiverLookup } from "@svc/outbound";
import type { AddressPolicy } from "@svc/outbound";
import { createPageFetcher } from "./create-page-fetcher.ts";
import type { PageFetcher, PageFetcherOptions } from "./create-page-fetcher.ts";

const TEXT = "A page about kestrels. ".repeat(20);
const POLICY: AddressPolicy = { allow: ["127.0.0.1", "wiki.internal"], allowLoopback: false, ownPorts: [] };

let origin: string;
let port: number;
let answer: RequestListener = (_request, response) => void response.end();
const requests: IncomingMessage[] = [];
const server = createServer((request, response) => {
  requests.push(request);
  answer(request, response);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ({ port } = server.address() as AddressInfo);
  origin = `http://127.0.0.1:${port}`;
});

afterAll(async () => {
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
});

/** Makes the server answer so, and fetches from it with a fetcher of these options. */
async function fetchFrom(
  listener: RequestListener,
  {
    path = "/page",
    url = `${origin}${path}`,
    signal,
    ...options
  }: Partial<PageFetcherOptions> & {
    path?: string;
    url?: string;
    signal?: AbortSignal;
  } = {},
) {
  answer = listener;
  requests.length = 0;
  const fetcher = createPageFetcher({ guard: createAddressGuard(POLICY), intervalMs: 0, ...options });
  try {
    return await fetcher.fetch(url, signal);
  } finally {
    await fetcher.close();
  }
}

const send =
  (bytes: string | Buffer, headers: Record<string, string> = {}, status = 200) =>
  (_request: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(status, headers).end(bytes);

const asText = ({ bytes }: { bytes: Uint8Array }) => Buffer.from(bytes).toString();

describe("a page", () => {
  test("comes with its bytes, its media type as the server says it, and its URL without a fragment", async () => {
    const latin = Buffer.from("Gr\u00fc\u00dfe", "latin1");
    const page = await fetchFrom(send(latin, { "content-type": "text/html; charset=ISO-8859-1" }), {
      path: "/a%20b?q=1#part",
    });
    expect(page).toMatchObject({ url: `${origin}/a%20b?q=1`, mime: "text/html; charset=ISO-8859-1" });
    expect(Buffer.from(page.bytes)).toEqual(latin);
    expect(await fetchFrom(send("x"))).toMatchObject({ mime: null });
  });

  test("is asked for by a name that says who asks, and without anything secret", async () => {
    await fetchFrom(send(TEXT));
    expect(requests[0]?.headers).toMatchObject({
      "user-agent": expect.stringMatching(/^svc-fetch\/\d+\.\d+\.\d+$/),
      accept: expect.stringMatching(/^text\/html,/),
      "accept-encoding": "gzip, deflate, br",
    });
    expect(requests[0]?.headers).not.toHaveProperty("cookie");
    expect(requests[0]?.headers).not.toHaveProperty("authorization");
  });

  test.each([
    ["gzip", gzipSync(TEXT)],
    ["X-GZIP", gzipSync(TEXT)],
    ["deflate", deflateSync(TEXT)],
    ["deflate", deflateRawSync(TEXT)],
    ["br", brotliCompressSync(TEXT)],
    ["gzip, br", brotliCompressSync(gzipSync(TEXT))],
    ["identity", Buffer.from(TEXT)],
  ])("that comes as %s is unpacked", async (encoding, bytes) => {
    expect(asText(await fetchFrom(send(bytes, { "content-encoding": encoding })))).toBe(TEXT);
  });

  test("is found behind five redirects, relative ones too, and has the URL of the last", async () => {
    const hops: RequestListener = (request, response) => {
      const left = Number(request.url?.split("/").at(-1));
      if (left === 0) response.end(TEXT);
      else response.writeHead(302, { location: left % 2 === 0 ? String(left - 1) : `/hops/${left - 1}` }).end();
    };
    expect(await fetchFrom(hops, { path: "/hops/5" })).toMatchObject({ url: `${origin}/hops/0` });
    await expect(fetchFrom(hops, { path: "/hops/6" })).rejects.toMatchObject({ code: "invalid_request" });
  });
});

describe("a fault that will be the same at the next try is one of the URL", () => {
  const guardRefuses = expect.stringMatching(/^This URL cannot be fetched\. /);
  test.each([
    "http://10.0.0.1/",
    "http://192.168.1.1:8080/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[::1]/",
    "http://0x7f.2/x",
    "http://2130706434/",
    "http://localhost/",
    "http://printer/",
    "http://db.internal/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "data:text/plain,x",
    "http://user:secret@example.com/",
  ])("%s, and no request is made", async (url) => {
    await expect(fetchFrom(send(TEXT), { url })).rejects.toMatchObject({
      code: "invalid_request",
      message: guardRefuses,
      errors: [{ pointer: "/url", code: "not_fetched" }],
    });
    expect(requests).toEqual([]);
  });

  test.each([
    "",
    "page",
    "http://",
    "//example.com/x",
    `https://example.com/${"x".repeat(2_000)}`,
    `https://example.com/${"\u{4e2d}".repeat(1_000)}`,
  ])("what is no URL: %s", async (url) => {
    await expect(fetchFrom(send(TEXT), { url })).rejects.toMatchObject({ code: "invalid_request" });
  });

  test.each(["http://10.0.0.1/", "http://[::ffff:127.0.0.2]/", "http://localhost/", "file:///etc/passwd"])(
    "a redirect to %s",
    async (location) => {
      await expect(fetchFrom(send("", { location }, 302))).rejects.toMatchObject({
        code: "invalid_request",
        message: guardRefuses,
      });
      expect(requests).toHaveLength(1);
    },
  );

  test("redirects in a loop", async () => {
    const circle: RequestListener = (request, response) =>
      void response.writeHead(301, { location: request.url === "/page" ? "/other" : "/page" }).end();
    await expect(fetchFrom(circle)).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("redirects in a loop"),
    });
    expect(requests).toHaveLength(6);
  });

  test("a name that resolves to a private address, and what it resolves to is not told", async () => {
    const guard = createAddressGuard(
      { ...POLICY, allow: [] },
      { lookup: (_name, _options, callback) => callback(null, [{ address: "127.0.0.1", family: 4 }]) },
    );
    const request = fetchFrom(send(TEXT), { guard, url: `http://docs.example.com:${port}/` });
    await expect(request).rejects.toMatchObject({ code: "invalid_request", message: guardRefuses });
    await expect(request).rejects.not.toThrow(/127\.0\.0\.1/);
    expect(requests).toEqual([]);
  });

  test("a name that nobody knows", async () => {
    const guard = createAddressGuard(POLICY, {
      lookup: (_name, _options, callback) => callback(Object.assign(new Error("no"), { code: "ENOTFOUND" }), []),
    });
    await expect(fetchFrom(send(TEXT), { guard, url: "http://nowhere.example.com/" })).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("host name does not exist"),
    });
  });

  test.each([
    [404, "responded with 404 (Not Found). The page does not exist"],
    [403, "responded with 403 (Forbidden)."],
    [401, "responded with 401 (Unauthorized)."],
    [410, "responded with 410 (Gone)."],
    [204, "responded with 204 (No Content)."],
    [304, "responded with 304 (Not Modified)."],
    [418, "responded with 418"],
  ])("an answer of %i", async (status, text) => {
    await expect(fetchFrom(send("", {}, status))).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining(text),
    });
  });

  test.each([
    ["an unknown encoding", { "content-encoding": "zstd" }, TEXT],
    ["many encodings", { "content-encoding": "gzip, gzip, gzip" }, TEXT],
    ["data that is not packed as it says", { "content-encoding": "gzip" }, TEXT],
    ["half of the data", { "content-encoding": "gzip" }, gzipSync(TEXT).subarray(0, 30)],
  ])("%s", async (_what, headers, body) => {
    await expect(fetchFrom(send(body, headers))).rejects.toMatchObject({ code: "invalid_request" });
  });
});

describe("more than the limit is refused", () => {
  test("as it comes", async () => {
    await expect(fetchFrom(send(Buffer.alloc(3_000_000)), { maxBytes: 2_000_000 })).rejects.toMatchObject({
      code: "payload_too_large",
    });
  });

  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ] as const)("when it is unpacked, however small it came as %s", async (encoding, pack) => {
    const bomb = pack(Buffer.alloc(3_000_000));
    expect(bomb.length).toBeLessThan(10_000);
    await expect(
      fetchFrom(send(bomb, { "content-encoding": encoding }), { maxBytes: 2_000_000 }),
    ).rejects.toMatchObject({ code: "payload_too_large", message: expect.stringContaining("decompressed") });
  });
});

describe("a fault that may pass is told as such", () => {
  test.each([429, 500, 502, 503, 504, 408])("an answer of %i", async (status) => {
    await expect(fetchFrom(send("", { "retry-after": "7" }, status))).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining(`responded with ${status}`),
      headers: { "retry-after": "7" },
    });
  });

  test("a port where nobody listens", async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
    const { port: free } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    await expect(fetchFrom(send(TEXT), { url: `http://127.0.0.1:${free}/` })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });

  test("a server that drips byte after byte", async () => {
    const drip: RequestListener = (_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write("x"), 5);
      response.on("close", () => clearInterval(timer));
    };
    await expect(fetchFrom(drip, { timeoutMs: 300 })).rejects.toMatchObject({ code: "unavailable" });
  });

  test("a server that ends in the middle", async () => {
    const cut: RequestListener = (_request, response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write("half", () => response.destroy());
    };
    await expect(fetchFrom(cut)).rejects.toMatchObject({ code: "unavailable" });
  });
});

describe("a fetch ends early", () => {
  const never: RequestListener = () => undefined;

  test("when its signal says so, with the reason of the signal", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const page = fetchFrom(() => controller.abort(reason), { signal: controller.signal });
    await expect(page).rejects.toBe(reason);
  });

  test("when the fetcher is closed, which waits for it and refuses later ones", async () => {
    let isAsked: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => (isAsked = resolve));
    answer = (request, response) => {
      isAsked();
      never(request, response);
    };
    const fetcher: PageFetcher = createPageFetcher({ guard: createAddressGuard(POLICY) });
    const ended = expect(fetcher.fetch(`${origin}/`)).rejects.toMatchObject({ code: "unavailable" });
    await asked;
    await fetcher.close();
    await ended;
    await expect(fetcher.fetch(`${origin}/`)).rejects.toMatchObject({ code: "unavailable" });
  });
});

test("requests to one host begin an interval apart, and those to other hosts do not wait for them", async () => {
  const begun: string[] = [];
  answer = (request, response) => {
    begun.push(request.headers.host ?? "");
    response.end();
  };
  const guard = createAddressGuard(
    { ...POLICY, allow: ["127.0.0.1", "a.internal", "b.internal"] },
    { lookup: (_name, _options, callback) => callback(null, [{ address: "127.0.0.1", family: 4 }]) },
  );
  const fetcher = createPageFetcher({ guard, intervalMs: 150 });
  const [a, b] = [`a.internal:${port}`, `b.internal:${port}`];
  await Promise.all(
    [`http://${a}/1`, `http://${a}/2`, `http://${a}/3`, `http://${b}/`].map((url) => fetcher.fetch(url)),
  );
  expect(begun.slice(2)).toEqual([a, a]);
  expect(new Set(begun.slice(0, 2))).toEqual(new Set([a, b]));
  await fetcher.close();
});

test("the guard of fetches and its look-up work together: a name that the operator has named is asked of the system", async () => {
  const lookup = createReceiverLookup(["wiki.internal"], {
    system: (_name, _options, callback) => callback(null, [{ address: "127.0.0.1", family: 4 }]),
  });
  const guard = createAddressGuard(POLICY, { lookup });
  expect(asText(await fetchFrom(send(TEXT), { guard, url: `http://wiki.internal:${port}/` }))).toBe(TEXT);
});
