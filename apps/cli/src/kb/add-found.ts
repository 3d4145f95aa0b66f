import type { Principal } from "@svc/auth";
import { createFileReader, ensureKb } from "@svc/knowledge";
import type { PageFetcher } from "@svc/knowledge";
import type { Resources } from "@svc/runtime";
import { giveKb } from "../agents/give-kb.ts";
import type { Cli } from "../cli.ts";
import { addSources } from "./add-sources.ts";
import type { AddedFile } from "./add-sources.ts";
import type { FoundSources } from "./find-sources.ts";
import { watchProgress } from "./watch-progress.ts";

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
  const target = await ensureKb({ store }, principal.project, kb);
  const reader = createFileReader();
  const progress = watchProgress(cli.terminal, found.sources.length);
  try {
    const added = await addSources(
      { store, log, reader, fetcher },
      { project: principal.project, kbId: target.kb.id },
      found.sources,
      { signal, progress },
    );
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
