import { projectNameSchema, ServiceError } from "@svc/contracts";
import type { RequestHandler, Express, Request, Response } from "express";
import { randomBytes } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { extname } from "node:path";
import { makeFixedResponse, sendFixedResponse } from "@svc/http";
import type { FixedResponse } from "@svc/http";
import { errorCode } from "@svc/primitives";

/** The paths of the console's pages, as in their router: a segment that begins with `$` matches anything. */
export const PAGE_PATHS: readonly string[] = [
  "/",
  "/sign-in",
  "/link",
  "/$project",
  "/$project/start",
  "/$project/inbox",
  "/$project/inbox/$view",
  "/$project/inbox/$view/$ticketId",
  "/$project/customers",
  "/$project/customers/$customerId",
  "/$project/knowledge",
  "/$project/knowledge/articles",
  "/$project/knowledge/articles/$articleId",
  "/$project/knowledge/gaps",
  "/$project/knowledge/proposals",
  "/$project/knowledge/$kbId",
  "/$project/agents",
  "/$project/agents/$agentId",
  "/$project/integrations",
  "/$project/integrations/$integration",
  "/$project/administration",
  "/$project/administration/$section",
  "/$project/overview",
  "/$project/overview/reports",
  "/$project/notifications",
];

const partsOf = (path: string) => path.split("/").filter((part) => part !== "");
const PAGES = PAGE_PATHS.map(partsOf);

const fits = (wanted: string, part: string) =>
  wanted === "$project" ? projectNameSchema.safeParse(part).success : wanted.startsWith("$") || wanted === part;

/**
 * Returns true if there is a page at this path. A path of one part that could be a project's name is one only for a
 * browser that requests a page (`wantsPage`): a program that requests `/metrics` gets 404.
 */
export function isPagePath(path: string, wantsPage: boolean): boolean {
  const parts = partsOf(path);
  return PAGES.some((page) => {
    if (page.length !== parts.length) return false;
    const isProjectAlone = page.length === 1 && page[0] === "$project";
    return (wantsPage || !isProjectAlone) && page.every((wanted, index) => fits(wanted, parts[index] ?? ""));
  });
}

/** Returns the content security policy of pages: only their own assets; `nonce` is for styles that they insert. */
function contentPolicy(nonce?: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${nonce === undefined ? "" : ` 'nonce-${nonce}'`}`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** Headers of every response of the console. */
export const securityHeaders: RequestHandler = (_request, response, next) => {
  response.set({
    "Content-Security-Policy": contentPolicy(),
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
  });
  next();
};

/** The build's folder for the pages. */
const WEB_DIR = new URL("../../dist-web/", import.meta.url);

/** Valid file names; nothing else is looked up. A segment never begins with a dot. */
const NAME = /^(?:[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}\/){0,3}[A-Za-z0-9_-][A-Za-z0-9_.@-]{0,149}$/;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".webmanifest": "application/manifest+json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
};
/** Extensions of compressible files. */
const COMPRESSED = new Set([".html", ".js", ".css", ".json", ".webmanifest", ".svg", ".txt"]);

/** Files with a hash in their names never change. */
const IMMUTABLE = "public, max-age=31536000, immutable";
/** All other files are revalidated each time, by their ETag. */
const REVALIDATED = "no-cache";

/** Placeholder in the page for a nonce that is new with each response. */
const NONCE_MARK = "__CSP_NONCE__";

interface WebFile extends FixedResponse {
  changedAt: number;
  type: string;
}

const isMissing = (error: unknown): boolean => ["ENOENT", "EISDIR", "ENOTDIR"].includes(errorCode(error) ?? "");

/** Reads files of the build, each once until it changes. */
function createWebFiles(folder: URL) {
  const known = new Map<string, WebFile>();

  /** Returns the contents of a file; undefined if it does not exist. */
  async function readIfThere(url: URL): Promise<Buffer | undefined> {
    try {
      return await readFile(url);
    } catch (error) {
      if (!isMissing(error)) throw error;
      return undefined;
    }
  }

  /** Precompressed files are smaller than those compressed while a client waits. */
  async function readEncoded(name: string): Promise<Parameters<typeof makeFixedResponse>[1]> {
    const [gzip, br] = await Promise.all([".gz", ".br"].map((end) => readIfThere(new URL(name + end, folder))));
    return { ...(gzip === undefined ? {} : { gzip }), ...(br === undefined ? {} : { br }) };
  }

  async function read(name: string): Promise<WebFile | null> {
    const url = new URL(name, folder);
    const { mtimeMs: changedAt } = await stat(url);
    const before = known.get(name);
    if (before?.changedAt === changedAt) return before;
    const extension = extname(name);
    const encoded = COMPRESSED.has(extension) ? await readEncoded(name) : { gzip: null, br: null };
    const file: WebFile = {
      changedAt,
      type: TYPES[extension] ?? "application/octet-stream",
      ...(await makeFixedResponse(await readFile(url), encoded)),
    };
    known.set(name, file);
    return file;
  }

  return {
    /** Returns a file of the build; null if there is none with this name. */
    async find(name: string): Promise<WebFile | null> {
      if (!NAME.test(name) || TYPES[extname(name)] === undefined) return null;
      try {
        return await read(name);
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },
  };
}

const send = (request: Request, response: Response, file: WebFile, cacheControl: string) =>
  sendFixedResponse(request, response, file, { "Content-Type": file.type, "Cache-Control": cacheControl });

/** Sends the page itself, with a new nonce if it contains the placeholder. */
function sendPage(request: Request, response: Response, file: WebFile): void {
  const text = file.plain.toString("utf8");
  if (!text.includes(NONCE_MARK)) return send(request, response, file, REVALIDATED);
  const nonce = randomBytes(16).toString("base64");
  response.set({
    "Content-Type": file.type,
    "Cache-Control": "no-store",
    "Content-Security-Policy": contentPolicy(nonce),
  });
  response.send(text.replaceAll(NONCE_MARK, nonce));
}

const NOT_BUILT = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Console</title></head>
<body><h1>The console's pages are not built here</h1>
<p>The server runs, but there are no pages to show. Build them with <code>npm run build</code>, then load this page
again.</p></body></html>
`;

/** Returns true for a browser that opens a page, and false for programs. */
const wantsPage = ({ headers }: Request): boolean => headers.accept?.includes("text/html") === true;

/** Returns the error for an unknown path. */
const notFound = () => new ServiceError("not_found", "Nothing found at this path of the console.");

/**
 * Serves the pages of the console and their files. A path without a dot in its last segment is one of the page itself,
 * whose router selects the content; for unknown ones, browsers get a page that says so, and programs get a problem.
 * Files below `assets/` have a hash in their names and are cached permanently.
 */
export function addWebRoutes(routes: Express, folder: URL = WEB_DIR): void {
  const files = createWebFiles(folder);
  const answer = (): RequestHandler => async (request, response) => {
    if (request.method !== "GET" && request.method !== "HEAD") throw notFound();
    const name = request.path.slice(1);
    const isFile = (name.split("/").pop() ?? "").includes(".");
    if (isFile) {
      const file = name === "index.html" ? null : await files.find(name);
      if (file === null) throw notFound();
      return send(request, response, file, name.startsWith("assets/") ? IMMUTABLE : REVALIDATED);
    }
    const isPage = isPagePath(request.path, wantsPage(request));
    if (!isPage && !wantsPage(request)) throw notFound();
    const page = await files.find("index.html");
    if (!isPage) response.status(404);
    if (page !== null) return sendPage(request, response, page);
    response.status(503).set({ "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" });
    response.send(NOT_BUILT);
  };
  routes.use(answer());
}
