import { describeBytes, storageWarnings } from "@svc/store";
import type { Store } from "@svc/store";
import type { Check } from "./check.ts";

const NAME = "Storage";

/** Compares what the projects store with their limits. Warns from 80 % of a limit on. */
export async function checkStorage(store: Pick<Store, "storedBytes">): Promise<Check> {
  const usage = await store.storedBytes.read();
  const warnings = storageWarnings(usage);
  if (warnings.length === 0) {
    const { totalBytes, limits } = usage;
    const detail = `${describeBytes(totalBytes)} of ${describeBytes(limits.installationMaxBytes)} used`;
    return { name: NAME, status: "ok", detail };
  }
  return {
    name: NAME,
    status: "warn",
    detail: warnings.join("; "),
    advice:
      "Delete files or documents, shorten the project's fileRetentionDays, or raise SVC_STORAGE_PROJECT_MAX_MB and SVC_STORAGE_INSTALLATION_MAX_MB.",
  };
}
