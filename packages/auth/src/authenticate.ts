import { isUtf8 } from "node:buffer";
import { LIMITS, ServiceError } from "@svc/contracts";
import type { Log } from "@svc/log";
import { DEFAULT_PROJECT, createBriefCache } from "@svc/store";
import type { ApiKeyRecord, Project, Store } from "@svc/store";
import { hashApiKey } from "./api-key.ts";
import type { Principal } from "./principal.ts";

/** What a request says of itself. */
export interface Credentials {
  authorization: string | undefined;
  apiKey: string | undefined;
  /** The header `x-svc-project`. */
  project: string | undefined;
}

/** A key that was found valid, before the request is refused for the project that it names or let on. */
export interface KnownKey {
  keyId: string;
  /** Requests a minute from one address; null for no limit. */
  rateLimit: number | null;
  /** The project that the request works on; null when it cannot have the one that it names. */
  projectName: string | null;
}

/** Counts a request with a valid key; rejects when the key has used up its limit. */
export type AdmitKey = (key: KnownKey) => Promise<void>;

/** Says from which network a request comes, where a row of the audit trail needs it. */
export type FindNetwork = () => string | null;

/** A revoked key works at most this long on, on every replica. */
const CACHE_MS = 900;
const TOUCH_MS = 10_000;
const HOUR_MS = 3_600_000;
const CHALLENGE = 'Bearer realm="svc"';

/** Node reads headers byte by byte; a key with other than ASCII characters was most likely sent as UTF-8. */
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
 * The key that a request carries (service document, section 5). Throws missing_key, invalid_key, ambiguous_credentials.
 */
export function readApiKey({ authorization, apiKey }: Omit<Credentials, "project">): string {
  const match = authorization === undefined ? null : /^Bearer +([^ ](?:.*[^ ])?) *$/i.exec(authorization);
  if (authorization !== undefined && match === null && apiKey !== undefined) throw ambiguous();
  if (authorization !== undefined && match === null) {
    throw new ServiceError(
      "invalid_key",
      "The Authorization header does not contain a bearer token. Send the key as Authorization: Bearer <api-key>.",
      {
        headers: { "WWW-Authenticate": `${CHALLENGE}, error="invalid_token"` },
      },
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
 * Makes the check that every request with a key passes: which key, and which project it works on. Keys and projects
 * are remembered for less than a second, so that a busy key costs the store one look-up a second and a revoked one
 * stops within that time. `admit` is called once the key is known to be valid, whether or not the project can be had,
 * and its error wins. The first use of a key in an hour is left in the audit trail, with the network that `findNetwork`
 * says. Throws missing_key, invalid_key, ambiguous_credentials, project_mismatch, not_found, unavailable, and what `admit`
 * throws.
 */
export function createAuthenticator({ store, log }: { store: Store; log: Log }) {
  const keys = createBriefCache<ApiKeyRecord>(CACHE_MS);
  const projects = createBriefCache<Project>(CACHE_MS);
  const used = new Set<string>();
  let touching: NodeJS.Timeout | undefined;
  /** Keys whose use in this hour is in the audit trail. */
  const audited = new Set<string>();
  let auditedHour = 0;

  function noteUse(id: string): void {
    used.add(id);
    if (touching !== undefined) return;
    touching = setTimeout(() => {
      touching = undefined;
      const ids = [...used];
      used.clear();
      store.apiKeys
        .touch(ids)
        .catch((error: unknown) => log.debug({ error }, "failed to record when keys were last used"));
    }, TOUCH_MS);
    touching.unref();
  }

  /**
   * Leaves a row in the audit trail at the first use of a key in an hour (UTC) that this process sees. Not waited for: a
   * use that cannot be noted is one all the same.
   */
  function auditUse({ actor, keyId, project, projectName }: Principal, findNetwork: FindNetwork): void {
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
        // The next use notes it again, and not the next hour.
        audited.delete(keyId);
        log.warn({ error, keyId }, "failed to record the use of a key in the audit log");
      });
  }

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
      throw new ServiceError(
        "invalid_key",
        "This key is unknown, revoked or expired. Ask your administrator for a new key.",
        {
          headers: { "WWW-Authenticate": `${CHALLENGE}, error="invalid_token"` },
        },
      );
    }
    noteUse(record.id);
    const keyId = record.id;
    const rateLimit = record.rateLimit === undefined ? LIMITS.rateLimitPerMinute : record.rateLimit;
    const choosing = chooseProject(record, credentials.project);
    // A request whose project is refused counts like any other; its refusal is thrown after that.
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
