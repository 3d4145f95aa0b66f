import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { KB_LIMITS, ServiceError } from "@svc/contracts";
import { createFileReader, ensureKb } from "@svc/knowledge";
import type { FileReader, PageFetcher } from "@svc/knowledge";
import type { Queues } from "@svc/queue";
import { STORAGE_LIMITS, openStore } from "@svc/store";
import type { NewIngest, ProjectId, Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { INGEST_CONCURRENCY, ingestDocuments } from "./ingest-documents.ts";

const PAGE_URL = "https://example.com/page";

let database: TestDatabase;
let store: Store;
let reader: FileReader;
let project: ProjectId;
let kbId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  store = openStore({ url: database.url, secretKey: "a key of a test that seals nothing", log: testLog() });
  reader = createFileReader();
  project = (await store.projects.ensure("default")).project.id;
});

afterAll(async () => {
  await reader.close();
  await store.close();
  await database.drop();
});

let count = 0;
beforeEach(async () => {
  count += 1;
  kbId = (await ensureKb({ store }, project, `manual ${count}`)).kb.id;
});

const noFetcher: PageFetcher = {
  fetch: () => Promise.reject(new Error("nothing is to be fetched")),
  close: () => Promise.resolve(),
};

/** Reads documents until none are waiting. */
async function work(
  change: { fetcher?: PageFetcher; store?: Store; sitemapDeadlineMs?: number; released?: Promise<void> } = {},
): Promise<void> {
  const { fetcher = noFetcher, sitemapDeadlineMs, released } = change;
  // Only the sweeper publishes anything.
  const context = { store: change.store ?? store, queues: {} as Queues, log: testLog(), reader, fetcher };
  const options = sitemapDeadlineMs === undefined ? {} : { sitemapDeadlineMs };
  const works = ingestDocuments(context, options);
  const stopped = released?.then(() => works.stop());
  await works.process();
  await stopped;
}

async function queue(change: Partial<NewIngest>): Promise<string> {
  const base = { kind: "text" as const, key: "key", name: "key", title: null, url: null, mime: "text/plain" };
  const ingest = { ...base, bytes: Buffer.from("Some words."), sourceHash: Buffer.from("hash"), ...change };
  const [queued] = await store.ingests.queueDocuments(project, kbId, [ingest]);
  if (queued === undefined) throw new Error("nothing was queued");
  return queued.documentId;
}

const outage = () => new ServiceError("unavailable", "The database is unreachable. Retry.");

test("an outage of the store does not count as an attempt, however often it occurs and whatever it interrupts", async () => {
  const documentId = await queue({});
  const attempts: number[] = [];
  let isBack = false;
  const flapping: Store = {
    ...store,
    ingests: {
      ...store.ingests,
      readBytes(claim) {
        attempts.push(claim.attempts);
        isBack = false;
        return attempts.length <= KB_LIMITS.maxAttempts + 1 ? Promise.reject(outage()) : store.ingests.readBytes(claim);
      },
      retryLater(claim, retry) {
        if (isBack) return store.ingests.retryLater(claim, { ...retry, delayMs: 0 });
        // It is also unavailable when the lease is released.
        isBack = true;
        return Promise.reject(outage());
      },
    },
  };
  await work({ store: flapping });
  expect(attempts).toEqual(Array.from({ length: KB_LIMITS.maxAttempts + 2 }, () => 1));
  expect(await store.documents.find(project, kbId, documentId)).toMatchObject({ status: "ready", error: null });
});

test.each([
  ["1", 5],
  ["600", 600],
  ["86400", 3_600],
])("a site that asks for %s s is left alone for %d s, and the page shows why it waits", async (retryAfter, seconds) => {
  const failure = "The server responded with 503 (Service Unavailable). Try again later.";
  const busy = new ServiceError("unavailable", failure, { headers: { "retry-after": retryAfter } });
  const documentId = await queue({ kind: "page", url: PAGE_URL, mime: null, bytes: null, sourceHash: null });
  const asked: { delayMs: number; counts: boolean }[] = [];
  const watched: Store = {
    ...store,
    ingests: {
      ...store.ingests,
      retryLater(claim, retry) {
        asked.push(retry);
        return store.ingests.retryLater(claim, retry);
      },
    },
  };
  await work({ store: watched, fetcher: { ...noFetcher, fetch: () => Promise.reject(busy) } });
  expect(asked).toEqual([{ delayMs: seconds * 1_000, failure, counts: true }]);
  expect(await store.documents.find(project, kbId, documentId)).toMatchObject({ status: "queued", error: failure });
});

test("a page that exceeds the storage limit is not stored, shows the reason while it waits, and is read once there is space", async () => {
  const documentId = await queue({ kind: "page", url: PAGE_URL, mime: null, bytes: null, sourceHash: null });
  const bytes = Buffer.from(`<p>${"Some words in a row. ".repeat(200)}</p>`);
  const fetcher = { ...noFetcher, fetch: () => Promise.resolve({ url: PAGE_URL, bytes, mime: "text/html" }) };
  const limited = openStore({
    url: database.url,
    secretKey: "a key of a test that seals nothing",
    log: testLog(),
    storageLimits: { ...STORAGE_LIMITS, projectMaxBytes: 1_024 },
  });
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const watched: Store = {
    ...limited,
    ingests: {
      ...limited.ingests,
      retryLater(claim, retry) {
        release();
        return limited.ingests.retryLater(claim, { ...retry, delayMs: 0 });
      },
    },
  };
  try {
    await work({ store: watched, fetcher, released });
  } finally {
    await limited.close();
  }
  const full = expect.stringContaining("Storage of this project is full");
  expect(await store.documents.find(project, kbId, documentId)).toMatchObject({ status: "queued", error: full });
  await work({ fetcher });
  expect(await store.documents.find(project, kbId, documentId)).toMatchObject({ status: "ready", error: null });
});

test("a sitemap that takes too long fails, so that it does not block the pages of others", async () => {
  const { importId } = await store.ingests.queueSitemap(project, kbId, { url: "https://example.com/", maxPages: 5 });
  const dripping: PageFetcher = {
    ...noFetcher,
    fetch: (_url, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      }),
  };
  await work({ fetcher: dripping, sitemapDeadlineMs: 20 });
  expect(await store.imports.find(project, kbId, importId)).toMatchObject({
    status: "failed",
    error: expect.stringMatching(/could not be read within .+ Specify one of them/),
  });
});

test("an import says which part of the site is missing", async () => {
  const { importId } = await store.ingests.queueSitemap(project, kbId, { url: "https://example.com/", maxPages: 5 });
  const pages: Record<string, string> = {
    "https://example.com/sitemap.xml": "<urlset><url><loc>https://example.com/a</loc></url><url><loc>https://exa",
    "https://example.com/a": "<p>Some words.</p>",
  };
  const fetch = (url: string) =>
    pages[url] === undefined
      ? Promise.reject(new ServiceError("invalid_request", "The server responded with 404."))
      : Promise.resolve({ url, bytes: Buffer.from(pages[url]), mime: null });
  await work({ fetcher: { ...noFetcher, fetch } });
  expect(await store.imports.find(project, kbId, importId)).toMatchObject({
    status: "ready",
    found: 1,
    error: expect.stringMatching(/^The sitemap \S+ was not read completely: it is truncated/),
  });
});

describe("a site without a sitemap", () => {
  const SITE = "https://shop.example";
  const html = (...links: string[]) =>
    `<html><title>Page</title>${links.map((href) => `<a href="${href}">Go</a>`).join(" ")}<p>Some words.</p></html>`;
  const contents: Record<string, string> = {
    [`${SITE}/`]: html("/a", "/b"),
    [`${SITE}/a`]: html("/", "/c"),
    [`${SITE}/b`]: html("/a"),
    [`${SITE}/c`]: html("/a"),
  };
  const ALL = Object.keys(contents).toSorted();
  const fetchPage = (url: string) => {
    const body = contents[url];
    if (body === undefined)
      return Promise.reject(new ServiceError("invalid_request", "The server responded with 404."));
    return Promise.resolve({ url, bytes: Buffer.from(body), mime: "text/html" });
  };
  const pagesOf = async () =>
    (await store.documents.listPage(project, kbId, { limit: 50 }))
      .map(({ key, status }) => `${key} ${status}`)
      .toSorted();

  test("is imported by its links, once, also if the process ends while they are followed, and again later", async () => {
    const add = () => store.ingests.queueSitemap(project, kbId, { url: `${SITE}/`, maxPages: 50 });
    const { importId } = await add();
    let stop: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      stop = resolve;
    });
    const hanging: PageFetcher = {
      ...noFetcher,
      fetch(url, signal) {
        if (url !== `${SITE}/b`) return fetchPage(url);
        stop();
        return new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
        });
      },
    };
    await work({ fetcher: hanging, released });
    expect(await store.imports.find(project, kbId, importId)).toMatchObject({ status: "queued", found: null });
    expect(await pagesOf()).toEqual([]);

    const fetcher = { ...noFetcher, fetch: fetchPage };
    await work({ fetcher });
    expect(await store.imports.find(project, kbId, importId)).toMatchObject({ status: "ready", found: 4, done: 4 });
    expect(await pagesOf()).toEqual(ALL.map((url) => `${url} ready`));

    const again = await add();
    contents[`${SITE}/c`] = html("/d");
    contents[`${SITE}/d`] = html();
    await work({ fetcher });
    expect(await store.imports.find(project, kbId, again.importId)).toMatchObject({ status: "ready", found: 5 });
    expect(await pagesOf()).toEqual([...ALL, `${SITE}/d`].map((url) => `${url} ready`));
  });

  test("fails with what to do if nothing of it may be read", async () => {
    const { importId } = await store.ingests.queueSitemap(project, kbId, { url: `${SITE}/map.xml`, maxPages: 5 });
    const map = "<urlset><url><loc>https://other.example/</loc></url></urlset>";
    const fetcher = {
      ...noFetcher,
      fetch: (url: string) => Promise.resolve({ url, bytes: Buffer.from(map), mime: "application/xml" }),
    };
    await work({ fetcher });
    expect(await store.imports.find(project, kbId, importId)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("Use the URL of the website"),
    });
  });
});

describe("the slow documents of one project", () => {
  /**
   * Queues documents in projects, processes them as one process does, and returns their keys in the order of
   * completion.
   */
  async function endsOf(
    documents: { of: string; ingest: Partial<NewIngest> & { key: string } }[],
    options: { reader?: FileReader; fetcher?: PageFetcher } = {},
  ): Promise<string[]> {
    for (const { of, ingest } of documents) {
      const owner = (await store.projects.ensure(of)).project.id;
      const { kb } = await ensureKb({ store }, owner, "manual");
      const base = { kind: "file" as const, name: ingest.key, title: null, url: null, mime: null };
      const bytes = Buffer.from("Some words.");
      await store.ingests.queueDocuments(owner, kb.id, [
        { ...base, bytes, sourceHash: Buffer.from(ingest.key), ...ingest },
      ]);
    }
    const ends: string[] = [];
    const watched: Store = {
      ...store,
      ingests: {
        ...store.ingests,
        finish: (claim, put) => store.ingests.finish(claim, put).finally(() => ends.push(claim.key)),
        fail: (claim, error) => store.ingests.fail(claim, error).finally(() => ends.push(`${claim.key}: ${error}`)),
      },
    };
    const context = { store: watched, queues: {} as Queues, log: testLog(), reader, fetcher: noFetcher, ...options };
    const works = ingestDocuments(context);
    await Promise.all(Array.from({ length: INGEST_CONCURRENCY }, () => works.process()));
    return ends;
  }

  test("do not block the small file of another one, delay its large file by at most one of them, and fail with a clear error", async () => {
    const quick = createFileReader({ limits: { timeoutBaseMs: 3_000, timeoutPerMbMs: 0 } });
    try {
      // Starts its thread before the test begins, as in a process that has been running for a while.
      await quick.read({ name: "first.txt", bytes: Buffer.from("Some words.") });
      const nested = Buffer.from("<div>".repeat(300_000));
      const large = Buffer.from("Some words in a line.\n\n".repeat(20_000));
      const ends = await endsOf(
        [
          ...[1, 2, 3, 4].map((number) => ({
            of: "greedy",
            ingest: { key: `nested-${number}.html`, bytes: nested },
          })),
          { of: "patient", ingest: { key: "small.txt" } },
          { of: "patient", ingest: { key: "large.txt", bytes: large } },
        ],
        { reader: quick },
      );
      expect(ends[0]).toBe("small.txt");
      expect(ends.indexOf("large.txt")).toBeLessThanOrEqual(2);
      const slow = ends.filter((end) => end.startsWith("nested"));
      expect(slow).toHaveLength(4);
      for (const end of slow) expect(end).toMatch(/takes too long to read; split it into smaller files/);
    } finally {
      await quick.close();
    }
  });

  test("do not block the pages of others while one of their sites does not respond", async () => {
    const asked: string[] = [];
    let answerSlowSite: () => void = () => undefined;
    const slowSite = new Promise<void>((resolve) => {
      answerSlowSite = resolve;
    });
    const fetcher: PageFetcher = {
      ...noFetcher,
      async fetch(url) {
        asked.push(new URL(url).host);
        if (url.includes("slow")) await slowSite;
        else answerSlowSite();
        return { url, bytes: Buffer.from("<p>Some words.</p>"), mime: "text/html" };
      },
    };
    const page = (url: string) => ({ key: url, kind: "page" as const, url, bytes: null, sourceHash: null });
    const ends = await endsOf(
      [
        { of: "greedy", ingest: page("https://slow.example/1") },
        { of: "greedy", ingest: page("https://slow.example/2") },
        { of: "patient", ingest: page("https://quick.example/") },
      ],
      { fetcher },
    );
    // The slow site responds only after the other one was requested.
    expect(asked.slice(0, 2).toSorted()).toEqual(["quick.example", "slow.example"]);
    expect(ends).toHaveLength(3);
  });
});
