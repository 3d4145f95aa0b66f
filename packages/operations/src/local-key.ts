import { randomBytes } from "node:crypto";
import { chmod, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { hashApiKey, issueKey } from "@svc/auth";
import { errorCode } from "@svc/primitives";
import type { Store } from "@svc/store";

const KEY_FILE = "cli-key";
/** Creator of the command line's credentials. */
export const MADE_BY_COMMAND_LINE = "command-line";

/** Audit log fields of the changes that the command line makes for itself. */
const BY_COMMAND_LINE = { actor: MADE_BY_COMMAND_LINE, project: null, result: "ok", requestId: null } as const;

/** Returns the path of the command line's credential in a data folder. */
export function localKeyFile(dataDir: string): string {
  return join(dataDir, KEY_FILE);
}

/** Reads the command line's credential, or null if there is none in this data folder. */
export function readLocalKey(dataDir: string): Promise<string | null> {
  return readPrivateFile(localKeyFile(dataDir));
}

/** Ensures that the data folder has a valid credential for the command line, which only its owner can read. */
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

/** Revokes the command line's credentials, if the configuration has the only administrator's key. */
export async function revokeLocalKeys(store: Store): Promise<void> {
  for (const { id } of await store.apiKeys.listLiveCreatedBy(MADE_BY_COMMAND_LINE)) {
    await store.apiKeys.revoke(id);
    await store.audit.append({ ...BY_COMMAND_LINE, action: "keys.revoke", object: id });
  }
}

/** Reads a file without its line break; null if it does not exist, or is empty after a crash. */
export async function readPrivateFile(file: string): Promise<string | null> {
  try {
    const text = (await readFile(file, "utf8")).trim();
    return text === "" ? null : text;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
}

/**
 * Writes a file atomically that only its owner can read: it is durable when this resolves, and a crash before that
 * leaves the previous content.
 */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  const draft = `${file}.new`;
  await rm(draft, { force: true });
  const handle = await open(draft, "wx", 0o600);
  try {
    await handle.writeFile(`${text}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await chmod(draft, 0o600);
  await rename(draft, file);
  // Windows cannot open a folder; there the rename must suffice.
  if (process.platform === "win32") return;
  const folder = await open(dirname(file), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const SECRET_KEY_FILE = "secret-key";
const KEY_BYTES = 48;

/** Returns the path of a data folder's secret key. */
export function localSecretKeyFile(dataDir: string): string {
  return join(dataDir, SECRET_KEY_FILE);
}

/** Reads the secret key of a data folder (`SVC_SECRET_KEY` of the embedded mode), or null if it has none. */
export function readLocalSecretKey(dataDir: string): Promise<string | null> {
  return readPrivateFile(localSecretKeyFile(dataDir));
}

/** The secret key of an existing database is missing in its data folder. */
export class SecretKeyMissingError extends Error {
  constructor(dataDir: string) {
    const file = resolve(localSecretKeyFile(dataDir));
    super(
      `There is no secret key in ${file}, and this database was set up with one. Put the file back from your copy, or set SVC_SECRET_KEY to that key.`,
    );
    this.name = "SecretKeyMissingError";
  }
}

/**
 * Returns the secret key of a data folder. Creates one if there is none and the database does not exist yet: another
 * key could decrypt nothing of an existing one. Only its owner can read the file, which is durable before anything is
 * sealed with it. The folder must exist. Throws SecretKeyMissingError.
 */
export async function ensureLocalSecretKey(dataDir: string, { hasData }: { hasData: boolean }): Promise<string> {
  const known = await readLocalSecretKey(dataDir);
  if (known !== null) return known;
  if (hasData) throw new SecretKeyMissingError(dataDir);
  const key = randomBytes(KEY_BYTES).toString("base64url");
  await writePrivateFile(localSecretKeyFile(dataDir), key);
  return key;
}
