import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hashApiKey, issueKey } from "@svc/auth";
import type { Store } from "@svc/store";

const FILE = "cli-key";
const MADE_BY = "command-line";

/** Where the command line's credential lies in a data folder. */
export function localKeyFile(dataDir: string): string {
  return join(dataDir, FILE);
}

/** The command line's credential, or null when there is none in this data folder. */
export async function readLocalKey(dataDir: string): Promise<string | null> {
  try {
    return (await readFile(localKeyFile(dataDir), "utf8")).trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** Makes sure that the data folder has a valid credential for the command line, which only its owner can read. */
export async function ensureLocalKey(store: Store, dataDir: string): Promise<string> {
  const known = await readLocalKey(dataDir);
  if (known !== null && (await store.apiKeys.findLiveByHash(hashApiKey(known))) !== null) return known;
  const { key } = await issueKey(store, {
    name: "command line",
    scopes: ["admin:*"],
    project: null,
    createdBy: MADE_BY,
  });
  const file = localKeyFile(dataDir);
  await writeFile(file, `${key}\n`, { mode: 0o600 });
  // An older file keeps its mode when it is written again.
  await chmod(file, 0o600);
  return key;
}

/** Revokes the command line's credentials, where the configuration names the only administrator's key. */
export async function revokeLocalKeys(store: Store): Promise<void> {
  for (const record of await store.apiKeys.listLiveCreatedBy(MADE_BY)) await store.apiKeys.revoke(record.id);
}
