import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { createKnownHosts, isLoopbackBound } from "@svc/http";
import type { Express, RequestHandler } from "express";
import type { Config } from "@svc/runtime";

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
