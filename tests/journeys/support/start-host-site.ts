import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { holdResource } from "@svc/testing";

/** A page of a site that embeds the widget. */
export interface HostPage {
  /** Attributes of the script element; with null, the page has no widget. */
  attributes?: Record<string, string | true> | null;
  /** Headers of the page's response. */
  headers?: Record<string, string>;
  /** HTML of the head, before the script element. */
  head?: string;
  /** HTML of the body. */
  body?: string;
  /** Attributes of the html element. Default: `lang="en"`. */
  html?: string;
}

/** A site on a separate origin, whose pages embed the widget. */
export interface HostSite {
  readonly origin: string;
  /** Adds a page and returns its URL. */
  addPage(page?: HostPage): string;
  /** Returns what browsers have sent to `/reports`, for policies with `report-uri /reports`. */
  reports(): string[];
  close(): Promise<void>;
}

const HOST_BODY = `<main><h1>Kestrel Drones</h1><p>Small drones for large gardens.</p><button id="host">Buy</button></main>`;

const escape = (text: string) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

/** Returns the script element with these attributes. */
export function scriptElement(attributes: Record<string, string | true>): string {
  const texts = Object.entries(attributes).map(([name, value]) =>
    value === true ? name : `${name}="${escape(value)}"`,
  );
  return `<script async ${texts.join(" ")}></script>`;
}

/** Starts a site whose pages embed the widget with these attributes, unless a page has its own. */
export async function startHostSite(attributes: () => Record<string, string | true>): Promise<HostSite> {
  const pages: HostPage[] = [];
  const reports: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    if (path.startsWith("/reports")) {
      let body = "";
      request.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      request.on("end", () => {
        reports.push(body);
        response.writeHead(204).end();
      });
      return;
    }
    const page = pages[Number(/^\/pages\/(\d+)/.exec(path)?.[1] ?? Number.NaN)];
    if (page === undefined) {
      response.writeHead(path === "/favicon.ico" ? 204 : 404).end();
      return;
    }
    const { head = "", body = HOST_BODY, html = 'lang="en"' } = page;
    const script = page.attributes === null ? "" : scriptElement({ ...attributes(), ...page.attributes });
    response.writeHead(200, { "Content-Type": "text/html; charset=utf-8", ...page.headers });
    response.end(
      `<!doctype html><html ${html}><head><title>Kestrel Drones</title>` +
        `<meta name="viewport" content="width=device-width">${head}${script}</head><body>${body}</body></html>`,
    );
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  };
  const release = holdResource(`host site on port ${port}`, close);
  const origin = `http://127.0.0.1:${port}`;
  return {
    origin,
    addPage(page = {}) {
      pages.push(page);
      return `${origin}/pages/${pages.length - 1}`;
    },
    reports: () => [...reports],
    async close() {
      await close();
      release();
    },
  };
}
