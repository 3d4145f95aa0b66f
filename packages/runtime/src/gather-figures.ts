import { VERSION } from "@svc/contracts";
import { createBriefCache, usedShareOf } from "@svc/store";
import type { QueueDepth, StorageUsage, StoredKind } from "@svc/store";
import { beforeScrape, clearGauge, setGauge } from "@svc/telemetry";
import type { Resources } from "./open-resources.ts";

/** Minimum interval between reads of the queues, so that frequent scrapes do not load the database. */
const DEPTHS_EVERY_MS = 10_000;

function showDepths(depths: readonly QueueDepth[]): void {
  for (const { queue, waiting, due, oldestDueAgeS, dead } of depths) {
    setGauge("svc_queue_waiting", { queue }, waiting);
    setGauge("svc_queue_due", { queue }, due);
    setGauge("svc_queue_oldest_due_age_seconds", { queue }, oldestDueAgeS);
    if (dead !== null) setGauge("svc_queue_dead", { queue }, dead);
  }
}

/** Hides gauges whose values are outdated. */
function hideDepths(): void {
  clearGauge("svc_queue_waiting");
  clearGauge("svc_queue_due");
  clearGauge("svc_queue_oldest_due_age_seconds");
  clearGauge("svc_queue_dead");
}

/** Minimum interval between two reads of the storage metrics. */
const STORAGE_EVERY_MS = 60_000;

function showStorage({ projects, totalBytes, limits }: StorageUsage): void {
  hideStorage();
  // No metric has a label for the project, since each customer would add a time series. The log and `svc doctor` name
  // the projects.
  const bytesOf = new Map<StoredKind, number>();
  for (const { kinds } of projects) {
    for (const [kind, bytes] of Object.entries(kinds) as [StoredKind, number][]) {
      bytesOf.set(kind, (bytesOf.get(kind) ?? 0) + bytes);
    }
  }
  for (const [kind, bytes] of bytesOf) setGauge("svc_stored_bytes", { kind }, bytes);
  const fullest = Math.max(0, ...projects.map((usage) => usedShareOf(usage, limits)));
  setGauge("svc_storage_used_ratio", { scope: "project" }, fullest);
  setGauge("svc_storage_used_ratio", { scope: "installation" }, totalBytes / limits.installationMaxBytes);
}

function hideStorage(): void {
  clearGauge("svc_stored_bytes");
  clearGauge("svc_storage_used_ratio");
}

/**
 * Collects metrics at each scrape, and only then: running services, readiness, reachability of the servers, and the
 * queues. Returns a function that ends this.
 */
export function gatherFigures(
  app: string,
  { store, queues }: Pick<Resources, "store" | "queues">,
  findProblem: () => Promise<string | null>,
): () => void {
  setGauge("svc_build_info", { app, version: VERSION }, 1);

  async function gatherState(): Promise<void> {
    setGauge("svc_queue_backend_up", {}, queues.isUp() ? 1 : 0);
    setGauge("svc_store_up", {}, 0);
    setGauge("svc_ready", {}, 0);
    const [isUp, error] = await Promise.all([store.ping(), findProblem()]);
    setGauge("svc_store_up", {}, isUp ? 1 : 0);
    setGauge("svc_ready", {}, error === null ? 1 : 0);
  }

  const forget = [
    beforeScrape(cachedFigures(DEPTHS_EVERY_MS, () => store.queueDepths.read(), showDepths, hideDepths)),
    beforeScrape(cachedFigures(STORAGE_EVERY_MS, () => store.storedBytes.read(), showStorage, hideStorage)),
    beforeScrape(gatherState),
  ];
  return () => {
    for (const end of forget) end();
  };
}

/** Returns a function that shows figures that are read at most once in this time, and hides them if that fails. */
function cachedFigures<Figures>(
  everyMs: number,
  read: () => Promise<Figures>,
  show: (figures: Figures) => void,
  hide: () => void,
): () => Promise<void> {
  const cache = createBriefCache<Figures>(everyMs);
  return async () => {
    try {
      const figures = await cache.get("figures", read);
      if (figures !== null) show(figures);
    } catch (error) {
      hide();
      throw error;
    }
  };
}
