import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { openStore } from "@svc/store";
import { createTestDatabase, holdResource, startProcess, testLog, waitFor } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import pg from "pg";
import { SVC_MAIN } from "./support/run-svc.ts";
import { SECRET_KEY } from "./support/start-product.ts";
import { makeFolder, removeFolders } from "./support/svc-instance.ts";
import { runWithin } from "./support/svc-within.ts";

let database: TestDatabase;
let folder: string;
let env: Record<string, string>;
let origin: string;

/** Pages of the site of this test; others are not found. Null responds with 503. */
const pages = new Map<string, string | null>();
const asked: string[] = [];
let answer: RequestListener;
const answerFromPages: RequestListener = (request, response) => {
  const page = pages.get(request.url ?? "");
  if (page === null) response.writeHead(503).end();
  else if (page === undefined) response.writeHead(404).end();
  else response.writeHead(200, { "content-type": page.startsWith("<") ? "text/html" : "text/plain" }).end(page);
};
const server = createServer((request, response) => {
  asked.push(request.url ?? "");
  answer(request, response);
});
let release: () => void;

const closeServer = () =>
  new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

beforeAll(async () => {
  release = holdResource("the site of this test", closeServer);
  answer = answerFromPages;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  database = await createTestDatabase();
  folder = await makeFolder();
  env = {
    DATABASE_URL: database.url,
    SVC_SECRET_KEY: SECRET_KEY,
    SVC_FETCH_ALLOW: "127.0.0.1",
  };
  const store = openStore({ url: database.url, secretKey: env["SVC_SECRET_KEY"] ?? "", log: testLog(), app: "test" });
  await store.projects.ensure("default");
  await store.close();
});

afterAll(async () => {
  await closeServer();
  release();
  await database.drop();
  await removeFolders();
});

/** Runs a command. `typed` is what the user types. */
const svc = (words: string[], { typed }: { typed?: string } = {}) =>
  runWithin({ env, folder, typed: typed ?? "", isTTY: typed !== undefined }, ...words);

interface Document {
  ok: boolean;
  summary: Record<string, number>;
  files: { file: string; status: string; error?: string }[];
  skipped: Record<string, number>;
  removed: { key: string }[];
  items: { name: string; key: string; status: string; chunks: number; documents: number }[];
  hits: { kb: string; title: string; headingPath: string[]; text: string; score: number; url?: string }[];
  linksOut: string[];
  stay: string[];
  kept: string | null;
  new: string[];
  gone: string[];
}

async function svcJson(...words: string[]) {
  const { stdout, code } = await svc([...words, "--json"]);
  return { ...(JSON.parse(stdout) as Document), code };
}

const write = async (name: string, text: string) => {
  await mkdir(join(folder, name, ".."), { recursive: true });
  await writeFile(join(folder, name), text);
};
const keysOf = async (kb: string) => (await svcJson("kb", "list", "--kb", kb)).items.map(({ key }) => key);

describe("a folder", () => {
  beforeAll(async () => {
    await write("docs/kestrel.md", "# Kestrel\n\n## How do I charge it?\n\nUse the blue cable for 95 minutes.\n");
    await write("docs/prices.csv", "part,price\nblue cable,12\n");
    await write("docs/more/help.html", "<title>Help</title><h1>Help</h1><p>The office opens at nine on weekdays.</p>");
    await write("docs/broken.pdf", "%PDF-1.7\nand no more");
    await write("docs/photo.png", "x");
    await write("docs/.git/secret.md", "hidden");
  });

  test("is added with all readable files; an invalid file is listed with its error and affects no other", async () => {
    const { stdout, stderr, code } = await svc(["kb", "add", "docs", "missing.md", "--kb", "handbook"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FILE +PASSAGES +RESULT\n/);
    expect(stdout).toMatch(/\nmissing\.md +failed: no such file\n/);
    expect(stdout).toMatch(/\ndocs\/broken\.pdf +failed: "broken\.pdf" /);
    for (const file of ["docs/kestrel.md", "docs/prices.csv", "docs/more/help.html"]) {
      expect(stdout).toMatch(new RegExp(`\\n${file} +[1-9]\\d* +added\\n`));
    }
    expect(stdout).toContain("\n3 added, 2 failed.\nSkipped 1 unsupported file: .png 1.\n");
    expect(stderr).toMatch(/1 of 4 {2}docs\/broken\.pdf \(20 bytes\) {2}failed: /);
    expect(stderr).toContain('No agent uses the knowledge base "handbook" yet.');
  });

  test("added again only replaces changed files", async () => {
    await write("docs/kestrel.md", "# Kestrel\n\n## How do I charge it?\n\nUse the green cable for 20 minutes.\n");
    const { summary, files, skipped, ok, code } = await svcJson("kb", "add", "docs", "--kb", "handbook");
    expect({ ok, code }).toEqual({ ok: false, code: 1 });
    expect(summary).toEqual({ added: 0, changed: 1, unchanged: 2, failed: 1 });
    expect(files.find(({ status }) => status === "changed")).toMatchObject({ file: "docs/kestrel.md" });
    expect(skipped).toEqual({ ".png": 1 });
  });

  test("added with --force is read again although no file has changed, and replaced if its text differs", async () => {
    // As if an earlier version had read another text from the same file.
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(
      "UPDATE documents SET content_hash = '\\x00', source_content_hash = '\\x00' WHERE key = 'docs/kestrel.md'",
    );
    await client.end();
    const add = async (...words: string[]) => (await svcJson("kb", "add", "docs", "--kb", "handbook", ...words)).files;
    const statusOf = (files: Document["files"], name: string) => files.find(({ file }) => file === name)?.status;
    expect(statusOf(await add(), "docs/kestrel.md")).toBe("unchanged");
    const forced = await add("--force");
    expect(statusOf(forced, "docs/kestrel.md")).toBe("changed");
    expect(statusOf(forced, "docs/prices.csv")).toBe("unchanged");
    expect(statusOf(await add(), "docs/kestrel.md")).toBe("unchanged");
    expect((await svcJson("kb", "list", "--kb", "handbook")).items.length).toBe(3);
  });

  test("is searched with heading and score, and a search without results reports that", async () => {
    const { hits, code } = await svcJson("kb", "search", "charge the Kestrel cable", "--limit", "2");
    expect(code).toBe(0);
    expect(hits[0]).toMatchObject({ kb: "handbook", title: "Kestrel", text: expect.stringContaining("green cable") });
    expect(hits.length).toBeLessThanOrEqual(2);
    const { stdout } = await svc(["kb", "search", "charge the Kestrel", "--kb", "handbook"]);
    expect(stdout).toMatch(/^1\. Kestrel.*\n {3}score \d+\.\d\d, handbook\n {3}.*green cable/);
    expect(await svc(["kb", "search", "?!"])).toMatchObject({ code: 0, stdout: "Nothing matches.\n" });
    expect(await svcJson("kb", "search", "?!")).toMatchObject({ code: 0, ok: true, hits: [] });
  });

  test("is synchronized: files are added, replaced and removed, and nothing else is changed", async () => {
    await svc(["kb", "add", "docs/kestrel.md", `${origin}/none`, "--kb", "other"]);
    await write("elsewhere.md", "The garage is open on Sundays.");
    await svc(["kb", "add", "elsewhere.md", "--kb", "handbook"]);
    await rename(join(folder, "docs/prices.csv"), join(folder, "docs/costs.csv"));
    await rm(join(folder, "docs/broken.pdf"));

    const plan = await svcJson("kb", "sync", "docs", "--kb", "handbook", "--dry-run");
    expect(plan).toMatchObject({ code: 0, new: ["docs/costs.csv"], gone: ["docs/prices.csv"] });
    expect(await keysOf("handbook")).toContain("docs/prices.csv");

    const { stdout, code } = await svc(["kb", "sync", "docs", "--kb", "handbook"]);
    expect(code).toBe(0);
    expect(stdout).toContain("removed  docs/prices.csv\n1 added, 2 unchanged, 1 removed.\n");
    expect(await keysOf("handbook")).toEqual([
      "docs/costs.csv",
      "docs/kestrel.md",
      "docs/more/help.html",
      "elsewhere.md",
    ]);
    expect(await keysOf("other")).toEqual(["docs/kestrel.md"]);
  });

  test("that is empty, missing, or the current one empties no knowledge base", async () => {
    await mkdir(join(folder, "empty"));
    for (const source of ["empty", "gone"]) {
      const { stderr, code } = await svc(["kb", "sync", source, "--kb", "handbook"]);
      expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("Nothing was changed") });
    }
    expect(await svc(["kb", "sync", ".", "--kb", "handbook"])).toMatchObject({ code: 2 });
    expect(await keysOf("handbook")).toHaveLength(4);
  });
});

describe("a site", () => {
  const sitemap = (...paths: string[]) =>
    `<urlset>${paths.map((path) => `<url><loc>${origin}${path}</loc></url>`).join("")}</urlset>`;

  test("is added by its sitemap, without pages that robots.txt forbids, and a failing page is listed", async () => {
    pages.set("/robots.txt", `User-agent: svc-fetch\nDisallow: /secret\nSitemap: ${origin}/map.xml\n`);
    pages.set("/map.xml", sitemap("/a", "/secret", "/gone"));
    pages.set("/a", '<title>Page A</title><main><p>The harbour closes at ten. <a href="/b">More</a></p></main>');
    pages.set("/secret", "secret");
    const { summary, files, code } = await svcJson("kb", "add", "--sitemap", origin, "--kb", "site");
    expect(code).toBe(1);
    expect(summary).toEqual({ added: 1, changed: 0, unchanged: 0, failed: 1 });
    expect(files).toEqual([
      expect.objectContaining({ file: `${origin}/a`, status: "added" }),
      { file: `${origin}/gone`, status: "failed", error: expect.stringContaining("responded with 404 (Not Found)") },
    ]);
    expect(asked).not.toContain("/secret");
    const { hits } = await svcJson("kb", "search", "when does the harbour close", "--kb", "site");
    expect(hits[0]).toMatchObject({ title: "Page A", url: `${origin}/a` });
  });

  test("is synchronized, and an unreachable one empties no knowledge base", async () => {
    pages.set("/map.xml", sitemap("/b"));
    pages.set("/b", "The ferry leaves at noon.");
    const { summary, removed, code } = await svcJson("kb", "sync", origin, "--kb", "site");
    expect({ code, summary }).toMatchObject({ code: 0, summary: { added: 1, removed: 1 } });
    expect(removed).toEqual([expect.objectContaining({ key: `${origin}/a` })]);
    pages.set("/map.xml", null);
    const { stderr, code: failedCode } = await svc(["kb", "sync", origin, "--kb", "site"]);
    expect(failedCode).toBe(1);
    expect(stderr).toContain("responded with 503");
    expect(await keysOf("site")).toEqual([`${origin}/b`]);
  });

  test("without a sitemap is added and synchronized by its links", async () => {
    pages.set("/linked/", '<html><p>Links: <a href="a">A</a> <a href="b">B</a> <a href="/b">Elsewhere</a></p></html>');
    for (const name of ["a", "b", "c"]) pages.set(`/linked/${name}`, `<html><p>The words of ${name}.</p></html>`);
    const source = `${origin}/linked/`;
    expect(await svcJson("kb", "add", "--sitemap", source, "--kb", "linked")).toMatchObject({
      code: 0,
      summary: { added: 3, failed: 0 },
    });
    pages.set("/linked/", '<html><p>Links: <a href="a">A</a> <a href="c">C</a></p></html>');
    // The site still has a page without a link to it.
    expect(await svcJson("kb", "sync", source, "--kb", "linked")).toMatchObject({ code: 0, removed: [] });
    pages.delete("/linked/b");
    const { summary, removed, code } = await svcJson("kb", "sync", source, "--kb", "linked");
    expect({ code, summary }).toMatchObject({ code: 0, summary: { unchanged: 3, removed: 1 } });
    expect(removed).toEqual([expect.objectContaining({ key: `${source}b` })]);
  });

  test("on a private address that is not allowed is rejected, without a request", async () => {
    asked.length = 0;
    env = { ...env, SVC_FETCH_ALLOW: "" };
    const { files, code } = await svcJson("kb", "add", `${origin}/b`, "http://10.0.0.1/", "--kb", "site");
    env = { ...env, SVC_FETCH_ALLOW: "127.0.0.1" };
    expect(code).toBe(1);
    expect(files.map(({ error }) => error)).toEqual(Array(2).fill(expect.stringContaining("cannot be fetched")));
    expect(asked).toEqual([]);
  });

  test("interrupted with Ctrl-C keeps added pages, reports that, and continues later", async () => {
    answer = (request, response) => {
      if (request.url === "/slow") return;
      answerFromPages(request, response);
    };
    const words = ["kb", "add", `${origin}/b`, `${origin}/slow`, `${origin}/a`, "--kb", "halves"];
    const child = await startProcess({ file: SVC_MAIN, args: words, env, name: "svc kb add" });
    await waitFor(() => Promise.resolve(asked.includes("/slow")), { what: "the second page to be asked for" });
    expect(await child.kill("SIGINT")).toMatchObject({ code: 130 });
    expect(child.output()).toContain(
      "1 added.\nInterrupted. Run the same command to resume: documents that are already added are skipped.",
    );
    answer = answerFromPages;
    pages.set("/slow", "It was slow.");
    expect(await svcJson(...words)).toMatchObject({ code: 0, summary: { added: 2, unchanged: 1, failed: 0 } });
  });
});

describe("documents that a source skips are not removed", () => {
  const sitemap = (...paths: string[]) =>
    `<urlset>${paths.map((path) => `<url><loc>${origin}${path}</loc></url>`).join("")}</urlset>`;
  const sync = (...words: string[]) => svcJson("kb", "sync", ...words, "--kb", "kept");

  test("of a folder: those skipped by name, extension or link, and none if a part cannot be read", async () => {
    await write("tree/a.md", "The mill turns.");
    await write("tree/gone.md", "The mill stands.");
    await write("tree/named.rst", "The mill sleeps.");
    await write("tree/.hidden/b.md", "The mill hides.");
    await write("outside/c.md", "The mill is elsewhere.");
    await symlink(join(folder, "outside"), join(folder, "tree", "link"));
    const named = ["tree/named.rst", "tree/.hidden/b.md", "tree/link/c.md"];
    expect(await svcJson("kb", "add", "tree", ...named, "--kb", "kept")).toMatchObject({
      code: 0,
      summary: { added: 5 },
      linksOut: ["tree/link"],
    });
    await rm(join(folder, "tree/gone.md"));
    await symlink(join(folder, "nowhere"), join(folder, "tree", "broken.md"));
    expect(await sync("tree")).toMatchObject({
      code: 1,
      removed: [],
      kept: expect.stringContaining("could not be read: 1 kept."),
    });
    await rm(join(folder, "tree/broken.md"));
    const { stdout, code } = await svc(["kb", "sync", "tree", "--kb", "kept"]);
    expect(code).toBe(0);
    expect(stdout).toContain("removed  tree/gone.md\n");
    expect(stdout).toContain("Skipped 1 link that leads out of the folder: tree/link.\n");
    expect(stdout).toContain("kept unchanged: tree/.hidden/b.md, tree/link/c.md, tree/named.rst.\n");
    expect(await keysOf("kept")).toEqual(["tree/.hidden/b.md", "tree/a.md", "tree/link/c.md", "tree/named.rst"]);
  });

  test("of a site: pages that fail, that robots.txt forbids, or beyond the end of a truncated sitemap", async () => {
    const paths = ["/kept/1", "/kept/2", "/kept/3", "/kept/4"];
    for (const path of paths) pages.set(path, `The tower of ${path} is tall.`);
    const keys = paths.map((path) => `${origin}${path}`);
    const siteKeys = async () => (await keysOf("kept")).filter((key) => key.startsWith(origin));
    pages.set("/robots.txt", "");
    pages.set("/kept/map.xml", sitemap(...paths));
    const map = `${origin}/kept/map.xml`;
    expect(await sync(map)).toMatchObject({ code: 0, summary: { added: 4 } });

    pages.delete("/kept/1");
    pages.set("/kept/2", null);
    expect(await sync(map)).toMatchObject({ code: 1, summary: { unchanged: 2, failed: 2, removed: 0 } });
    expect(await sync(map, "--max-pages", "1")).toMatchObject({
      removed: [],
      kept: expect.stringContaining(": 3 kept."),
    });
    pages.set(
      "/kept/map.xml",
      `<sitemapindex><sitemap><loc>${origin}/kept/deep.xml</loc></sitemap><sitemap><loc>${origin}/kept/more.xml</loc></sitemap></sitemapindex>`,
    );
    pages.set("/kept/deep.xml", `<sitemapindex><sitemap><loc>${origin}/kept/map.xml?2</loc></sitemap></sitemapindex>`);
    pages.set("/kept/more.xml", sitemap("/kept/3"));
    expect(await sync(map)).toMatchObject({ code: 1, removed: [], kept: expect.stringContaining(": 3 kept.") });
    expect(await siteKeys()).toEqual(keys);

    pages.set("/kept/map.xml", sitemap("/kept/3", "/kept/4"));
    pages.set("/robots.txt", "User-agent: *\nDisallow: /kept/4\n");
    expect(await sync(map)).toMatchObject({ code: 0, summary: { removed: 2 }, stay: [keys[3]] });
    expect(await siteKeys()).toEqual(keys.slice(2));
    pages.set("/robots.txt", "");
  });

  test("and more than half of a source only after a confirmation", async () => {
    for (const index of Array.from({ length: 15 }, (_, number) => number)) {
      await write(`pile/${index}.md`, `Stone number ${index} is grey.`);
    }
    await svc(["kb", "add", "pile", "--kb", "pile"]);
    for (const index of Array.from({ length: 14 }, (_, number) => number)) await rm(join(folder, `pile/${index}.md`));
    const words = ["kb", "sync", "pile", "--kb", "pile"];
    const question = '14 of the 15 documents of pile in "pile" no longer exist. Remove 14 documents?';
    expect(await svc(words)).toMatchObject({ code: 2, stderr: expect.stringContaining(question) });
    expect(await svc(words)).toMatchObject({ stderr: expect.stringContaining("Add --yes") });
    expect(await svc(words, { typed: "no\n" })).toMatchObject({ code: 0, stdout: "Nothing was changed or removed.\n" });
    const { stdout } = await svc([...words, "--dry-run"]);
    expect(stdout).toContain(
      "1 to compare, 14 to remove.\nThis is more than half, so removing them requires confirmation or --yes.",
    );
    expect(await keysOf("pile")).toHaveLength(15);
    expect(await svc([...words, "--yes"])).toMatchObject({ code: 0 });
    expect(await keysOf("pile")).toEqual(["pile/14.md"]);
  });
});

describe("documents are removed", () => {
  test("by path, URL or id; a missing one is listed, and the others are removed", async () => {
    await svc(["kb", "add", "docs", `${origin}/a`, "--kb", "bin"]);
    const { items } = await svcJson("kb", "list", "--kb", "bin");
    const id = (items.find(({ key }) => key === "docs/costs.csv") as unknown as { id: string }).id;
    const words = ["./docs/kestrel.md", `${origin}/a#part`, id, "no.md"];
    const { stdout, code } = await svc(["kb", "remove", ...words, "--kb", "bin"]);
    expect({ stdout, code }).toEqual({
      code: 1,
      stdout: 'No document "no.md" in this knowledge base; kb list shows them.\nRemoved 3 documents.\n',
    });
    expect(await keysOf("bin")).toEqual(["docs/more/help.html"]);
    expect((await svcJson("kb", "search", "green cable", "--kb", "bin")).hits).toEqual([]);
  });

  test("all of them only after a confirmation", async () => {
    const words = ["kb", "remove", "--all", "--kb", "other"];
    expect(await svc(words)).toMatchObject({ code: 2, stderr: expect.stringContaining("Add --yes") });
    expect(await svc(words, { typed: "no\n" })).toMatchObject({ code: 0, stdout: "Nothing was removed.\n" });
    expect(await keysOf("other")).toHaveLength(1);
    expect(await svc(words, { typed: "yes\n" })).toMatchObject({ code: 0, stdout: "Removed 1 document.\n" });
    expect(await svc(["kb", "list", "--kb", "other"])).toMatchObject({
      stdout: "There are no documents in this knowledge base.\n",
    });
  });

  test("not of an unknown knowledge base; the error lists the existing ones", async () => {
    const { stderr, code } = await svc(["kb", "remove", "--all", "--yes", "--kb", "nowhere"]);
    expect(code).toBe(1);
    expect(stderr).toBe(
      'No knowledge base is named "nowhere". Knowledge bases: bin, halves, handbook, kept, linked, other, pile, site.\n',
    );
  });
});

test("the knowledge bases are listed with their contents", async () => {
  const { items } = await svcJson("kb", "list");
  expect(items.find(({ name }) => name === "handbook")).toMatchObject({ documents: 4, chunks: expect.any(Number) });
  const { stdout } = await svc(["kb", "list"]);
  expect(stdout).toMatch(/^NAME +DOCUMENTS +PASSAGES +UPDATED +STATE\n/);
  expect(stdout).toMatch(/\nhandbook +4 +\d+ +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ +ready\n/);
});

test("articles are listed, shown and published", async () => {
  const store = openStore({ url: database.url, secretKey: SECRET_KEY, log: testLog(), app: "test" });
  try {
    const { project } = await store.projects.ensure("default");
    const { kb } = await store.kbs.ensure(project.id, "articles");
    const text = { title: "Iceland", text: "We ship there.", actor: "operator:ann" };
    const article = await store.articles.insert(project.id, {
      kbId: kb.id,
      gapId: null,
      keyOf: (id) => `article:${id}`,
      ...text,
    });
    const id = article?.id ?? "";
    expect(await svc(["articles", "show", id])).toMatchObject({ code: 0, stdout: "Iceland\n\nWe ship there.\n" });
    expect((await svc(["articles", "list"])).stdout).toMatch(new RegExp(`\\nIceland +draft +1 +- +${id}\\n$`));
    expect(await svc(["articles", "publish", id])).toMatchObject({ code: 0, stdout: "Published: Iceland.\n" });
    expect((await svc(["articles", "list"])).stdout).toMatch(new RegExp(`\\nIceland +published +1 +1 +${id}\\n$`));
    expect((await svc(["articles", "publish", kb.id])).code).toBe(1);
  } finally {
    await store.close();
  }
});
