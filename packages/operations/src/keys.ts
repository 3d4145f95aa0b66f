import { randomBytes } from "node:crypto";
import { chmod, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { generateApiKey, hashApiKey, issueKey, prefixOfApiKey } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { ServiceError, checkInput, invalidInput, keyInputSchema, rotateInputSchema } from "@svc/contracts";
import type { KeyItem, Scope } from "@svc/contracts";
import { errorCode, isUuid } from "@svc/primitives";
import { DEFAULT_PROJECT } from "@svc/store";
import type { ApiKeyRecord, Project, Store } from "@svc/store";
import { operation, readPage } from "./operation.ts";

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
async function readPrivateFile(file: string): Promise<string | null> {
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

/** A key with the name of its project. */
type NamedApiKey = NonNullable<Awaited<ReturnType<Store["apiKeys"]["find"]>>>;

/** Creator of the keys that a person creates on the machine itself. */
const MADE_BY_PERSON_AT_MACHINE = "svc keys";

/**
 * Returns the creator of a key. Keys that the command line creates for itself are revoked when the configuration has an
 * administrator's key, so those that a person creates with it must be distinguishable.
 */
function makerOf({ actor }: Principal): string {
  return actor === MADE_BY_COMMAND_LINE ? MADE_BY_PERSON_AT_MACHINE : actor;
}

function asItem(record: ApiKeyRecord, projectName: string | null): KeyItem {
  const { id, name, prefix, scopes, createdAt, createdBy, expiresAt, lastUsedAt, revokedAt, rateLimit } = record;
  return {
    id,
    name,
    prefix,
    scopes,
    project: projectName,
    createdAt: createdAt.toISOString(),
    createdBy,
    expiresAt: expiresAt?.toISOString() ?? null,
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
    ...(rateLimit === undefined ? {} : { rateLimit }),
  };
}

const asNamedItem = (record: NamedApiKey) => asItem(record, record.projectName);

/** Returns the key with this id. Throws not_found. */
async function readKey(store: Store, id: string): Promise<NamedApiKey> {
  const record = isUuid(id) ? await store.apiKeys.find(id) : null;
  if (record === null) throw new ServiceError("not_found", "No key with this ID exists.");
  return record;
}

/** Returns the project of a new key: null only for an administrator's key. */
async function chooseProject(store: Store, scopes: Scope[], name: string | undefined): Promise<Project | null> {
  const error = (code: string, detail: string) => invalidInput([{ pointer: "/project", code, detail }], "The key");
  if (scopes.includes("admin:*")) {
    if (name === undefined) return null;
    throw error("not_allowed", "must be omitted: a key with admin:* selects the project in each request");
  }
  const project = await store.projects.findByName(name ?? DEFAULT_PROJECT);
  if (project === null)
    throw error("unknown", `must be the name of a project; ${name ?? DEFAULT_PROJECT} does not exist`);
  return project;
}

/** Returns a page of the keys of all projects, newest first, including revoked and expired ones. */
export const listKeys = operation("listKeys", async ({ store }, _principal, input) => {
  return readPage("keys", input, { read: (query) => store.apiKeys.listPage(query), asItem: asNamedItem });
});

/** Returns the key with this id. */
export const getKey = operation("getKey", async ({ store }, _principal, id) => {
  return asNamedItem(await readKey(store, id));
});

/**
 * Creates a key and returns it once, as `key`; or imports an existing one, which is not returned. It works immediately
 * on every replica. A key without `admin:*` is bound to one project. Throws invalid_request for an unknown project, and
 * for an imported key that is already active.
 */
export const createKey = operation(
  "createKey",
  async ({ store }, principal, input): Promise<KeyItem & { key?: string }> => {
    const { project: projectName, ...wanted } = checkInput(keyInputSchema, input, "The key");
    const project = await chooseProject(store, wanted.scopes, projectName);
    const { record, key } = await issueKey(store, {
      ...wanted,
      project: project?.id ?? null,
      createdBy: makerOf(principal),
    });
    return { ...asItem(record, project?.name ?? null), ...(wanted.key === undefined ? { key } : {}) };
  },
  { audit: "keys.create", isGlobal: true },
);

/** Revokes a key; it stops working on every replica within a second. A revoked key stays unchanged. */
export const revokeKey = operation(
  "revokeKey",
  async ({ store }, _principal, id) => {
    if (isUuid(id)) await store.apiKeys.revoke(id);
    return asNamedItem(await readKey(store, id));
  },
  { audit: "keys.revoke", isGlobal: true },
);

/**
 * Replaces an active key by a new one with its name, scopes, project, limit and expiry, and returns the new one once.
 * The old one expires after `overlapSeconds`, or is revoked immediately if that is 0; if it is rotated again while it
 * still works, the new key gets its original expiry. Throws invalid_request with every error of the input or for a
 * revoked or expired key.
 */
export const rotateKey = operation(
  "rotateKey",
  async ({ store }, principal, id, input): Promise<KeyItem & { key: string }> => {
    const { overlapSeconds } = checkInput(rotateInputSchema, input, "The rotation");
    const old = await readKey(store, id);
    const key = generateApiKey();
    const record = await store.apiKeys.rotate(
      old.id,
      { prefix: prefixOfApiKey(key), hash: hashApiKey(key), createdBy: makerOf(principal) },
      overlapSeconds,
    );
    if (record === null) {
      throw new ServiceError(
        "invalid_request",
        "This key is revoked or expired and cannot be rotated. Create a new key.",
      );
    }
    return { ...asNamedItem(record), key };
  },
  { audit: "keys.rotate", isGlobal: true },
);
