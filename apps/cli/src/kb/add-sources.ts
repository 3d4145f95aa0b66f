import { readFile, readdir, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Principal } from "@svc/auth";
import { KB_LIMITS, ServiceError } from "@svc/contracts";
import type { Agent, KbItem } from "@svc/contracts";
import { createFileReader, createPageFetcher, ensureKb, ingestFile } from "@svc/knowledge";
import type { FileReader, FileToIngest, PageFetcher } from "@svc/knowledge";
import type { Log } from "@svc/log";
import { DEMO_KB, FIRST_AGENT, audited } from "@svc/operations";
import { createFetchGuard } from "@svc/runtime";
import type { ProjectId, Store } from "@svc/store";
import { bindOperations, listAllAgents, listAllDocuments, listAllKbs } from "../as-administrator.ts";
import type { BoundOperations, OperationContext } from "../as-administrator.ts";
import { CliError, EXIT } from "../cli.ts";
import type { Cli } from "../cli.ts";
import { badFile, errorOfPath, findSiteSources, findSources, joinFound } from "./find-sources.ts";
import type { FoundSources, Source } from "./find-sources.ts";
import {
  joinLines,
  renderAdded,
  renderLinksOut,
  renderSkipped,
  renderSummary,
  summarize,
  watchProgress,
} from "./render-kb.ts";
import type { AddProgress, AddedFile } from "./render-kb.ts";
import { safeLine, shellWord } from "../terminal.ts";
import { findGuideDir, localPrincipal, withResources } from "../with-resources.ts";

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
    throw errorOfPath(error);
  }
}

/** Returns a page's name as a file: the end of its path, or its host. */
function nameOfPage(address: string): string {
  const { pathname, hostname } = new URL(address);
  return pathname.split("/").findLast((part) => part !== "") ?? hostname;
}

/**
 * Reads a whole file or page. Throws CliError with the reason why it cannot be read, and the reason of the signal if
 * a fetch is aborted.
 */
async function readSource(source: Source, fetcher: PageFetcher, signal: AbortSignal): Promise<FileToIngest> {
  if (source.kind === "file") {
    return { key: source.key, name: basename(source.path), bytes: await readBytes(source.path) };
  }
  try {
    const { url, bytes, mime } = await fetcher.fetch(source.url, signal);
    return { key: source.key, name: nameOfPage(url), bytes, url, ...(mime === null ? {} : { mime }) };
  } catch (error) {
    // An error of fetching a page only concerns that page, even if it is temporary.
    throw error instanceof ServiceError ? badFile(error.message, error) : error;
  }
}

/** Dependencies of adding documents. */
interface AddDeps {
  store: Store;
  log: Log;
  reader: FileReader;
  fetcher: PageFetcher;
}

/** Errors of the document itself; with any other error, the following documents would fail as well. */
const DOCUMENT_ERRORS: ReadonlySet<string> = new Set([
  "invalid_request",
  "payload_too_large",
  "unsupported_media_type",
]);

function reasonOf(error: unknown): string {
  if (error instanceof CliError) return error.message;
  if (error instanceof ServiceError && DOCUMENT_ERRORS.has(error.code)) return error.message;
  throw error;
}

/**
 * Adds files and pages to a knowledge base, one after the other; an invalid one does not prevent the others. When the
 * signal is aborted, it completes the current file and skips the rest: added files stay, and are unchanged if added
 * again.
 */
async function ingestSources(
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
      // An aborted fetch is not an error of the page.
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

const NAME_CHARS = 80;
/** Maximum number of attempts while another operator changes the agent. */
const MAX_TRIES = 3;

/**
 * Returns true if a knowledge base contains only the product's documentation, or only the documents of the demo shop.
 */
async function isOurs(operations: BoundOperations, { id, name }: KbItem): Promise<boolean> {
  if (name !== FIRST_AGENT.kb && name !== DEMO_KB.name) return false;
  const pages = new Set(await readdir(await findGuideDir()));
  const isOurKey = (key: string) => (name === FIRST_AGENT.kb ? pages.has(key) : key.startsWith(DEMO_KB.keyPrefix));
  return (await listAllDocuments(operations, id)).every(({ key }) => isOurKey(key));
}

/**
 * Assigns the knowledge base to the agent instead of the product's documentation. Returns false if another operator
 * has changed the agent.
 */
async function replaceGuide({ updateAgent }: BoundOperations, agent: Agent, kbId: string): Promise<boolean> {
  // The description of the product's documentation no longer applies, and triage would use it.
  const description = agent.description === FIRST_AGENT.description ? "" : agent.description;
  try {
    await updateAgent({ id: agent.id, versions: [agent.version] }, { kbIds: [kbId], description });
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.code === "version_conflict") return false;
    throw error;
  }
}

/**
 * Ensures that an agent answers from a new knowledge base. If no agent uses it, and the project's only agent answers
 * from nothing but the product's documentation and the demo shop, that agent gets it instead of these; otherwise
 * nothing is changed. Returns a line for the user with the change, or how to assign it; null if an agent already uses
 * it.
 */
async function assignKb(
  cli: Cli,
  operations: BoundOperations,
  projectName: string,
  kb: { id: string; name: string },
): Promise<string | null> {
  const kbName = safeLine(kb.name, NAME_CHARS);
  const inProject = projectName === "default" ? "" : ` --project ${projectName}`;
  const command = (words: string) => `${cli.self} agents ${words}${inProject}`;
  const unused = `No agent uses the knowledge base "${kbName}" yet.`;
  const giveTo = (name: string) =>
    `${unused} Assign it with: ${command(`update ${name} --add-kb ${shellWord(kbName)}`)}`;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const agents = (await listAllAgents(operations)).filter(({ enabled }) => enabled);
    if (agents.some(({ kbIds }) => kbIds.includes(kb.id))) return null;
    const [agent, ...others] = agents;
    if (agent === undefined) {
      return `${unused} Create an agent with: ${command(`create NAME --kb ${shellWord(kbName)}`)}`;
    }
    const name = others.length === 0 ? shellWord(safeLine(agent.name, NAME_CHARS)) : "NAME";
    const kbs = (await listAllKbs(operations)).filter(({ id }) => agent.kbIds.includes(id));
    const isAlone = others.length === 0 && kbs.length > 0 && agent.fixedReply === null;
    const ours = await Promise.all(kbs.map((known) => isOurs(operations, known)));
    if (!isAlone || ours.includes(false)) return giveTo(name);
    if (!(await replaceGuide(operations, agent, kb.id))) continue;
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

/** Adds one row to the audit log for all sources, with the number of added or replaced documents. */
const addAll = audited(
  "documents.add",
  (
    deps: AddDeps,
    { project }: Principal,
    kbId: string,
    found: { sources: readonly Source[]; signal: AbortSignal; progress: AddProgress },
  ) => ingestSources(deps, { project, kbId }, found.sources, found),
  { countOf: (_args, files) => files.filter(({ status }) => status === "added" || status === "changed").length },
);

/** The sources to add, and the knowledge base that receives them. */
interface AddingOptions {
  /** Name of the knowledge base. */
  kb: string;
  found: FoundSources;
  fetcher: PageFetcher;
  signal: AbortSignal;
  /** If true, unchanged files are read again. */
  isForced?: boolean;
}

/**
 * Returns a store in which the knowledge base is empty, so that every file is read again. Documents are still
 * replaced by their key.
 */
const withoutSources = (store: Store): Store => ({
  ...store,
  documents: { ...store.documents, findBySource: () => Promise.resolve(null) },
});

/**
 * Adds sources to the knowledge base of this name, which is created if it does not exist, and shows the progress.
 * Returns the result for each source, including those that could not be read. If no agent uses the knowledge base,
 * one gets it, or a note explains how.
 */
export async function addFound(
  cli: Cli,
  context: OperationContext,
  { kb, found, fetcher, signal, isForced = false }: AddingOptions,
): Promise<AddedFile[]> {
  const { principal } = context;
  const { store, log } = context.resources;
  const failed: AddedFile[] = found.failed.map((file) => ({ ...file, status: "failed" }));
  if (found.sources.length === 0) return failed;
  const target = await ensureTarget({ store }, principal, kb);
  const reader = createFileReader();
  const progress = watchProgress(cli.terminal, found.sources.length);
  try {
    const deps = { store: isForced ? withoutSources(store) : store, log, reader, fetcher };
    const added = await addAll(deps, principal, target.kb.id, { sources: found.sources, signal, progress });
    progress.close();
    const isFilled = added.some(({ status }) => status !== "failed");
    const advice = isFilled
      ? await assignKb(cli, await bindOperations(context), principal.projectName, target.kb)
      : null;
    if (advice !== null) cli.terminal.note(advice);
    return [...failed, ...added];
  } finally {
    progress.close();
    await reader.close();
  }
}

/** Options of `kb add`. */
interface AddInput {
  /** Files, folders and URLs of pages. */
  source: string[];
  kb: string;
  sitemap: string[];
  maxPages: number;
  force: true | undefined;
  project: string;
}

/** `svc kb add`: adds files, folders, pages and sites to a knowledge base, and shows the result for each. */
export async function addSources(
  cli: Cli,
  { source: words, kb, sitemap, maxPages, force, project }: AddInput,
): Promise<void> {
  const { files, found, isInterrupted } = await withResources(cli, { endsItself: true }, async (resources, signal) => {
    const principal = await localPrincipal(resources.store, project);
    const fetcher = createPageFetcher({ guard: createFetchGuard(resources.config) });
    try {
      const parts = [await findSources(cli.folder, words)];
      for (const url of sitemap) parts.push(await findSiteSources(cli, fetcher, url, { maxPages, signal }));
      const all = joinFound(parts);
      const options = { kb, found: all, fetcher, signal, isForced: force === true };
      const added = await addFound(cli, { principal, resources }, options);
      return { files: added, found: all, isInterrupted: signal.aborted };
    } finally {
      await fetcher.close();
    }
  });
  const { skipped, linksOut } = found;
  const summary = summarize(files);
  if (summary.failed > 0) cli.setExitCode(EXIT.failed);
  if (isInterrupted) cli.setExitCode(EXIT.interrupted);
  const isComplete = summary.failed === 0 && !isInterrupted;
  cli.terminal.show({ ok: isComplete, project, kb, summary, files, skipped, linksOut, isInterrupted }, () =>
    joinLines([
      renderAdded(files, cli.terminal),
      renderSummary(summary),
      renderSkipped(skipped),
      renderLinksOut(linksOut),
      isInterrupted
        ? "Interrupted. Run the same command to resume: documents that are already added are skipped."
        : null,
    ]),
  );
}
