import type { Principal } from "@svc/auth";
import type { DocumentItem } from "@svc/contracts";
import { createPageFetcher } from "@svc/knowledge";
import type { PageFetcher } from "@svc/knowledge";
import { createFetchGuard } from "@svc/runtime";
import type { Resources } from "@svc/runtime";
import type { Store } from "@svc/store";
import type { Cli } from "../cli.ts";
import { EXIT } from "../exit-codes.ts";
import { localPrincipal } from "../local-principal.ts";
import { safeLine } from "../safe-text.ts";
import { withResources } from "../with-resources.ts";
import { addFound } from "./add-found.ts";
import { findKb, listAllDocuments } from "./find-kb.ts";
import { lookAtSource } from "./look-at-source.ts";
import type { SourceState } from "./look-at-source.ts";
import { removeDocuments } from "./remove-documents.ts";
import { renderAdded, renderSkipped, renderSummary, summarize } from "./render-added.ts";

/** What `kb sync` is told. */
export interface SyncOptions {
  kb: string;
  project: string;
  maxPages: number;
  dryRun?: true;
}

/** What there is to do. */
interface Plan {
  source: string;
  state: SourceState;
  /** Documents of the knowledge base as it is; none where there is no such base yet. */
  present: DocumentItem[];
  /** Those of the source that it does not hold any more. */
  gone: DocumentItem[];
  /** Why `gone` stays; null when it is removed, or empty. */
  kept: string | null;
}

async function listPresent(store: Store, principal: Principal, kb: string): Promise<DocumentItem[]> {
  const found = await findKb(store, principal, kb);
  return found === null ? [] : listAllDocuments(store, principal, found.id);
}

function makePlan(source: string, state: SourceState, present: DocumentItem[]): Plan {
  const { found, isOfSource, notRemoved } = state;
  const keys = new Set(found.sources.map(({ key }) => key));
  const gone = present.filter(({ key }) => isOfSource(key) && !keys.has(key));
  const isKept = notRemoved !== null && gone.length > 0;
  const kept = isKept ? `Nothing was removed, since ${notRemoved}: ${gone.length} left.` : null;
  return { source, state, present, gone, kept };
}

/** Says what would be done. Whether a file has changed is not known before it is read. */
function showPlan({ terminal }: Cli, { kb, project }: SyncOptions, plan: Plan): void {
  const known = new Set(plan.present.map(({ key }) => key));
  const { sources, failed } = plan.state.found;
  const fresh = sources.flatMap(({ key }) => (known.has(key) ? [] : [key]));
  const gone = plan.state.notRemoved === null ? plan.gone.map(({ key }) => key) : [];
  const compared = sources.length - fresh.length;
  const { source, kept } = plan;
  terminal.show({ ok: true, isDryRun: true, project, kb, source, new: fresh, compared, gone, kept, failed }, () =>
    [
      ...failed.map(({ file, error }) => `failed        ${safeLine(file)}: ${safeLine(error)}`),
      ...fresh.map((key) => `would add     ${safeLine(key)}`),
      ...gone.map((key) => `would remove  ${safeLine(key)}`),
      ...(kept === null ? [] : [kept]),
      `Nothing was changed: ${fresh.length} to add, ${compared} to compare, ${gone.length} to remove.`,
    ].join("\n"),
  );
}

async function carryOut(
  cli: Cli,
  resources: Resources,
  { kb, project }: SyncOptions,
  work: { principal: Principal; plan: Plan; fetcher: PageFetcher; signal: AbortSignal },
): Promise<void> {
  const { principal, plan, fetcher, signal } = work;
  const { source, state, kept } = plan;
  const { found } = state;
  const files = await addFound(cli, resources, principal, { kb, found, fetcher, signal });
  const isInterrupted = signal.aborted;
  const gone = isInterrupted || kept !== null ? [] : plan.gone;
  const removed = await removeDocuments(resources.store, principal, gone);
  const summary = { ...summarize(files), removed: removed.length };
  const isComplete = summary.failed === 0 && !isInterrupted && kept === null;
  if (!isComplete) cli.setExitCode(isInterrupted ? EXIT.interrupted : EXIT.failed);
  const { skipped } = found;
  cli.terminal.show(
    { ok: isComplete, isDryRun: false, project, kb, source, summary, files, removed, kept, skipped, isInterrupted },
    () =>
      [
        renderAdded(files, cli.terminal),
        ...removed.map(({ key }) => `removed  ${safeLine(key)}`),
        renderSummary(summary),
        renderSkipped(skipped),
        kept,
        isInterrupted ? "Interrupted, nothing was removed. The same command goes on from here." : null,
      ]
        .filter((part) => part !== null)
        .join("\n"),
  );
}

/** `svc kb sync`: makes a knowledge base hold what a folder or site holds, and nothing that has gone from it. */
export async function runSync(cli: Cli, source: string, options: SyncOptions): Promise<void> {
  await withResources(cli, { endsItself: true }, async (resources, signal) => {
    const principal = await localPrincipal(resources.store, options.project);
    const fetcher = createPageFetcher({ guard: createFetchGuard(resources.config) });
    try {
      const state = await lookAtSource(cli, source, { fetcher, maxPages: options.maxPages, signal });
      const plan = makePlan(source, state, await listPresent(resources.store, principal, options.kb));
      if (options.dryRun === true) showPlan(cli, options, plan);
      else await carryOut(cli, resources, options, { principal, plan, fetcher, signal });
    } finally {
      await fetcher.close();
    }
  });
}
