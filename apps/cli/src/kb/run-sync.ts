import type { Principal } from "@svc/auth";
import type { DocumentItem } from "@svc/contracts";
import { createPageFetcher } from "@svc/knowledge";
import type { PageFetcher } from "@svc/knowledge";
import { createFetchGuard } from "@svc/runtime";
import type { Resources } from "@svc/runtime";
import type { Store } from "@svc/store";
import type { Cli } from "../cli.ts";
import { confirm } from "../confirm.ts";
import { EXIT } from "../exit-codes.ts";
import { localPrincipal } from "../local-principal.ts";
import { safeLine } from "../safe-text.ts";
import { withResources } from "../with-resources.ts";
import { addFound } from "./add-found.ts";
import type { AddedFile } from "./add-sources.ts";
import { findKb, listAllDocuments } from "./find-kb.ts";
import { lookAtSource } from "./look-at-source.ts";
import type { SourceState } from "./look-at-source.ts";
import { removeDocuments } from "./remove-documents.ts";
import { renderAdded, renderLinksOut, renderNames, renderSkipped, renderSummary, summarize } from "./render-added.ts";
import { pageIdOf } from "./source-scope.ts";

/** What `kb sync` is told. */
export interface SyncOptions {
  kb: string;
  project: string;
  maxPages: number;
  dryRun?: true;
  /** Removes without a question, however much it is. */
  yes?: true;
}

/** What there is to do. */
interface Plan {
  source: string;
  state: SourceState;
  /** Documents of the knowledge base as it is; none where there is no such base yet. */
  present: DocumentItem[];
  /** Those of them that come from the source. */
  ofSource: DocumentItem[];
  /** Those of the source that it does not hold any more. */
  gone: DocumentItem[];
  /** Keys of those that were left out and are there all the same. */
  stay: string[];
  /** Why `gone` stays; null when it is removed, or empty. */
  kept: string | null;
}

/** So many documents may be removed without a question; of more, half of what a source has brought. */
const UNASKED_COUNT = 10;

async function listPresent(store: Store, principal: Principal, kb: string): Promise<DocumentItem[]> {
  const found = await findKb(store, principal, kb);
  return found === null ? [] : listAllDocuments(store, principal, found.id);
}

async function makePlan(source: string, state: SourceState, present: DocumentItem[]): Promise<Plan> {
  const { found, isOfSource, isStillThere, notRemoved } = state;
  const keys = new Set(found.sources.map(({ key }) => key));
  const ofSource = present.filter(({ key }) => isOfSource(key));
  const gone: DocumentItem[] = [];
  const stay: string[] = [];
  for (const document of ofSource.filter(({ key }) => !keys.has(key))) {
    if (await isStillThere(document.key)) stay.push(document.key);
    else gone.push(document);
  }
  const isKept = notRemoved !== null && gone.length > 0;
  const kept = isKept ? `Nothing was removed, because ${notRemoved}: ${gone.length} kept.` : null;
  return { source, state, present, ofSource, gone, stay, kept };
}

/** What has to be agreed to first; null for nothing. A source that names few of many may well be out of order. */
function questionOf({ kb }: SyncOptions, { source, ofSource, gone, kept }: Plan): string | null {
  if (kept !== null || gone.length <= UNASKED_COUNT || gone.length * 2 <= ofSource.length) return null;
  const known = `the ${ofSource.length} documents of ${safeLine(source, 200)} in "${safeLine(kb, 80)}"`;
  return `${gone.length} of ${known} no longer exist. Remove ${gone.length} documents?`;
}

/** Documents that are there although the source was not asked for them, in a line; null when there are none. */
function renderStay(stay: readonly string[]): string | null {
  if (stay.length === 0) return null;
  return `Skipped and kept unchanged: ${renderNames(stay)}.`;
}

const joinLines = (lines: readonly (string | null)[]) => lines.filter((line) => line !== null).join("\n");

/** Says what would be done. Whether a file has changed is not known before it is read. */
function showPlan({ terminal }: Cli, options: SyncOptions, plan: Plan): void {
  const { kb, project, yes = false } = options;
  const known = new Set(plan.present.map(({ key }) => key));
  const { sources, failed, linksOut } = plan.state.found;
  const fresh = sources.flatMap(({ key }) => (known.has(key) ? [] : [key]));
  const gone = plan.state.notRemoved === null ? plan.gone.map(({ key }) => key) : [];
  const compared = sources.length - fresh.length;
  const { source, kept, stay } = plan;
  const asks = !yes && questionOf(options, plan) !== null;
  terminal.show(
    { ok: true, isDryRun: true, project, kb, source, new: fresh, compared, gone, asks, kept, stay, failed, linksOut },
    () =>
      joinLines([
        ...failed.map(({ file, error }) => `failed        ${safeLine(file)}: ${safeLine(error)}`),
        ...fresh.map((key) => `would add     ${safeLine(key)}`),
        ...gone.map((key) => `would remove  ${safeLine(key)}`),
        renderLinksOut(linksOut),
        renderStay(stay),
        kept,
        `Nothing was changed: ${fresh.length} to add, ${compared} to compare, ${gone.length} to remove.`,
        asks ? "This is more than half, so removing them requires confirmation or --yes." : null,
      ]),
  );
}

/** Documents that may go. A page that has another address now stays until it was read there. */
function findRemovable({ gone, kept }: Plan, files: readonly AddedFile[]): DocumentItem[] {
  if (kept !== null) return [];
  const failed = new Set(files.flatMap(({ file, status }) => (status === "failed" ? [pageIdOf(file)] : [])));
  return gone.filter(({ key }) => !failed.has(pageIdOf(key)));
}

async function carryOut(
  cli: Cli,
  resources: Resources,
  { kb, project }: SyncOptions,
  work: { principal: Principal; plan: Plan; fetcher: PageFetcher; signal: AbortSignal },
): Promise<void> {
  const { principal, plan, fetcher, signal } = work;
  const { source, state, kept, stay } = plan;
  const { found } = state;
  const files = await addFound(cli, resources, principal, { kb, found, fetcher, signal });
  const isInterrupted = signal.aborted;
  const removable = isInterrupted ? [] : findRemovable(plan, files);
  const removed = await removeDocuments(resources.store, principal, removable);
  const summary = { ...summarize(files), removed: removed.length };
  const isComplete = summary.failed === 0 && !isInterrupted && kept === null;
  if (!isComplete) cli.setExitCode(isInterrupted ? EXIT.interrupted : EXIT.failed);
  const { skipped, linksOut } = found;
  const outcome = { ok: isComplete, isDryRun: false, project, kb, source, summary, files, removed, kept, stay };
  cli.terminal.show({ ...outcome, skipped, linksOut, isInterrupted }, () =>
    joinLines([
      renderAdded(files, cli.terminal),
      ...removed.map(({ key }) => `removed  ${safeLine(key)}`),
      renderSummary(summary),
      renderSkipped(skipped),
      renderLinksOut(linksOut),
      renderStay(stay),
      kept,
      isInterrupted ? "Interrupted. Nothing was removed. Run the same command to resume." : null,
    ]),
  );
}

/** The result of the work, or the reason of the signal as soon as it aborts, so that Ctrl-C ends a question. */
async function untilAborted<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  signal.throwIfAborted();
  let giveUp: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    giveUp = () => reject(signal.reason as Error);
    signal.addEventListener("abort", giveUp, { once: true });
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

/** Whether the removals of this plan are agreed to. Throws CliError `usage` where nobody is there to be asked. */
async function isAgreed(cli: Cli, options: SyncOptions, plan: Plan, signal: AbortSignal): Promise<boolean> {
  const question = options.yes === true ? null : questionOf(options, plan);
  return question === null || untilAborted(() => confirm(cli, question, "--yes"), signal);
}

/** `svc kb sync`: makes a knowledge base hold what a folder or site holds, and nothing that has gone from it. */
export async function runSync(cli: Cli, source: string, options: SyncOptions): Promise<void> {
  const { kb, project } = options;
  await withResources(cli, { endsItself: true }, async (resources, signal) => {
    const principal = await localPrincipal(resources.store, project);
    const fetcher = createPageFetcher({ guard: createFetchGuard(resources.config) });
    try {
      const state = await lookAtSource(cli, source, { fetcher, maxPages: options.maxPages, signal });
      const plan = await makePlan(source, state, await listPresent(resources.store, principal, kb));
      if (options.dryRun === true) showPlan(cli, options, plan);
      else if (await isAgreed(cli, options, plan, signal)) {
        await carryOut(cli, resources, options, { principal, plan, fetcher, signal });
      } else {
        cli.terminal.show(
          { ok: false, isDryRun: false, project, kb, source, removed: [] },
          () => "Nothing was changed or removed.",
        );
      }
    } finally {
      await fetcher.close();
    }
  });
}
