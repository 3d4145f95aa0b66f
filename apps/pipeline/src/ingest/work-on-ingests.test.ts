import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { KB_LIMITS, ServiceError } from "@svc/contracts";
import { createFileReader, ensureKb } from "@svc/knowledge";
import type { FileReader, PageFetcher } from "@svc/knowledge";
import type { Queues } from "@svc/queue";
import { openStore } from "@svc/store";
import type { NewIngest, ProjectId, Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { keepIngestLeases } from "./ingest-leases.ts";
import type { IngestLeases } from "./ingest-leases.ts";
import { createIngestWorker } from "./work-on-ingests.ts";

const PAGE_URL = "https://example.com/page";

let database: TestDatabase;
let store: Store;
let reader: FileReader;
let leases: IngestLeases;
let project: ProjectId;
let kbId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  store = openStore({ url: database.url, secretKey: "a key of a test that seals nothing", log: testLog() });
  reader = createFileReader();
  leases = keepIngestLeases(store, testLog());
  project = (await store.projects.ensure("default")).project.id;
});

afterAll(async () => {
  leases.close();
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

/** Reads what waits until nothing does. */
async function work(change: { fetcher?: PageFetcher; store?: Store; sitemapDeadlineMs?: number } = {}): Promise<void> {
  const { fetcher = noFetcher, sitemapDeadlineMs } = change;
  // Only the sweeper publishes anything.
  const context = { store: change.store ?? store, queues: {} as Queues, log: testLog(), reader, fetcher };
  const options = sitemapDeadlineMs === undefined ? {} : { sitemapDeadlineMs };
  await createIngestWorker(context, leases, options)(() => false);
}

async function queue(change: Partial<NewIngest>): Promise<string> {
  const base = { kind: "text" as const, key: "key", name: "key", title: null, url: null, mime: "text/plain" };
  const ingest = { ...base, bytes: Buffer.from("Some words."), sourceHash: Buffer.from("hash"), ...change };
  const [queued] = await store.ingests.queueDocuments(project, kbId, [ingest]);
  if (queued === undefined) throw new Error("nothing was queued");
  return queued.documentId;
}

const away = () => new ServiceError("unavailable", "The store cannot be reached right now; try again.");

test("an outage of the store is not a try, however often it comes and whatever it breaks off", async () => {
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
        return attempts.length <= KB_LIMITS.maxAttempts + 1 ? Promise.reject(away()) : store.ingests.readBytes(claim);
      },
      retryLater(claim, retry) {
        if (isBack) return store.ingests.retryLater(claim, { ...retry, delayMs: 0 });
        // It is unavailable as well when the lease is to be released.
        isBack = true;
        return Promise.reject(away());
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
  const failure = "The server answered 503 (Service Unavailable). Try again later.";
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

test("a sitemap that takes too long is given up, so that nobody else's pages wait for it", async () => {
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
    error: expect.stringMatching(/could not be read within .+ Name one of them/),
  });
});
