import { gzipSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import { ServiceError } from "@svc/contracts";
import type { PageFetcher } from "./create-page-fetcher.ts";
import { findSitePages } from "./find-site-pages.ts";

/** What is at each URL: text, bytes, or a fault. Anything else is not found. */
type Site = Record<string, string | Uint8Array | ServiceError>;

const away = new ServiceError("unavailable", "The server answered 503. Try again later.");

/** A fetcher of a site that lies in memory, and the URLs that it was asked for. */
function siteFetcher(site: Site): PageFetcher & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    fetch(url) {
      asked.push(url);
      const found = site[url] ?? new ServiceError("invalid_request", "The server answered 404 (Not Found).");
      if (found instanceof ServiceError) return Promise.reject(found);
      return Promise.resolve({ url, bytes: typeof found === "string" ? Buffer.from(found) : found, mime: null });
    },
    close: () => Promise.resolve(),
  };
}

const NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';
const urlset = (...pages: string[]) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<urlset ${NS}>${pages.map((page) => `<url>\n<loc> ${page} </loc><lastmod>2026-01-01</lastmod></url>`).join("")}</urlset>`;
const index = (...maps: string[]) =>
  `<sitemapindex ${NS}>${maps.map((map) => `<sitemap><loc>${map}</loc></sitemap>`).join("")}</sitemapindex>`;

const SITE = "https://example.com";
const MAP = `${SITE}/sitemap.xml`;
const find = (site: Site, url = MAP, options = {}) => findSitePages(siteFetcher(site), url, options);

describe("the pages of a sitemap", () => {
  test("are those of its own site, each once, without fragment and in its order", async () => {
    const xml = urlset(
      `${SITE}/b`,
      `${SITE}/a#part`,
      `${SITE}/a`,
      "https://www.example.com/www",
      "http://example.com/a",
      "http://example.com/plain?x=1&amp;y=2",
      "https://other.example/",
      "https://sub.example.com/",
      "https://example.com:8443/port",
      "https://user:pw@example.com/user",
      "ftp://example.com/file",
      "/relative",
      "",
      "https://",
    );
    expect(await find({ [MAP]: xml })).toEqual([
      `${SITE}/b`,
      `${SITE}/a`,
      "https://www.example.com/www",
      "http://example.com/plain?x=1&y=2",
      `${SITE}/user`,
      `${SITE}/relative`,
    ]);
  });

  test("are read from XML with prefixes, character data, other namespaces' addresses and small faults", async () => {
    const xml = `<s:urlset ${NS} xmlns:s="x" xmlns:image="y"><s:url><s:loc><![CDATA[${SITE}/a?b=1&c=2]]></s:loc>
      <image:image><image:loc>${SITE}/picture.png</image:loc></image:image></s:url><s:url><s:loc>${SITE}/b?b=1&c=2</s:loc></s:url>`;
    expect(await find({ [MAP]: xml })).toEqual([`${SITE}/a?b=1&c=2`, `${SITE}/b?b=1&c=2`]);
  });

  test("are read from text, from UTF-16 and from packed files", async () => {
    const text = `\u{feff}${SITE}/a\r\n\r\n${SITE}/b\nnot an address\n`;
    const pages = [`${SITE}/a`, `${SITE}/b`];
    expect(await find({ [`${SITE}/map.txt`]: text }, `${SITE}/map.txt`)).toEqual(pages);
    expect(await find({ [MAP]: Buffer.from(`\u{feff}${urlset(...pages)}`, "utf16le") })).toEqual(pages);
    expect(await find({ [`${MAP}.gz`]: gzipSync(urlset(...pages)) }, `${MAP}.gz`)).toEqual(pages);
  });

  test("are at most as many as wanted, the first ones, and no more is asked for than that takes", async () => {
    const fetcher = siteFetcher({
      [MAP]: index(`${SITE}/1.xml`, `${SITE}/2.xml`, `${SITE}/3.xml`),
      [`${SITE}/1.xml`]: urlset(`${SITE}/a`, `${SITE}/b`),
      [`${SITE}/2.xml`]: urlset(`${SITE}/c`, `${SITE}/d`),
    });
    expect(await findSitePages(fetcher, MAP, { maxPages: 3 })).toEqual([`${SITE}/a`, `${SITE}/b`, `${SITE}/c`]);
    expect(fetcher.asked).toEqual([`${SITE}/robots.txt`, MAP, `${SITE}/1.xml`, `${SITE}/2.xml`]);
  });

  test.each([0, -1, 1.5, 1_000_000])("of a number that makes no sense (%d) are refused", async (maxPages) => {
    await expect(find({ [MAP]: urlset(SITE) }, MAP, { maxPages })).rejects.toMatchObject({ code: "invalid_request" });
  });
});

describe("an index of sitemaps", () => {
  test("is followed one level deep, also to another host, and each sitemap is read once", async () => {
    const fetcher = siteFetcher({
      [MAP]: index(`${SITE}/1.xml`, `${SITE}/1.xml`, "https://cdn.example/2.xml.gz", `${SITE}/deep.xml`),
      [`${SITE}/1.xml`]: urlset(`${SITE}/a`),
      "https://cdn.example/2.xml.gz": gzipSync(urlset(`${SITE}/b`, "https://cdn.example/c")),
      [`${SITE}/deep.xml`]: index(MAP, `${SITE}/4.xml`),
    });
    expect(await findSitePages(fetcher, MAP)).toEqual([`${SITE}/a`, `${SITE}/b`]);
    expect(fetcher.asked).toHaveLength(5);
  });

  test("of very many is read up to a hundred", async () => {
    const maps = Array.from({ length: 150 }, (_, number) => `${SITE}/${number}.xml`);
    const fetcher = siteFetcher({
      [MAP]: index(...maps),
      ...Object.fromEntries(maps.map((map, number) => [map, urlset(`${SITE}/page-${number}`)])),
    });
    expect(await findSitePages(fetcher, MAP)).toHaveLength(100);
  });

  test("with one that cannot be read is a fault that names it, or is told and left out where somebody listens", async () => {
    const site = { [MAP]: index(`${SITE}/gone.xml`, `${SITE}/1.xml`), [`${SITE}/1.xml`]: urlset(`${SITE}/a`) };
    await expect(find(site)).rejects.toThrow(`The sitemap ${SITE}/gone.xml cannot be read: The server answered 404`);
    const bad: string[] = [];
    expect(await find(site, MAP, { onBadSitemap: (url: string) => bad.push(url) })).toEqual([`${SITE}/a`]);
    expect(bad).toEqual([`${SITE}/gone.xml`]);
  });

  test("with one that is away for now is tried again as a whole, also where somebody listens", async () => {
    const site = { [MAP]: index(`${SITE}/1.xml`, `${SITE}/2.xml`), [`${SITE}/1.xml`]: away };
    await expect(find(site, MAP, { onBadSitemap: () => undefined })).rejects.toMatchObject({ code: "unavailable" });
  });
});

describe("the root of a site", () => {
  test("leads to the sitemaps that its robots.txt names", async () => {
    const site = {
      [`${SITE}/robots.txt`]:
        "User-agent: *\nDisallow: /secret\nSitemap: https://example.com/docs.xml\nsitemap: /blog.xml\n",
      [`${SITE}/docs.xml`]: urlset(`${SITE}/docs`),
      [`${SITE}/blog.xml`]: urlset(`${SITE}/blog`, `${SITE}/secret/1`),
    };
    for (const root of [SITE, `${SITE}/`, ` ${SITE}/#top`]) {
      expect(await find(site, root)).toEqual([`${SITE}/docs`, `${SITE}/blog`]);
    }
  });

  test("leads to /sitemap.xml where it names none", async () => {
    expect(await find({ [MAP]: urlset(`${SITE}/a`) }, SITE)).toEqual([`${SITE}/a`]);
    await expect(find({}, SITE)).rejects.toThrow(`The sitemap ${MAP} cannot be read: The server answered 404`);
  });
});

describe("what robots.txt forbids is left out", () => {
  const pages = ["/", "/private/a", "/private/open", "/search?q=1", "/a.pdf", "/a.pdf?x"].map(
    (path) => `${SITE}${path}`,
  );
  const paths = async (robots: string) =>
    (await find({ [`${SITE}/robots.txt`]: robots, [MAP]: urlset(...pages) })).map((page) => page.slice(SITE.length));

  test("to everybody", async () => {
    const robots = "User-agent: *\nDisallow: /private/\nAllow: /private/open\nDisallow: /*?q=\nDisallow: /*.pdf$\n";
    expect(await paths(robots)).toEqual(["/", "/private/open", "/a.pdf?x"]);
    expect(await paths("User-agent: *\nDisallow: /")).toEqual([]);
  });

  test("to us by name, whatever is said to others", async () => {
    expect(await paths("User-agent: *\nDisallow: /\n\nUser-agent: SVC-fetch\nDisallow: /private")).toHaveLength(4);
    expect(await paths("User-agent: otherbot\nDisallow: /")).toHaveLength(6);
  });

  test("and nothing where there is none, or what is there is a page", async () => {
    expect(await find({ [MAP]: urlset(...pages) })).toHaveLength(6);
    expect(await paths("<!doctype html><title>Not found</title>")).toHaveLength(6);
  });

  test("and where it cannot be asked now, the site is tried again later", async () => {
    await expect(find({ [`${SITE}/robots.txt`]: away, [MAP]: urlset(...pages) })).rejects.toBe(away);
  });
});

describe("a hostile sitemap is harmless", () => {
  test("with entities that grow: none is replaced", async () => {
    const doctype = `<!DOCTYPE urlset [<!ENTITY a "${"x".repeat(100)}">${Array.from({ length: 20 }, (_, n) => `<!ENTITY ${String.fromCodePoint(98 + n)} "${`&${String.fromCodePoint(97 + n)};`.repeat(50)}">`).join("")}<!ENTITY file SYSTEM "file:///etc/passwd">]>`;
    const found = await find({ [MAP]: doctype + urlset(`${SITE}/&u;`, `${SITE}/&file;`, `${SITE}/a`) });
    expect(found).toEqual([`${SITE}/&u;`, `${SITE}/&file;`, `${SITE}/a`]);
  });

  test("packed to grow a thousand times", async () => {
    const bomb = gzipSync(Buffer.alloc(60 * 1024 * 1024, "<"), { level: 1 });
    await expect(find({ [MAP]: bomb })).rejects.toMatchObject({ code: "payload_too_large" });
  });

  test("with more entries than a sitemap may have, endless elements and endless addresses", async () => {
    const many = urlset(...Array.from({ length: 50_001 }, () => "https://other.example/"), `${SITE}/late`);
    expect(await find({ [MAP]: many })).toEqual([]);
    expect(await find({ [MAP]: `<urlset>${"<url>".repeat(100_000)}` })).toEqual([]);
    expect(await find({ [MAP]: urlset(`${SITE}/${"x".repeat(1_000_000)}`, `${SITE}/a`) })).toEqual([`${SITE}/a`]);
  });

  test.each(["<!doctype html><html><body>Hello</body></html>", "<rss><channel/></rss>", "Hello", "<", "\u0000\u0001"])(
    "that is none says so: %j",
    async (text) => {
      await expect(find({ [MAP]: text })).rejects.toMatchObject({
        code: "invalid_request",
        message: expect.stringContaining("This is no sitemap"),
      });
    },
  );

  test("and an empty one has no pages", async () => {
    expect(await find({ [MAP]: "" })).toEqual([]);
    expect(await find({ [MAP]: urlset() })).toEqual([]);
  });
});

test("a search that is given up ends with the reason of its signal", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  const fetcher = siteFetcher({ [MAP]: urlset(`${SITE}/a`) });
  const stopping: PageFetcher = {
    ...fetcher,
    fetch(url) {
      if (url === MAP) controller.abort(reason);
      return fetcher.fetch(url);
    },
  };
  await expect(findSitePages(stopping, MAP, { signal: controller.signal })).rejects.toBe(reason);
});
