import { readFile, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Express, Request, RequestHandler, Response } from "express";
import { ServiceError } from "@svc/contracts";
import { createKnownHosts, isLoopbackBound, makeFixedResponse, sendFixedResponse } from "@svc/http";
import type { FixedResponse } from "@svc/http";
import { errorCode } from "@svc/primitives";
import type { Config } from "@svc/runtime";

/** The build's folder for the script, its chunks and their manifest. */
const CLIENT_DIR = new URL("../dist/client/", import.meta.url);

const SCRIPT_CACHE = "public, max-age=86400, stale-while-revalidate=604800";
const CHUNK_CACHE = "public, max-age=31536000, immutable";
/** A substitute for a chunk of another version is cached only briefly. */
const STAND_IN_CACHE = "public, max-age=60";

/** File name of a chunk: its name, then a hash of its content. */
const CHUNK = /^([A-Za-z0-9_.-]+)-([A-Za-z0-9]{6,16})\.js$/;

interface ClientFile extends FixedResponse {
  changedAt: number;
}

/** Reads files of the build, each once until it changes. */
function createClientFiles() {
  const known = new Map<string, ClientFile>();

  async function read(name: string): Promise<ClientFile> {
    const url = new URL(name, CLIENT_DIR);
    const { mtimeMs: changedAt } = await stat(url);
    const before = known.get(name);
    if (before?.changedAt === changedAt) return before;
    const file = { changedAt, ...(await makeFixedResponse(await readFile(url))) };
    known.set(name, file);
    return file;
  }

  return {
    /** Returns a file of the build; null if there is none with this name. */
    async find(name: string): Promise<ClientFile | null> {
      try {
        return await read(name);
      } catch (error) {
        if (errorCode(error) === "ENOENT") return null;
        throw error;
      }
    },
  };
}

type ClientFiles = ReturnType<typeof createClientFiles>;

const send = (request: Request, response: Response, file: ClientFile, cacheControl: string) =>
  sendFixedResponse(request, response, file, {
    "Content-Type": "text/javascript; charset=utf-8",
    "Cache-Control": cacheControl,
    // Scripts are loaded by pages of any site; access is checked by the endpoints that they call.
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
  });

const notBuilt = () =>
  new ServiceError("not_found", "The widget's script is not built here. Run: npm run build.", {
    headers: { "Cache-Control": "no-store" },
  });

const noSuchChunk = () => new ServiceError("not_found", "The widget has no chunk with this name.");

/** Returns the chunk with this name in the current build; null if it has none. */
async function findCurrent(files: ClientFiles, name: string): Promise<ClientFile | null> {
  const manifest = await files.find("manifest.json");
  if (manifest === null) return null;
  const chunks = JSON.parse(manifest.plain.toString("utf8")) as Record<string, unknown>;
  const current = Object.hasOwn(chunks, name) ? chunks[name] : undefined;
  return typeof current === "string" ? files.find(current) : null;
}

/** `GET /widget.js`. */
function getScript(files: ClientFiles): RequestHandler {
  return async (request, response) => {
    const file = await files.find("widget.js");
    if (file === null) throw notBuilt();
    send(request, response, file, SCRIPT_CACHE);
  };
}

/** `GET /chunks/:chunk`. */
function getChunk(files: ClientFiles): RequestHandler {
  return async (request, response) => {
    const { chunk } = request.params;
    // Only names of this form are looked up.
    const [path, name] = CHUNK.exec(typeof chunk === "string" ? chunk : "") ?? [];
    if (name === undefined) throw noSuchChunk();
    const exact = await files.find(`chunks/${path}`);
    if (exact !== null) {
      send(request, response, exact, CHUNK_CACHE);
      return;
    }
    const current = await findCurrent(files, name);
    if (current === null) throw noSuchChunk();
    send(request, response, current, STAND_IN_CACHE);
  };
}

/**
 * Serves `GET /widget.js`, cached for a day, and the chunks that it loads, cached permanently because their names
 * contain a hash. A page with an older script gets the current chunk.
 */
export function addClientRoutes(routes: Express, refuse: RequestHandler): void {
  const files = createClientFiles();
  routes.route("/widget.js").get(getScript(files)).all(refuse);
  routes.route("/chunks/:chunk").get(getChunk(files)).all(refuse);
}

const DEMO_DIR = new URL("../demo/", import.meta.url);

const FILES: Readonly<Record<string, string>> = {
  "demo.css": "text/css; charset=utf-8",
  "demo.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
};

/**
 * Allows only what the page itself and the widget on it need: no inline script or style, no other site, and Trusted
 * Types, so that the demo shows that the widget works there.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const NO_KEY =
  'The widget has no key yet. Restart the service, or set one: npm run svc -- channels set widget \'{"apiKey":"…"}\'';

/** Host names of the demo page, which is shown only on loopback. */
const HOSTS = createKnownHosts({ bindHost: "127.0.0.1", publicUrls: [] });

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escapeHtml = (text: string) => text.replaceAll(/[&<>"']/g, (char) => ESCAPES[char] ?? "");

/**
 * Returns true if the demo page is shown: only on the machine itself. If the service is bound to more than loopback, is
 * behind a proxy or runs in production, the page is 404.
 */
export function isDemoShown({
  bindHost,
  trustProxy,
  isProduction,
}: Pick<Config, "bindHost" | "trustProxy" | "isProduction">): boolean {
  return (bindHost === undefined || isLoopbackBound(bindHost)) && trustProxy.length === 0 && !isProduction;
}

/** Returns the origins of the demo page, so that it works even if the settings list allowed sites. */
export function demoOrigins(config: Pick<Config, "bindHost" | "trustProxy" | "isProduction" | "ports">): string[] {
  if (!isDemoShown(config)) return [];
  return ["127.0.0.1", "localhost", "[::1]"].map((host) => `http://${host}:${config.ports.widget}`);
}

/**
 * Returns the demo page: a page of the demo's folder with the widget of this installation, and the tag for copying.
 * `baseUrl` is the widget's URL; without a key the page explains how to get one.
 */
export function renderDemo(page: string, { apiKey, baseUrl }: { apiKey: string | null; baseUrl: string }): string {
  const tag =
    apiKey === null
      ? ""
      : `<script async src="${escapeHtml(baseUrl)}/widget.js" data-svc-widget data-api-key="${escapeHtml(apiKey)}"></script>`;
  const values: Readonly<Record<string, string>> = { tag, snippet: escapeHtml(tag === "" ? NO_KEY : tag) };
  return page.replaceAll(/\{\{([a-z]+)\}\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}

/** `GET /`: read again for each request, so that changes of the key or of the page appear after a reload. */
function getDemo(readKey: () => Promise<string | null>): RequestHandler {
  return async (request, response) => {
    const [page, apiKey] = await Promise.all([readFile(new URL("index.html", DEMO_DIR), "utf8"), readKey()]);
    const host = request.get("host") ?? "";
    const baseUrl = HOSTS.isKnown(host) ? `${request.protocol}://${host}` : "";
    response
      .status(200)
      .set({
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": POLICY,
        "Referrer-Policy": "same-origin",
        "Cache-Control": "no-store",
      })
      .send(renderDemo(page, { apiKey, baseUrl }));
  };
}

/**
 * Serves the demo page at `/`, with its files below `/demo/`. Does nothing unless `isLocal`: then its URLs are 404.
 * `readKey` returns the widget's key, null if there is none.
 */
export function addDemoRoutes(
  app: Express,
  { isLocal, readKey }: { isLocal: boolean; readKey: () => Promise<string | null> },
): void {
  if (!isLocal) return;

  app.get("/", getDemo(readKey));

  for (const [name, type] of Object.entries(FILES)) {
    app.get(`/demo/${name}`, (_request, response) => {
      response.set({ "Content-Type": type, "Cache-Control": "no-cache" });
      response.sendFile(fileURLToPath(new URL(name, DEMO_DIR)));
    });
  }
}
