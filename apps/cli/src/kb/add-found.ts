import type { Principal } from "@svc/auth";
import { createFileReader, ensureKb } from "@svc/knowledge";
import type { PageFetcher } from "@svc/knowledge";
import { audited } from "@svc/operations";
import type { Resources } from "@svc/runtime";
import type { Store } from "@svc/store";
import { giveKb } from "../agents/give-kb.ts";
import type { Cli } from "../cli.ts";
import { addSources } from "./add-sources.ts";
import type { AddDeps, AddProgress, AddedFile } from "./add-sources.ts";
import type { FoundSources, Source } from "./find-sources.ts";
import { watchProgress } from "./watch-progress.ts";

const ensureTarget = audited(
  "kb.create",
  ({ store }: { store: Store }, { project }: Principal, name: string) => ensureKb({ store }, project, name),
  (_args, made) => made?.kb.id ?? null,
  { countOf: (_args, { created }) => (created ? 1 : 0) },
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
  undefined,
  { countOf: (_args, files) => files.filter(({ status }) => status === "added" || status === "changed").length },
);

/**
 * Adds what was found to the knowledge base of this name, which is made when there is none, and shows how far it is.
 * Answers what became of each, what could not be looked at included. Where no agent has the knowledge base, one gets it
 * or it is said how.
 */
export async function addFound(
  cli: Cli,
  resources: Resources,
  principal: Principal,
  { kb, found, fetcher, signal }: { kb: string; found: FoundSources; fetcher: PageFetcher; signal: AbortSignal },
): Promise<AddedFile[]> {
  const { store, log } = resources;
  const failed: AddedFile[] = found.failed.map((fault) => ({ ...fault, status: "failed" }));
  if (found.sources.length === 0) return failed;
  const target = await ensureTarget({ store }, principal, kb);
  const reader = createFileReader();
  const progress = watchProgress(cli.terminal, found.sources.length);
  try {
    const deps = { store, log, reader, fetcher };
    const added = await addAll(deps, principal, target.kb.id, found.sources, { signal, progress });
    progress.close();
    const isFilled = added.some(({ status }) => status !== "failed");
    const told = isFilled ? await giveKb(cli, store, principal, target.kb) : null;
    if (told !== null) cli.terminal.note(told);
    return [...failed, ...added];
  } finally {
    progress.close();
    await reader.close();
  }
}
