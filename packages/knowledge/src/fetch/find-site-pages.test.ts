import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { ServiceError } from "@svc/contracts";
import { createAddressGuard } from "@svc/outbound";
import { createFileReader } from "../parse/create-file-reader.ts";
import { createPageFetcher } from "./create-page-fetcher.ts";
import type { PageFetcher } from "./create-page-fetcher.ts";
import { findSitePages } from "./find-site-pages.ts";

const reader = createFileReader();
afterAll(() => reader.close());

/** What is at each URL: text, bytes, or a fault. Anything else is not found. */
type Site = Record<string, string | Uint8Array | ServiceError>;

const away = new ServiceError("unavailable", "The server responded with 503. Try again later.");

/** A fetcher of a site that lies in memory, and the URLs that it was asked for. */
function siteFetcher(site: Site): PageFetcher & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    fetch(url) {
      asked.push(url);
      const found = site[url] ?? new ServiceError("invalid_request", "The server responded with 404 (Not Found).");
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
const find = (site: Site, url = MAP, options = {}) =>
  findSitePages({ fetcher: siteFetcher(site), reader }, url, options);

/** The pages that are found, and the sitemaps that were told as not read or not read in full. */
async function findPart(site: Site, url = MAP) {
  const bad: string[] = [];
  const pages = await find(site, url, { onIncomplete: (sitemap: string) => bad.push(sitemap) });
  return { pages, bad };
}

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
      <image:image><image:loc>${SITE}/picture.png</image:loc></image:image></s:url><s:url><s:loc>${SITE}/b?b=1&c=2</s:loc></s:url></s:urlset>`;
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
    expect(await findSitePages({ fetcher, reader }, MAP, { maxPages: 3 })).toEqual([
      `${SITE}/a`,
      `${SITE}/b`,
      `${SITE}/c`,
    ]);
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
      [`${SITE}/deep.xml`]: index(MAP, `${SITE}/1.xml`),
    });
    expect(await findSitePages({ fetcher, reader }, MAP)).toEqual([`${SITE}/a`, `${SITE}/b`]);
    expect(fetcher.asked).toHaveLength(5);
  });

  test("that lies in an index is told, since what it names is not read", async () => {
    const site = { [MAP]: index(`${SITE}/deep.xml`), [`${SITE}/deep.xml`]: index(`${SITE}/4.xml`) };
    expect(await findPart(site)).toEqual({ pages: [], bad: [`${SITE}/deep.xml`] });
    await expect(find(site)).rejects.toThrow("was not read completely: it is an index within an index");
  });

  test("of very many is read up to a hundred, and that there are more is told", async () => {
    const maps = Array.from({ length: 101 }, (_, number) => `${SITE}/${number}.xml`);
    const contents = Object.fromEntries(maps.map((map, number) => [map, urlset(`${SITE}/page-${number}`)]));
    const ofIndex = await findPart({ ...contents, [MAP]: index(...maps) });
    expect({ count: ofIndex.pages.length, bad: ofIndex.bad }).toEqual({ count: 100, bad: [MAP] });
    const robots = `${SITE}/robots.txt`;
    const ofRobots = await findPart({ ...contents, [robots]: maps.map((map) => `Sitemap: ${map}\n`).join("") }, SITE);
    expect({ count: ofRobots.pages.length, bad: ofRobots.bad }).toEqual({ count: 100, bad: [robots] });
    expect(await findPart({ ...contents, [MAP]: index(...maps.slice(0, 100)) })).toMatchObject({ bad: [] });
  });

  test("with one that cannot be read is a fault that names it, or is told and left out where somebody listens", async () => {
    const site = { [MAP]: index(`${SITE}/gone.xml`, `${SITE}/1.xml`), [`${SITE}/1.xml`]: urlset(`${SITE}/a`) };
    await expect(find(site)).rejects.toThrow(
      `The sitemap ${SITE}/gone.xml cannot be read: The server responded with 404`,
    );
    expect(await findPart(site)).toEqual({ pages: [`${SITE}/a`], bad: [`${SITE}/gone.xml`] });
  });

  test("with one that is away for now is tried again as a whole, also where somebody listens", async () => {
    const site = { [MAP]: index(`${SITE}/1.xml`, `${SITE}/2.xml`), [`${SITE}/1.xml`]: away };
    await expect(find(site, MAP, { onIncomplete: () => undefined })).rejects.toMatchObject({ code: "unavailable" });
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
    await expect(find({}, SITE)).rejects.toThrow("The server responded with 404");
  });

  test.each<[string, Site]>([
    ["is missing", {}],
    [
      "is a page, as where a server responds with the same page to everything",
      { [MAP]: "<!doctype html><p>Hello</p>" },
    ],
    ["lists no page of the site", { [MAP]: urlset("https://staging.example/") }],
    ["is empty", { [MAP]: urlset() }],
  ])("is read by its links if its sitemap %s", async (_, map) => {
    const site = {
      ...map,
      [`${SITE}/`]: '<html><p>Hello <a href="/a">A</a></p></html>',
      [`${SITE}/a`]: "<html><p>A</p>",
    };
    expect(await find(site, SITE)).toEqual([`${SITE}/`, `${SITE}/a`]);
  });

  test("is read by its links if the sitemap that robots.txt names cannot be read, which is reported", async () => {
    const robots = `Sitemap: ${SITE}/gone.xml`;
    const site = { [`${SITE}/robots.txt`]: robots, [`${SITE}/`]: "<html><p>Hello</p>" };
    expect(await findPart(site, SITE)).toEqual({ pages: [`${SITE}/`], bad: [`${SITE}/gone.xml`] });
  });

  test("with a sitemap that is unavailable is tried again later", async () => {
    const site = { [MAP]: away, [`${SITE}/`]: "<html><p>Hello</p>" };
    await expect(find(site, SITE, { onIncomplete: () => undefined })).rejects.toMatchObject({ code: "unavailable" });
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

  test("with stars and ends, of which the longest rule decides, and of two the one that allows", async () => {
    expect(await paths("User-agent: *\nDisallow: /\nAllow: /*.pdf$\nDisallow: /a.pdf?\n")).toEqual(["/a.pdf"]);
    expect(await paths("User-agent: *\nDisallow: /p*e/*n$\nDisallow: /*")).toEqual([]);
    expect(await paths("User-agent: *\nDisallow: /a.pdf\nAllow: /a.pdf")).toHaveLength(6);
    expect(await paths("User-agent: *\nDisallow:\nDisallow: a.pdf\nDisallow: *pdf$*x$")).toHaveLength(6);
    expect(await paths("User-agent: *\nDisallow: /a.pdf*pdf$\nDisallow: /private/a$")).toHaveLength(5);
  });

  test("for several names together, also with a sitemap between them", async () => {
    const robots =
      "User-agent: a\nSitemap: /map.xml\nuser-agent: SVC-Fetch/2.0 # us\nDisallow: /private\n\nUser-agent: b\nDisallow: /";
    expect(await paths(robots)).toHaveLength(4);
    expect(
      await paths(`User-agent: *\nDisallow: /\n\n${robots}\nUser-agent: svc-fetch\nDisallow: /search`),
    ).toHaveLength(3);
  });

  test("and told to whoever listens", async () => {
    const forbidden: string[] = [];
    const site = {
      [`${SITE}/robots.txt`]: "User-agent: *\nDisallow: /%73ecret%2f",
      [MAP]: urlset(`${SITE}/%73ecret%2F1`, `${SITE}/a`),
    };
    const found = await find(site, MAP, { onForbidden: (url: string) => forbidden.push(url) });
    expect({ found, forbidden }).toEqual({ found: [`${SITE}/a`], forbidden: [`${SITE}/%73ecret%2F1`] });
  });

  test("and where it cannot be asked now, the site is tried again later", async () => {
    await expect(find({ [`${SITE}/robots.txt`]: away, [MAP]: urlset(...pages) })).rejects.toBe(away);
  });
});

describe("a sitemap that is not seen in full is told as such", () => {
  const whole = urlset(`${SITE}/a`, `${SITE}/b`);
  const many = (count: number) => Array.from({ length: count }, () => "https://other.example/");

  test("and its pages are taken as far as they are there", async () => {
    const cut = whole.slice(0, whole.indexOf(`${SITE}/b`) + 5);
    expect(await findPart({ [MAP]: cut })).toEqual({ pages: [`${SITE}/a`], bad: [MAP] });
    expect(await findPart({ [MAP]: index(`${SITE}/1.xml`), [`${SITE}/1.xml`]: cut })).toEqual({
      pages: [`${SITE}/a`],
      bad: [`${SITE}/1.xml`],
    });
    await expect(find({ [MAP]: cut })).rejects.toThrow(`The sitemap ${MAP} was not read completely`);
  });

  test.each([
    ["that lacks its last tag", whole.replace("</urlset>", "")],
    ["of nothing", ""],
    ["with a comment without an end", whole.replace("</urlset>", `<!--${"x".repeat(200_000)}`)],
    ["with more entries than one may have", urlset(...many(50_001))],
    ["as text with more entries", Array.from({ length: 50_001 }, (_, n) => `https://other.example/${n}\n`).join("")],
    ["with endless elements", `<urlset>${"<url>".repeat(100_000)}`],
    ["with endless attributes", `<urlset><url ${Array.from({ length: 2_000 }, (_, n) => `a${n}="" `).join("")}>`],
  ])("%s", async (_, text) => expect(await findPart({ [MAP]: text })).toMatchObject({ bad: [MAP] }));

  test.each([
    ["a whole one", whole],
    ["an empty one", urlset()],
    ["one with an end tag left out", whole.replace("</url></urlset>", "</urlset>")],
    ["one with as many entries as there may be", urlset(...many(50_000))],
  ])("and %s is not", async (_, text) => expect(await findPart({ [MAP]: text })).toMatchObject({ bad: [] }));
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

  test("with endless addresses, or such that grow when they are escaped", async () => {
    const xml = urlset(`${SITE}/${"x".repeat(1_000_000)}`, `${SITE}/${"\u{4e2d}".repeat(1_000)}`, `${SITE}/a`);
    expect(await find({ [MAP]: xml })).toEqual([`${SITE}/a`]);
  });

  test.each(["<!doctype html><html><body>Hello</body></html>", "<rss><channel/></rss>", "Hello", "<", "\u0000\u0001"])(
    "that is none says so: %j",
    async (text) => {
      await expect(find({ [MAP]: text })).rejects.toMatchObject({
        code: "invalid_request",
        message: expect.stringContaining("This is not a sitemap"),
      });
    },
  );

  test("and an empty one has no pages", async () => {
    expect(await find({ [MAP]: urlset() })).toEqual([]);
  });
});

describe("whatever a site writes, the process goes on with its other work", () => {
  const long = (count: number, text: string) =>
    urlset(...Array.from({ length: count }, (_, n) => `${SITE}/${text}${n}`));
  const group = "User-agent: *\n";

  test.each<[string, Site]>([
    [
      "rules of stars",
      {
        [`${SITE}/robots.txt`]: group + `Disallow: /${"a*".repeat(480)}b\n`.repeat(500),
        [MAP]: long(20, "a".repeat(1_900)),
      },
    ],
    [
      "rules that nearly match",
      {
        [`${SITE}/robots.txt`]: group + `Disallow: /*${"a".repeat(900)}b\n`.repeat(500),
        [MAP]: long(20, "a".repeat(1_900)),
      },
    ],
    ["end tags that fit nowhere", { [MAP]: `<urlset>${"<a>".repeat(18)}${"</b>".repeat(500_000)}` }],
    ["addresses that grow", { [MAP]: long(10_000, "\u{4e2d}".repeat(600)) }],
    ["lines", { [MAP]: `${SITE}/\n${"a\n".repeat(2_000_000)}` }],
  ])("with many %s", async (_, site) => {
    // Turns are counted, not timed: a search in one piece has the few that its fetches take.
    let turns = 0;
    let isDone = false;
    const next = () => {
      turns += 1;
      if (!isDone) setImmediate(next);
    };
    setImmediate(next);
    await findPart(site);
    isDone = true;
    expect(turns).toBeGreaterThan(2);
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
  await expect(findSitePages({ fetcher: stopping, reader }, MAP, { signal: controller.signal })).rejects.toBe(reason);
});

describe("a site without a sitemap is read by its links", () => {
  const guard = createAddressGuard({ allow: ["127.0.0.1"], allowLoopback: false, ownPorts: [] });
  const requested: string[] = [];
  /** Content of each path: HTML by default. A path that is missing is 404. */
  let contents: Record<string, string | { status: number; headers?: Record<string, string>; body?: string }> = {};
  let origin = "";
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    requested.push(path);
    const found = contents[path] ?? { status: 404 };
    const { status, headers = {}, body = "" } = typeof found === "string" ? { status: 200, body: found } : found;
    response.writeHead(status, { "content-type": "text/html", ...headers }).end(body);
  });
  const fetcher = createPageFetcher({ guard, intervalMs: 0 });

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    requested.length = 0;
  });
  afterAll(async () => {
    await fetcher.close();
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  });

  /** A page with links to these addresses; `more` is further HTML. */
  const page = (links: readonly string[], more = "") =>
    `<!doctype html><title>Page</title>${more}<nav>${links.map((href) => `<a href="${href}">Go</a>`).join(" ")}</nav><p>Some words.</p>`;
  const paths = (pages: readonly string[]) => pages.map((url) => url.replace(origin, ""));
  const follow = async (path = "/", options = {}) =>
    paths(await findSitePages({ fetcher, reader }, `${origin}${path}`, options));

  test("breadth first, in a cycle, each page once, without fragments and without other sites", async () => {
    contents = {
      "/": page([
        "/a",
        "b#part",
        "/a#top",
        "https://other.example/",
        "mailto:a@example.com",
        "javascript:alert(1)",
        "//",
      ]),
      "/a": page(["/", "/b", "/a/deep"]),
      "/b": page(["/a", "c"]),
      "/a/deep": page(["../", "/b?x=1"]),
      "/c": page(["/"]),
      "/b?x=1": page([]),
    };
    expect(await follow()).toEqual(["/", "/a", "/b", "/a/deep", "/c", "/b?x=1"]);
    expect(requested.filter((path) => path === "/a")).toHaveLength(1);
  });

  test("in the folder of its URL and below, from any page of it", async () => {
    contents = {
      "/docs/": page(["/", "intro", "/docs2/", "/docs/api/users.html"]),
      "/docs/intro": page([]),
      "/docs/api/users.html": page(["/docs/"]),
      "/": page([]),
    };
    const all = ["/docs/", "/docs/intro", "/docs/api/users.html"];
    expect(await follow("/docs/")).toEqual(all);
    expect(await follow("/docs/intro")).toEqual(["/docs/intro"]);
    expect(requested).not.toContain("/");
  });

  test("but not by links and pages that are marked nofollow, also with a base for all of its links", async () => {
    contents = {
      "/": page(["guide", "closed"], '<base href="/en/"><a rel="external nofollow" href="/login">Log in</a>'),
      "/en/guide": page([]),
      "/en/closed": page(["/hidden"], '<meta name="Robots" content="noindex, nofollow">'),
      "/login": page([]),
      "/hidden": page([]),
    };
    expect(await follow()).toEqual(["/", "/en/guide", "/en/closed"]);
  });

  test("as robots.txt allows", async () => {
    contents = {
      "/robots.txt": "User-agent: *\nDisallow: /secret",
      "/": page(["/secret/a", "/open"]),
      "/open": page([]),
      "/secret/a": page([]),
    };
    const forbidden: string[] = [];
    expect(await follow("/", { onForbidden: (url: string) => forbidden.push(url) })).toEqual(["/", "/open"]);
    expect(paths(forbidden)).toEqual(["/secret/a"]);
    expect(requested).not.toContain("/secret/a");
    contents["/robots.txt"] = "User-agent: *\nDisallow: /";
    await expect(follow()).rejects.toThrow("The robots.txt of this site does not allow svc-fetch to read it");
  });

  test("with documents, which are not fetched, and without missing pages, images and pages without text", async () => {
    contents = {
      "/": page(["/prices.pdf", "/gone", "/logo.png", "/empty", "/api", "/feed.xml"]),
      "/empty": "<!doctype html><title>App</title><div id=app></div>",
      "/api": { status: 200, headers: { "content-type": "application/json" }, body: '{"a":1}' },
    };
    expect(await follow()).toEqual(["/", "/prices.pdf"]);
    expect(requested).not.toContain("/prices.pdf");
    expect(requested).not.toContain("/logo.png");
  });

  test("with the target of a redirect, once, unless it belongs to another site", async () => {
    const to = (location: string) => ({ status: 301, headers: { location } });
    contents = {
      "/": page(["/docs", "/docs/", "/old", "/away"]),
      "/docs": to("/docs/"),
      "/docs/": page(["/docs"]),
      "/old": to("/new"),
      "/new": page(["/docs"]),
      "/away": to("http://127.0.0.2:1/"),
    };
    expect((await follow()).toSorted()).toEqual(["/", "/docs/", "/new"]);
    contents["/"] = to("/en/start");
    contents["/en/start"] = page(["/new"]);
    expect(await follow()).toEqual(["/en/start", "/new", "/docs/"]);
    await expect(follow("/docs")).resolves.toEqual(["/docs/"]);
    contents["/manual/"] = to("/new");
    await expect(follow("/manual/")).rejects.toThrow(`The URL redirects to ${origin}/new. Use that URL.`);
  });

  test("up to the number of pages, and no more is fetched than that takes", async () => {
    contents = { "/": page(["/a", "/b", "/c"]), "/a": page(["/d"]), "/b": page([]) };
    expect(await follow("/", { maxPages: 3 })).toEqual(["/", "/a", "/b"]);
    expect(requested).toEqual(["/robots.txt", "/sitemap.xml", "/"]);
  });

  test("without end neither by a chain of pages nor by the queries of one, pages without a query first", async () => {
    contents = new Proxy<typeof contents>(
      {},
      {
        get(_, path: string) {
          if (path === "/robots.txt" || path === "/sitemap.xml") return undefined;
          const count = Number(/\d+/.exec(path)?.[0] ?? 0);
          if (path.startsWith("/calendar"))
            return page(Array.from({ length: 60 }, (__, day) => `/calendar?day=${count + day}`));
          return page(["/calendar?day=1", `/page-${count + 1}`]);
        },
      },
    );
    const found = await follow();
    expect(found.filter((path) => path.startsWith("/page"))).toEqual(
      Array.from({ length: 10 }, (_, number) => `/page-${number + 1}`),
    );
    expect(found.filter((path) => path.startsWith("/calendar"))).toHaveLength(100);
    expect(requested.indexOf("/page-1")).toBeLessThan(requested.indexOf("/calendar?day=1"));
  });

  test("as far as the time suffices, which is reported", async () => {
    contents = { "/": page(["/a", "/b"]), "/a": page(["/c"]), "/b": page([]) };
    const bad: string[] = [];
    const options = { followMs: 0, onIncomplete: (_url: string, { message }: Error) => bad.push(message) };
    expect(await follow("/", options)).toEqual(["/", "/a", "/b"]);
    expect(bad).toEqual([
      `Not all links of ${origin}/ were followed, because the time limit was reached. Import missing sections by their own URLs.`,
    ]);
  });

  test("with pages that are unavailable for now, which are reported, and ends where a site limits requests", async () => {
    const busy = { status: 429 };
    const many = Array.from({ length: 20 }, (_, number) => `/${number}`);
    contents = { "/": page(many), ...Object.fromEntries(many.map((path) => [path, busy])) };
    const bad: string[] = [];
    expect(await follow("/", { onIncomplete: (url: string) => bad.push(url) })).toEqual(["/", ...many]);
    expect(paths(bad)).toEqual([...many.slice(0, 5), "/"]);
    contents["/"] = busy;
    await expect(follow("/", { onIncomplete: () => undefined })).rejects.toMatchObject({ code: "unavailable" });
  });

  test("whose address is private is refused with what to do", async () => {
    const strict = createPageFetcher({
      guard: createAddressGuard({ allow: [], allowSetting: "SVC_FETCH_ALLOW", allowLoopback: false, ownPorts: [] }),
    });
    try {
      await expect(findSitePages({ fetcher: strict, reader }, origin)).rejects.toThrow(
        "add it to the setting SVC_FETCH_ALLOW on the server and restart the service",
      );
    } finally {
      await strict.close();
    }
  });
});
