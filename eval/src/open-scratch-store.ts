// A temporary database for an evaluation.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "@svc/embedded";
import { createLog } from "@svc/log";
import { migrateStore, openStore } from "@svc/store";
import { queryDatabase } from "@svc/testing";
import { addDocuments, ensureKb } from "@svc/knowledge";
import type { SetDocument } from "./read-set.ts";
import { forEachShown } from "./show-progress.ts";

/** Durability is not needed here. */
const SETTINGS = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", shared_buffers: "128MB" };

const log = createLog({ level: "warn", name: "eval", destination: process.stderr });

/** An open store on an empty database. */
export type Scratch = Awaited<ReturnType<typeof openScratchStore>>;
type Project = Awaited<ReturnType<Scratch["addProject"]>>;

/** Opens a store on an empty database, with a function that removes it. Removes it when the process is interrupted. */
export async function openScratchStore() {
  const endings: (() => unknown)[] = [];
  const close = async () => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  process.once("SIGINT", () => void close().finally(() => process.exit(130)));
  try {
    const dataDir = mkdtempSync(join(tmpdir(), "svc-eval-"));
    endings.push(() => rmSync(dataDir, { recursive: true, force: true }));
    const serverUrl = process.env.DATABASE_URL ?? (await startServer(dataDir));
    const database = `svc_eval_${process.pid}`;
    await queryDatabase(serverUrl, `CREATE DATABASE ${database}`);
    endings.push(() => queryDatabase(serverUrl, `DROP DATABASE ${database}`));
    const url = new URL(serverUrl);
    url.pathname = `/${database}`;
    await migrateStore(url.href, log);
    const store = openStore({ url: url.href, secretKey: "evaluation-needs-no-secret-0123456789", log });
    endings.push(() => store.close());
    const addProject = async (name: string) => (await store.projects.ensure(name)).project;
    return { store, log, addProject, close };
  } catch (error) {
    await close();
    throw error;
  }

  async function startServer(dataDir: string) {
    const server = await startEmbeddedPostgres({ dataDir, log, settings: SETTINGS });
    endings.push(() => server.stop());
    return server.maintenanceUrl;
  }
}

// Adds the documents of a set to a knowledge base, with the product's own code.

/** Number of documents added at once, so that progress can be shown. */
const AT_ONCE = 200;

/**
 * Adds documents `{id, title?, text}` to a new knowledge base and returns it with the set's id of each document by the
 * store's id. An id that ends in .md is a Markdown document, like a file of that name.
 */
export async function ingest(documents: readonly SetDocument[], { store, log }: Scratch, project: Project) {
  const { kb } = await ensureKb({ store }, project.id, "evaluation");
  const startedAt = performance.now();
  const parts = Array.from({ length: Math.ceil(documents.length / AT_ONCE) }, (_, part) =>
    documents.slice(part * AT_ONCE, (part + 1) * AT_ONCE).map(asInput),
  );
  const added = (
    await forEachShown("added", parts, (part) => addDocuments({ store, log }, project.id, kb.id, part))
  ).flat();
  const accepted = added.map((one) => {
    if (one.status === "refused") throw one.error;
    return one;
  });
  const seconds = (performance.now() - startedAt) / 1000;
  return {
    kb,
    idOf: new Map(accepted.map(({ documentId }, index) => [documentId, String(documents[index]?.id)])),
    ingested: { documents: documents.length, chunks: accepted.reduce((sum, { chunks }) => sum + chunks, 0), seconds },
  };
}

function asInput({ id, title, text }: SetDocument) {
  const mime = String(id).endsWith(".md") ? "text/markdown" : "text/plain";
  return { key: String(id), ...(title === undefined ? {} : { title }), text, mime };
}

/** Returns the distinct documents of these hits, best first, by the set's ids. */
export function rankDocuments(hits: readonly { documentId: string }[], idOf: ReadonlyMap<string, string>): string[] {
  return [...new Set(hits.flatMap(({ documentId }) => idOf.get(documentId) ?? []))];
}
