import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { makeFixedResponse, sendFixedResponse } from "@svc/http";
import type { FixedResponse } from "@svc/http";
import type { Request, RequestHandler } from "express";
import { TITLE, makeOpenapi } from "./make-openapi.ts";

/**
 * Long enough for one visit, and short enough for a new version to appear soon; after it the `ETag` saves the bytes.
 */
const CACHE_CONTROL = "public, max-age=60";

/**
 * Policy of the page: everything comes from this origin, and nothing is evaluated. The reader sets inline styles, which
 * is why they are allowed on this page only (docs/adr/0043).
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Configuration of the reader: requests go to the origin of the page, and it contacts no other server. */
const READER = {
  url: "openapi.json",
  servers: [{ url: "/", description: "This installation." }],
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
  persistAuth: false,
  externalUrls: { dashboardUrl: "", registryUrl: "", proxyUrl: "", apiBaseUrl: "" },
};

const pageHtml = (readerVersion: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${TITLE}: HTTP API</title>
<link rel="icon" href="data:,">
</head>
<body>
<noscript>This page needs JavaScript. The description of the API is at <a href="openapi.json">openapi.json</a>.</noscript>
<script id="api-reference" type="application/json" data-configuration='${JSON.stringify(READER)}'></script>
<script src="docs/reader.js?v=${readerVersion}"></script>
</body>
</html>
`;

/** A response body with its headers. */
interface Asset {
  answer: FixedResponse;
  headers: Record<string, string>;
}

async function makeAsset(body: Buffer | string, type: string, headers: Record<string, string> = {}): Promise<Asset> {
  const common = { "Content-Type": `${type}; charset=utf-8`, "Cache-Control": CACHE_CONTROL };
  return { answer: await makeFixedResponse(Buffer.from(body)), headers: { ...common, ...headers } };
}

/** Reads the reader from its npm package: one self-contained script. */
async function readReader(): Promise<Buffer> {
  const style = createRequire(import.meta.url).resolve("@scalar/api-reference/style.css");
  return readFile(join(style, "../browser/standalone.js"));
}

/** Makes the page and the script that it loads. */
async function makeDocs(): Promise<{ page: Asset; reader: Asset }> {
  const script = await readReader();
  const version = createHash("sha256").update(script).digest("base64url").slice(0, 12);
  const [page, reader] = await Promise.all([
    makeAsset(pageHtml(version), "text/html", {
      "Content-Security-Policy": POLICY,
      "Referrer-Policy": "no-referrer",
    }),
    makeAsset(script, "text/javascript", { "Cache-Control": "public, max-age=31536000, immutable" }),
  ]);
  return { page, reader };
}

/** Returns a function that creates a value once per key; after an error the next call retries. */
function once<Value>(make: (key: string) => Promise<Value>): (key: string) => Promise<Value> {
  const made = new Map<string, Promise<Value>>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const making = make(key).catch((error: unknown) => {
      made.delete(key);
      throw error;
    });
    made.set(key, making);
    return making;
  };
}

const serve =
  (find: (request: Request) => Promise<Asset>): RequestHandler =>
  async (request, response) => {
    const { answer, headers } = await find(request);
    sendFixedResponse(request, response, answer, headers);
  };

/**
 * `GET /api/v1/openapi.json`, `GET /api/v1/docs` and the script of that page: the description of the API for programs
 * and for people. No key needed. Each is created and compressed at its first request, and all responses share its
 * bytes. Its server is the public URL whose host is that of the request, otherwise the address that the API listens
 * on.
 */
export function serveOpenapi(addresses: { publicUrls: readonly string[]; findLocalUrl: () => string }): {
  getOpenApi: RequestHandler;
  getDocs: RequestHandler;
  getReader: RequestHandler;
} {
  // One per public URL and one for the local address, so that an unknown Host header creates no other one.
  const findDocument = once((serverUrl) => makeAsset(JSON.stringify(makeOpenapi(serverUrl)), "application/json"));
  const findDocs = once(makeDocs);
  return {
    getOpenApi: serve(({ host }) => {
      const publicUrl = addresses.publicUrls.find((url) => new URL(url).host === host?.toLowerCase());
      return findDocument((publicUrl ?? addresses.findLocalUrl()).replace(/\/+$/, ""));
    }),
    getDocs: serve(async () => (await findDocs("")).page),
    getReader: serve(async () => (await findDocs("")).reader),
  };
}
