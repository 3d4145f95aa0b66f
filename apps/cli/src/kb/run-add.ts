import { createPageFetcher } from "@svc/knowledge";
import { createFetchGuard } from "@svc/runtime";
import type { Cli } from "../cli.ts";
import { EXIT } from "../exit-codes.ts";
import { localPrincipal } from "../local-principal.ts";
import { withResources } from "../with-resources.ts";
import { addFound } from "./add-found.ts";
import { findSiteSources } from "./find-site-sources.ts";
import { findSources, joinFound } from "./find-sources.ts";
import { renderAdded, renderLinksOut, renderSkipped, renderSummary, summarize } from "./render-added.ts";

/** What `kb add` is told. */
export interface AddOptions {
  kb: string;
  project: string;
  /** Sitemaps, or roots of sites. */
  sitemap: string[];
  maxPages: number;
}

/** `svc kb add`: files, folders, pages and whole sites become documents. */
export async function runAdd(cli: Cli, words: readonly string[], options: AddOptions): Promise<void> {
  const { kb, project, maxPages } = options;
  const { files, found, isInterrupted } = await withResources(cli, { endsItself: true }, async (resources, signal) => {
    const principal = await localPrincipal(resources.store, project);
    const fetcher = createPageFetcher({ guard: createFetchGuard(resources.config) });
    try {
      const parts = [await findSources(cli.folder, words)];
      for (const sitemap of options.sitemap) {
        parts.push(await findSiteSources(cli, fetcher, sitemap, { maxPages, signal }));
      }
      const found = joinFound(parts);
      const added = await addFound(cli, resources, principal, { kb, found, fetcher, signal });
      return { files: added, found, isInterrupted: signal.aborted };
    } finally {
      await fetcher.close();
    }
  });
  const { skipped, linksOut } = found;
  const summary = summarize(files);
  const isComplete = summary.failed === 0 && !isInterrupted;
  if (summary.failed > 0) cli.setExitCode(EXIT.failed);
  if (isInterrupted) cli.setExitCode(EXIT.interrupted);
  cli.terminal.show({ ok: isComplete, project, kb, summary, files, skipped, linksOut, isInterrupted }, () =>
    [
      renderAdded(files, cli.terminal),
      renderSummary(summary),
      renderSkipped(skipped),
      renderLinksOut(linksOut),
      isInterrupted
        ? "Interrupted. Run the same command to resume: documents that are already added are skipped."
        : null,
    ]
      .filter((part) => part !== null)
      .join("\n"),
  );
}
