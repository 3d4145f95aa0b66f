import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A web site on loopback. */
export interface DocSite {
  url: string;
  close(): Promise<void>;
}

/**
 * Starts the shop's web site that docs/agents-and-knowledge.md adds to a knowledge base: two pages in its sitemap, and
 * one that is not in it.
 */
export async function startDocSite(): Promise<DocSite> {
  const pages = new Map([
    ["/delivery", "<title>Delivery</title><main><h1>Delivery</h1><p>Parcels come within two days.</p></main>"],
    ["/care", "<title>Care</title><main><h1>Care</h1><p>Leather likes a soft brush.</p></main>"],
  ]);
  const contact = "<title>Contact</title><main><h1>Contact</h1><p>Call us on weekdays.</p></main>";
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    const locations = [...pages.keys()].map((page) => `<url><loc>${site.url}${page}</loc></url>`);
    const body =
      path === "/sitemap.xml"
        ? `<urlset>${locations.join("")}</urlset>`
        : (pages.get(path) ?? (path === "/contact" ? contact : undefined));
    const type = path === "/sitemap.xml" ? "application/xml" : "text/html";
    response.writeHead(body === undefined ? 404 : 200, { "Content-Type": type }).end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const site: DocSite = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return site;
}
