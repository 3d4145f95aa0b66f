import { join } from "node:path";
import { hashApiKey, issueKey } from "@svc/auth";
import type { Store } from "@svc/store";
import { readPrivateFile, writePrivateFile } from "./private-file.ts";

const FILE = "cli-key";
/** Who has made the command line's credentials. */
export const MADE_BY_COMMAND_LINE = "command-line";

/** What the audit trail says of everything that the command line does for itself. */
const BY_COMMAND_LINE = { actor: MADE_BY_COMMAND_LINE, project: null, result: "ok", requestId: null } as const;

/** Where the command line's credential lies in a data folder. */
export function localKeyFile(dataDir: string): string {
  return join(dataDir, FILE);
}

/** The command line's credential, or null when there is none in this data folder. */
export function readLocalKey(dataDir: string): Promise<string | null> {
  return readPrivateFile(localKeyFile(dataDir));
}

/** Makes sure that the data folder has a valid credential for the command line, which only its owner can read. */
export async function ensureLocalKey(store: Store, dataDir: string): Promise<string> {
  const known = await readLocalKey(dataDir);
  if (known !== null && (await store.apiKeys.findLiveByHash(hashApiKey(known))) !== null) return known;
  const { key, record } = await issueKey(store, {
    name: "command line",
    scopes: ["admin:*"],
    project: null,
    createdBy: MADE_BY_COMMAND_LINE,
  });
  await store.audit.append({ ...BY_COMMAND_LINE, action: "keys.create", object: record.id });
  await writePrivateFile(localKeyFile(dataDir), key);
  return key;
}

/** Revokes the command line's credentials, where the configuration names the only administrator's key. */
export async function revokeLocalKeys(store: Store): Promise<void> {
  for (const { id } of await store.apiKeys.listLiveCreatedBy(MADE_BY_COMMAND_LINE)) {
    await store.apiKeys.revoke(id);
    await store.audit.append({ ...BY_COMMAND_LINE, action: "keys.revoke", object: id });
  }
}
