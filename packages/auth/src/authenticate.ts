import { isUtf8 } from "node:buffer";
import { grantsScope, LIMITS, SCOPE_RESOURCES, ServiceError } from "@svc/contracts";
import type { OperatorRole, RequiredScope, Scope } from "@svc/contracts";
import type { Log } from "@svc/log";
import { createBriefCache, DEFAULT_PROJECT } from "@svc/store";
import type { ApiKeyRecord, Project, ProjectId, Store } from "@svc/store";
import { hashApiKey } from "./credentials.ts";

/** The caller of a request, with its permissions and project. */
export interface Principal {
  /** Kind and id of the caller, for logs and events; never a secret. */
  actor: string;
  /** Id of the API key; null for operators, and for the command line. */
  keyId: string | null;
  /** Id of the operator; absent for keys, and for the command line. */
  operatorId?: string;
  /** Requests per minute and address; null for no limit. */
  rateLimit: number | null;
  scopes: readonly Scope[];
  project: ProjectId;
  projectName: string;
  /** Id of the request; absent if there is none. */
  requestId?: string;
}

/** Returns the principal of the command line on the machine itself: an administrator. */
export function localAdministrator(project: Project): Principal {
  return {
    actor: "command-line",
    keyId: null,
    rateLimit: null,
    scopes: ["admin:*"],
    project: project.id,
    projectName: project.name,
  };
}

/** Returns true if the principal is an administrator. */
export function isAdministrator(principal: Principal): boolean {
  return principal.scopes.includes("admin:*");
}

/** Throws `insufficient_scope` if the principal lacks a scope. */
export function requireScope(principal: Pick<Principal, "scopes" | "operatorId">, scope: RequiredScope): void {
  if (grantsScope(principal.scopes, scope)) return;
  if (principal.operatorId !== undefined) {
    throw new ServiceError(
      "insufficient_scope",
      scope === "admin:*"
        ? "Only administrators of all projects can do this."
        : `Your role in this project does not include ${scope}. Ask an administrator for a different role.`,
    );
  }
  throw new ServiceError("insufficient_scope", `This key does not have the scope ${scope}. Use a key that has it.`, {
    headers: { "WWW-Authenticate": `Bearer error="insufficient_scope", scope="${scope}"` },
  });
}

/** Scopes of the role viewer: no message bodies of hooks, no bulk personal data, no audit log. */
const VIEWER: readonly Scope[] = [
  "tickets:read",
  "agents:read",
  "kb:read",
  "models:read",
  "channels:read",
  "webhooks:read",
];

/**
 * Scopes of each role in its project, the same as those of keys, so that each rule exists once. Administrators of one
 * project may do everything in it; keys, projects, operators and the installation's own settings need `admin:*`, which
 * the role administrator has only in all projects (`*`).
 */
export const ROLE_SCOPES = {
  administrator: SCOPE_RESOURCES.map((resource): Scope => `${resource}:*`),
  operator: [
    ...VIEWER,
    "tickets:write",
    "tickets:execute",
    "agents:execute",
    "kb:write",
    "messages:read",
    "messages:write",
  ],
  viewer: VIEWER,
} as const satisfies Record<OperatorRole, readonly Scope[]>;

/** A role in a project by its name, or in all of them (`*`). */
interface Role {
  project: string;
  role: OperatorRole;
}

/** Returns true for an administrator of all projects. */
export const administersAll = (roles: readonly Role[]): boolean =>
  roles.some(({ project, role }) => project === "*" && role === "administrator");

/** Returns the combined scopes of these roles in a project; empty if none applies. */
export function scopesOfRoles(roles: readonly Role[], projectName: string): Scope[] {
  if (administersAll(roles)) return ["admin:*"];
  const own = roles.filter(({ project }) => project === "*" || project === projectName);
  return [...new Set(own.flatMap(({ role }) => ROLE_SCOPES[role]))];
}

/** Interval at which uses are stored. */
const STORE_MS = 10_000;

/**
 * Returns a function that records that a key or a session was used. The IDs of ten seconds are stored together, by
 * `touch`; a failure is logged and not reported to the caller.
 */
export function createUseRecorder(
  touch: (ids: string[]) => Promise<void>,
  what: string,
  log: Log,
): (id: string) => void {
  const used = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  return (id) => {
    used.add(id);
    if (timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      const ids = [...used];
      used.clear();
      touch(ids).catch((error: unknown) => log.debug({ error }, `failed to record when ${what} were last used`));
    }, STORE_MS);
    timer.unref();
  };
}

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
