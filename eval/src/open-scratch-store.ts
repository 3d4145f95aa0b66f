// A temporary database for an evaluation.

import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { startEmbeddedPostgres } from "@svc/embedded";
import { addDocuments, ensureKb } from "@svc/knowledge";
import { createLog } from "@svc/log";
import { migrateStore, openStore } from "@svc/store";
import { queryDatabase, repositoryPath } from "@svc/testing";
import { forEachShown } from "./read-set.ts";
import type { Evaluation, SetDocument } from "./read-set.ts";

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

// Fetches the documents of the sets in eval/public, of which the repository has the questions only.

/** A source.json: the fields of a set.json (eval/src/evaluate-real-life.ts), and the source of the documents. */
interface PublicSet {
  name: string;
  pages: number;
  /** The set is only for evaluation: no weight is fitted on it. */
  heldOut?: boolean;
  source: Source;
}

/** A commit of a git repository, or a version of a Debian or npm package, with the folders and files of pages. */
interface Source {
  git?: string;
  commit?: string;
  debian?: string;
  npm?: string;
  version?: string;
  folder?: string;
  paths?: string[];
  endings: string[];
}

/**
 * Writes each set of eval/public as a folder for `readQuestionSets`, held-out ones below `held-out`, and returns the
 * number of pages of each. Existing sets are unchanged.
 */
export function fetchDocuments(folder: string): Evaluation {
  const sets = repositoryPath("eval/public");
  const scores: Record<string, number | string> = {};
  for (const name of readdirSync(sets).sort()) {
    const set = JSON.parse(readFileSync(join(sets, name, "source.json"), "utf8")) as PublicSet;
    const target = join(folder, set.heldOut === true ? "held-out" : "", name);
    if (!existsSync(target)) fetchSet(set, join(sets, name), target);
    const pages = listFiles(join(target, "docs")).length;
    scores[name] = pages === set.pages ? pages : `${pages}, not ${set.pages}`;
  }
  return { predictions: [], scores };
}

function fetchSet({ source }: PublicSet, from: string, target: string) {
  mkdirSync(dirname(target), { recursive: true });
  const work = mkdtempSync(join(dirname(target), ".fetch-"));
  try {
    const root = join(unpack(source, work), source.folder ?? "");
    for (const path of listFiles(root)) {
      const isTaken = source.paths?.some((taken) => path.startsWith(`${taken}/`)) ?? true;
      const isPage = source.endings.some((ending) => path.endsWith(ending));
      if (isTaken && isPage) cpSync(join(root, path), join(work, "set/docs", path));
    }
    cpSync(join(from, "questions.jsonl"), join(work, "set/questions.jsonl"));
    cpSync(join(from, "source.json"), join(work, "set/set.json"));
    renameSync(join(work, "set"), target);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const listFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => lstatSync(join(folder, path)).isFile());

/** Unpacks a source below `work`, and returns the folder. */
function unpack({ git, commit, debian, npm, version, paths = [""], endings }: Source, work: string): string {
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { cwd: work, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  if (debian !== undefined) {
    run("apt-get", "download", "--quiet", `${debian}=${version}`);
    run("dpkg-deb", "--extract", readdirSync(work)[0] ?? "", "tree");
  } else if (npm !== undefined) {
    run("tar", "-xzf", run("npm", "pack", "--silent", `${npm}@${version}`).trim());
    renameSync(join(work, "package"), join(work, "tree"));
  } else {
    const inTree = (...args: string[]) => run("git", "-C", "tree", ...args);
    run("git", "init", "--quiet", "tree");
    inTree("remote", "add", "origin", git ?? "");
    const patterns = paths.flatMap((path) => endings.map((ending) => join("/", path, `**/*${ending}`)));
    inTree("sparse-checkout", "set", "--no-cone", ...patterns);
    inTree("fetch", "--quiet", "--depth", "1", "--filter=blob:none", "origin", commit ?? "");
    inTree("checkout", "--quiet", "FETCH_HEAD");
  }
  return join(work, "tree");
}
