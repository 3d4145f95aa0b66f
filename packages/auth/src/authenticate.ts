import { isUtf8 } from "node:buffer";
import { LIMITS, ServiceError } from "@svc/contracts";
import type { Log } from "@svc/log";
import { DEFAULT_PROJECT, createBriefCache } from "@svc/store";
import type { ApiKeyRecord, Project, Store } from "@svc/store";
import { hashApiKey } from "./api-key.ts";
import { createUseRecorder } from "./principal.ts";
import type { Principal } from "./principal.ts";

/** Credentials and project in the headers of a request. */
export interface Credentials {
  authorization: string | undefined;
  apiKey: string | undefined;
  /** The header `x-svc-project`. */
  project: string | undefined;
}

/** A valid key, before the project of the request is checked. */
export interface KnownKey {
  keyId: string;
  /** Requests per minute from one address. Null for no limit. */
  rateLimit: number | null;
  /** Name of the request's project. Null if the key cannot access it. */
  projectName: string | null;
}

/** Counts a request with a valid key. Rejects if the key exceeds its rate limit. */
type AdmitKey = (key: KnownKey) => Promise<void>;

/** Returns the network of a request, for the audit trail. */
type FindNetwork = () => string | null;

/** Duration for which a revoked key can still be used, on every replica. */
const CACHE_MS = 900;
const HOUR_MS = 3_600_000;
const CHALLENGE = 'Bearer realm="svc"';

/** Node.js decodes headers byte by byte; a key with non-ASCII characters was most likely sent as UTF-8. */
function textOfHeader(value: string): string {
  const bytes = Buffer.from(value, "latin1");
  return isUtf8(bytes) ? bytes.toString("utf8") : value;
}

function ambiguous(): ServiceError {
  return new ServiceError(
    "ambiguous_credentials",
    "Authorization and X-Api-Key contain different keys. Send only one of them.",
  );
}

/**
 * Returns the key of a request (service document, section 5). Throws missing_key, invalid_key, ambiguous_credentials.
 */
export function readApiKey({ authorization, apiKey }: Omit<Credentials, "project">): string {
  const match = authorization === undefined ? null : /^Bearer +([^ ](?:.*[^ ])?) *$/i.exec(authorization);
  if (authorization !== undefined && match === null && apiKey !== undefined) throw ambiguous();
  if (authorization !== undefined && match === null) {
    throw invalidKey(
      "The Authorization header does not contain a bearer token. Send the key as Authorization: Bearer <api-key>.",
    );
  }
  const bearer = match?.[1];
  if (bearer !== undefined && apiKey !== undefined && bearer !== apiKey) throw ambiguous();
  const key = bearer ?? apiKey;
  if (key === undefined || key === "") {
    throw new ServiceError(
      "missing_key",
      "No API key in the request. Send Authorization: Bearer <api-key> or X-Api-Key: <api-key>.",
      {
        headers: { "WWW-Authenticate": CHALLENGE },
      },
    );
  }
  return textOfHeader(key);
}

/**
 * Returns a function that appends a row to the audit trail for the first use of a key in an hour (UTC) that this process
 * sees. It does not wait for the row: a use is valid even if it cannot be recorded.
 */
function createUseAudit(store: Store, log: Log) {
  /** Keys whose use in this hour is in the audit trail. */
  const audited = new Set<string>();
  let auditedHour = 0;
  return ({ actor, keyId, project, projectName }: Principal, findNetwork: FindNetwork): void => {
    const hour = Math.floor(Date.now() / HOUR_MS);
    if (hour !== auditedHour) audited.clear();
    auditedHour = hour;
    if (keyId === null || audited.has(keyId)) return;
    audited.add(keyId);
    store.audit
      .append({
        actor,
        action: "key.use",
        object: keyId,
        project: { id: project, name: projectName },
        result: "ok",
        requestId: null,
        network: findNetwork(),
      })
      .catch((error: unknown) => {
        // The next use is recorded, without waiting for the next hour.
        audited.delete(keyId);
        log.warn({ error, keyId }, "failed to record the use of a key in the audit log");
      });
  };
}

const invalidKey = (detail: string) =>
  new ServiceError("invalid_key", detail, { headers: { "WWW-Authenticate": `${CHALLENGE}, error="invalid_token"` } });

/**
 * Returns the check of every request with a key: its key, and its project. Keys and projects are cached for less than a
 * second, so that a busy key costs one query per second and a revoked one stops within that time. `admit` is called when
 * the key is known to be valid, whether or not the project is available, and its error has priority. The first use of a key in
 * an hour is recorded in the audit trail, with the network from `findNetwork`. Throws missing_key, invalid_key,
 * ambiguous_credentials, project_mismatch, not_found, unavailable, and errors of `admit`.
 */
export function createAuthenticator({ store, log }: { store: Store; log: Log }) {
  const keys = createBriefCache<ApiKeyRecord>(CACHE_MS);
  const projects = createBriefCache<Project>(CACHE_MS);
  const recordUse = createUseRecorder(store.apiKeys.touch, "keys", log);
  const auditUse = createUseAudit(store, log);

  async function chooseProject(record: ApiKeyRecord, wanted: string | undefined): Promise<Project> {
    const bound = record.project;
    if (bound === null) {
      const name = wanted ?? DEFAULT_PROJECT;
      const project = await projects.get(`name:${name}`, () => store.projects.findByName(name));
      if (project === null)
        throw new ServiceError("not_found", `No project is named ${JSON.stringify(name.slice(0, 80))}.`);
      return project;
    }
    const project = await projects.get(`id:${bound}`, () => store.projects.find(bound));
    if (project === null || (wanted !== undefined && wanted !== project.name)) {
      throw new ServiceError(
        "project_mismatch",
        "This key is bound to another project. Omit x-svc-project, or use a key of that project.",
      );
    }
    return project;
  }

  return async function authenticate(
    credentials: Credentials,
    admit?: AdmitKey,
    findNetwork: FindNetwork = () => null,
  ): Promise<Principal> {
    const hash = hashApiKey(readApiKey(credentials));
    const record = await keys.get(hash.toString("base64"), () => store.apiKeys.findLiveByHash(hash));
    if (record === null || (record.expiresAt !== null && record.expiresAt.getTime() <= Date.now())) {
      throw invalidKey("This key is unknown, revoked or expired. Ask your administrator for a new key.");
    }
    recordUse(record.id);
    const keyId = record.id;
    const rateLimit = record.rateLimit === undefined ? LIMITS.rateLimitPerMinute : record.rateLimit;
    const choosing = chooseProject(record, credentials.project);
    // A request for a project that the key cannot access is counted too; the error is thrown after that.
    const chosen = await choosing.catch(() => null);
    await admit?.({ keyId, rateLimit, projectName: chosen?.name ?? null });
    const project = chosen ?? (await choosing);
    const principal: Principal = {
      actor: `key:${keyId}`,
      keyId,
      rateLimit,
      scopes: record.scopes,
      project: project.id,
      projectName: project.name,
    };
    auditUse(principal, findNetwork);
    return principal;
  };
}

export type Authenticate = ReturnType<typeof createAuthenticator>;
