import { openStore } from "@svc/store";
import type { Database } from "../with-database.ts";

/** Somebody at the machine, as everything that the command line does is noted. */
const ACTOR = "command-line";

/** What is noted of the installation as a whole. */
export type MaintenanceAction = "service.backup" | "service.restore" | "service.upgrade";

/** Leaves a row in the audit trail of a database whose schema is of this version. */
export async function noteInAudit({ config, log }: Database, action: MaintenanceAction): Promise<void> {
  const store = openStore({ url: config.databaseUrl, secretKey: config.secretKey, log, app: "svc-cli" });
  try {
    await store.audit.append({ actor: ACTOR, action, object: null, project: null, result: "ok", requestId: null });
  } finally {
    await store.close();
  }
}
