import { readFile, readdir, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Principal } from "@svc/auth";
import { KB_LIMITS, ServiceError } from "@svc/contracts";
import type { Agent, KbItem } from "@svc/contracts";
import { createFileReader, ensureKb, ingestFile } from "@svc/knowledge";
import type { AddedDocument, FileReader, FileToIngest, PageFetcher } from "@svc/knowledge";
import type { Log } from "@svc/log";
import { FIRST_AGENT, audited, updateAgent } from "@svc/operations";
import type { Resources } from "@svc/runtime";
import type { ProjectId, Store } from "@svc/store";
import { CliError } from "../cli-error.ts";
import type { Cli } from "../cli.ts";
import { listAllAgents, listAllDocuments, listAllKbs } from "../find-items.ts";
import { badFile, faultOfPath } from "./find-sources.ts";
import type { FoundSources, Source } from "./find-sources.ts";
import { safeLine, shellWord } from "../safe-text.ts";
import type { Terminal } from "../terminal.ts";
import { findGuideDir } from "../with-resources.ts";

const MB = 1024 * 1024;

async function readBytes(path: string): Promise<Buffer> {
  try {
    const found = await stat(path);
    if (!found.isFile()) throw badFile("is not a regular file");
    if (found.size > KB_LIMITS.fileMaxBytes) {
      const size = `${Math.ceil(found.size / MB)} MB; the maximum is ${KB_LIMITS.fileMaxBytes / MB} MB`;
      throw badFile(`has ${size}. Split it into several files`);
    }
    return await readFile(path);
  } catch (error) {
    throw faultOfPath(error);
  }
}

/** What a page would be called as a file: the end of its path, else its host. */
function nameOfPage(address: string): string {
  const { pathname, hostname } = new URL(address);
  return pathname.split("/").findLast((part) => part !== "") ?? hostname;
}

/**
 * Reads a file or fetches a page, whole. Throws CliError with the reason why it cannot be read, and the reason of the
 * signal when a fetch is given up.
 */
async function readSource(source: Source, fetcher: PageFetcher, signal: AbortSignal): Promise<FileToIngest> {
  if (source.kind === "file") {
    return { key: source.key, name: basename(source.path), bytes: await readBytes(source.path) };
  }
  try {
    const { url, bytes, mime } = await fetcher.fetch(source.url, signal);
    return { key: source.key, name: nameOfPage(url), bytes, url, ...(mime === null ? {} : { mime }) };
  } catch (error) {
    // Whatever keeps a page from being fetched concerns that page alone, also where it may pass.
    throw error instanceof ServiceError ? badFile(error.message, error) : error;
  }
}

/** The result of adding a file or page; `file` is the word on the command line. */
export type AddedFile =
  | { file: string; status: AddedDocument["status"]; chunks: number; documentId: string; key: string }
  | { file: string; status: "failed"; error: string };

/** What adding needs. */
interface AddDeps {
  store: Store;
  log: Log;
  reader: FileReader;
  fetcher: PageFetcher;
}

/** Called for each source as it begins and ends. */
interface AddProgress {
  begin(name: string): void;
  end(added: AddedFile, sizeBytes: number): void;
}

/** Errors of the document itself; with any other error, the following documents would fail as well. */
const FAULTS_OF_DOCUMENT: ReadonlySet<string> = new Set([
  "invalid_request",
  "payload_too_large",
  "unsupported_media_type",
]);

function reasonOf(error: unknown): string {
  if (error instanceof CliError) return error.message;
  if (error instanceof ServiceError && FAULTS_OF_DOCUMENT.has(error.code)) return error.message;
  throw error;
}

/**
 * Adds files and pages to a knowledge base, one after the other; a bad one does not keep the others out. When the
 * signal aborts, the file at hand is ended and the rest left: what was added stays, and added again it is unchanged.
 */
async function addSources(
  deps: AddDeps,
  target: { project: ProjectId; kbId: string },
  sources: readonly Source[],
  { signal, progress }: { signal: AbortSignal; progress: AddProgress },
): Promise<AddedFile[]> {
  const files: AddedFile[] = [];

  async function addOne(source: Source): Promise<void> {
    let sizeBytes = 0;
    let added: AddedFile;
    try {
      const file = await readSource(source, deps.fetcher, signal);
      sizeBytes = file.bytes.byteLength;
      const { status, chunks, documentId } = await ingestFile(deps, target.project, target.kbId, file);
      added = { file: source.name, status, chunks, documentId, key: source.key };
    } catch (error) {
      // A fetch that was given up is no failure of the page.
      if (signal.aborted && error === signal.reason) return;
      added = { file: source.name, status: "failed", error: reasonOf(error) };
    }
    files.push(added);
    progress.end(added, sizeBytes);
  }

  for (const source of sources) {
    if (signal.aborted) break;
    progress.begin(source.name);
    await addOne(source);
  }
  return files;
}

const BAR_CHARS = 20;
const KIB = 1024;

/** A size as people read it. */
export function renderSize(sizeBytes: number): string {
  if (sizeBytes < KIB) return `${sizeBytes} bytes`;
  const kib = sizeBytes / KIB;
  return kib < KIB ? `${Math.round(kib)} KB` : `${(kib / KIB).toFixed(1)} MB`;
}

function renderBar(done: number, total: number): string {
  const filled = Math.floor((done / total) * BAR_CHARS);
  return `[${"#".repeat(filled)}${".".repeat(BAR_CHARS - filled)}]`;
}

/**
 * Shows how far an adding is: a bar in one line where a person watches, else a line for each file, so that a log says
 * what happened when. `close` takes the bar away.
 */
export function watchProgress(terminal: Terminal, total: number): AddProgress & { close(): void } {
  let done = 0;
  let sumBytes = 0;
  return {
    begin(name) {
      const share = `${done + 1} of ${total}`;
      terminal.status(`${renderBar(done, total)} ${share}, ${renderSize(sumBytes)}  ${safeLine(name)}`);
    },
    end(added, sizeBytes) {
      done += 1;
      sumBytes += sizeBytes;
      if (terminal.isWatched) return;
      const outcome = added.status === "failed" ? `failed: ${safeLine(added.error)}` : added.status;
      terminal.note(`${done} of ${total}  ${safeLine(added.file)} (${renderSize(sizeBytes)})  ${outcome}`);
    },
    close: () => terminal.status(null),
  };
}

const NAME_CHARS = 80;
/** Maximum number of attempts while somebody else changes the agent. */
const MAX_TRIES = 3;

/** Whether a knowledge base holds the product's own guide, and nothing besides. */
async function isProductGuide(store: Store, principal: Principal, kb: KbItem): Promise<boolean> {
  if (kb.name !== FIRST_AGENT.kb) return false;
  const pages = new Set(await readdir(await findGuideDir()));
  const documents = await listAllDocuments(store, principal, kb.id);
  return documents.every(({ key }) => pages.has(key));
}

/** Assigns the knowledge base to the agent instead of the product's guide. Returns false if somebody else has changed the agent. */
async function replaceGuide(store: Store, principal: Principal, agent: Agent, kbId: string): Promise<boolean> {
  // The description of the guide no longer applies, and triage would use it.
  const description = agent.description === FIRST_AGENT.description ? "" : agent.description;
  try {
    await updateAgent(
      { store },
      principal,
      { id: agent.id, versions: [agent.version] },
      { kbIds: [kbId], description },
    );
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.code === "version_conflict") return false;
    throw error;
  }
}

/**
 * Makes sure that an agent answers from a knowledge base that was filled. If no agent has it, and the project's only
 * agent answers from nothing but the product's guide, that agent gets it and the guide is taken from it; else nothing is
 * changed. Returns a line for a person: what was changed, or how to assign it; null if an agent has it already.
 */
async function giveKb(
  cli: Cli,
  store: Store,
  principal: Principal,
  kb: { id: string; name: string },
): Promise<string | null> {
  const { projectName } = principal;
  const kbName = safeLine(kb.name, NAME_CHARS);
  const inProject = projectName === "default" ? "" : ` --project ${projectName}`;
  const command = (words: string) => `${cli.self} agents ${words}${inProject}`;
  const unused = `No agent uses the knowledge base "${kbName}" yet.`;
  const giveTo = (name: string) =>
    `${unused} Assign it with: ${command(`update ${name} --add-kb ${shellWord(kbName)}`)}`;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const agents = (await listAllAgents(store, principal)).filter(({ enabled }) => enabled);
    if (agents.some(({ kbIds }) => kbIds.includes(kb.id))) return null;
    const [agent, ...others] = agents;
    if (agent === undefined) {
      return `${unused} Create an agent with: ${command(`create NAME --kb ${shellWord(kbName)}`)}`;
    }
    const name = others.length === 0 ? shellWord(safeLine(agent.name, NAME_CHARS)) : "NAME";
    const kbs = (await listAllKbs(store, principal)).filter(({ id }) => agent.kbIds.includes(id));
    const [guide, ...more] = kbs;
    const isAlone = others.length === 0 && guide !== undefined && more.length === 0 && agent.fixedReply === null;
    if (!isAlone || !(await isProductGuide(store, principal, guide))) return giveTo(name);
    if (!(await replaceGuide(store, principal, agent, kb.id))) continue;
    return (
      `${safeLine(agent.name, NAME_CHARS)} now answers from "${kbName}" instead of the product's guide. To add the guide ` +
      `again: ${command(`update ${name} --add-kb ${FIRST_AGENT.kb}`)}`
    );
  }
  return giveTo("NAME");
}

const ensureTarget = audited(
  "kb.create",
  ({ store }: { store: Store }, { project }: Principal, name: string) => ensureKb({ store }, project, name),
  { objectOf: (_args, made) => made?.kb.id ?? null, countOf: (_args, { created }) => (created ? 1 : 0) },
);

/** One row for all, which says how many were added or replaced. */
const addAll = audited(
  "documents.add",
  (
    deps: AddDeps,
    { project }: Principal,
    kbId: string,
    sources: readonly Source[],
    how: { signal: AbortSignal; progress: AddProgress },
  ) => addSources(deps, { project, kbId }, sources, how),
  { countOf: (_args, files) => files.filter(({ status }) => status === "added" || status === "changed").length },
);

/** What is added, and where. */
interface AddingOptions {
  /** Name of the knowledge base. */
  kb: string;
  found: FoundSources;
  fetcher: PageFetcher;
  signal: AbortSignal;
  /** Whether files are read again although they are unchanged. */
  isForced?: boolean;
}

/** The store for reading every file again, as if the knowledge base did not know it. A document is still replaced by its key. */
const forgetSources = (store: Store): Store => ({
  ...store,
  documents: { ...store.documents, findBySource: () => Promise.resolve(null) },
});

/**
 * Adds what was found to the knowledge base of this name, which is made when there is none, and shows how far it is.
 * Returns the result for each, including those that could not be read. If no agent has the knowledge base, one gets it,
 * or a note says how.
 */
export async function addFound(
  cli: Cli,
  resources: Resources,
  principal: Principal,
  { kb, found, fetcher, signal, isForced = false }: AddingOptions,
): Promise<AddedFile[]> {
  const { store, log } = resources;
  const failed: AddedFile[] = found.failed.map((fault) => ({ ...fault, status: "failed" }));
  if (found.sources.length === 0) return failed;
  const target = await ensureTarget({ store }, principal, kb);
  const reader = createFileReader();
  const progress = watchProgress(cli.terminal, found.sources.length);
  try {
    const deps = { store: isForced ? forgetSources(store) : store, log, reader, fetcher };
    const added = await addAll(deps, principal, target.kb.id, found.sources, { signal, progress });
    progress.close();
    const isFilled = added.some(({ status }) => status !== "failed");
    const advice = isFilled ? await giveKb(cli, store, principal, target.kb) : null;
    if (advice !== null) cli.terminal.note(advice);
    return [...failed, ...added];
  } finally {
    progress.close();
    await reader.close();
  }
}
