import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { SESSION_LIMITS, ServiceError } from "@svc/contracts";
import type { Log } from "@svc/log";
import { DEFAULT_PROJECT, createBriefCache } from "@svc/store";
import type { OperatorRecord, Project, SessionRecord, Store } from "@svc/store";
import { administersAll, scopesOfRoles } from "./principal.ts";
import type { Principal } from "./principal.ts";
import { createUseRecorder } from "./record-uses.ts";

/** A session with its operator. */
export interface LiveSession extends SessionRecord {
  operator: OperatorRecord;
  /** Token in the browser's cookie. */
  token: string;
}

/** Duration for which an ended session or a removed role can still be used, on every replica. */
const CACHE_MS = 900;
/** Requests per minute of an operator from one address. Pages send more requests than programs. */
const RATE_LIMIT = 1_200;

export const notSignedIn = () =>
  new ServiceError("not_signed_in", "You are not signed in, or your session has expired. Sign in again.");

/**
 * Returns the project of a request without one: the default project if the operator has a role there, else the first.
 */
function projectOf({ roles }: OperatorRecord): string {
  const names = roles.map(({ project }) => project);
  if (names.includes("*") || names.includes(DEFAULT_PROJECT)) return DEFAULT_PROJECT;
  return names.toSorted()[0] ?? DEFAULT_PROJECT;
}

/**
 * Returns the check of every request with a session: its operator, and their scopes in a project. Sessions, operators and
 * projects are cached for less than a second, so that a change takes effect within that time.
 */
export function createSessionCheck({ store, log }: { store: Store; log: Log }) {
  const sessions = createBriefCache<Omit<LiveSession, "token">>(CACHE_MS);
  const projects = createBriefCache<Project>(CACHE_MS);
  const recordUse = createUseRecorder(store.operatorSessions.touch, "sessions", log);

  async function findLive(hash: Buffer): Promise<Omit<LiveSession, "token"> | null> {
    const session = await store.operatorSessions.findLive(hash, SESSION_LIMITS);
    if (session === null) return null;
    const operator = await store.operators.find(session.operatorId);
    return operator === null || operator.disabledAt !== null ? null : { ...session, operator };
  }

  /** Returns the session of this token. Throws not_signed_in. */
  async function getSession(token: string | undefined): Promise<LiveSession> {
    if (token === undefined || !isToken(token)) throw notSignedIn();
    const hash = hashToken(token);
    const found = await sessions.get(hash.toString("base64"), () => findLive(hash));
    if (found === null) throw notSignedIn();
    recordUse(found.id);
    return { ...found, token };
  }

  /**
   * Returns the principal of a session in the project that a request names. Throws project_mismatch if the operator has no
   * role in it, which does not reveal whether it exists, and not_found for operators with a role in all projects.
   */
  async function choosePrincipal({ operator }: LiveSession, wanted: string | undefined): Promise<Principal> {
    const name = wanted ?? projectOf(operator);
    const scopes = scopesOfRoles(operator.roles, name);
    const hasRole = scopes.length > 0;
    const project = hasRole ? await projects.get(name, () => store.projects.findByName(name)) : null;
    if (project === null) {
      const isOfAll = operator.roles.some((role) => role.project === "*");
      throw isOfAll
        ? new ServiceError("not_found", `No project is named ${JSON.stringify(name.slice(0, 80))}.`)
        : new ServiceError("project_mismatch", "You have no role in this project. Ask an administrator for access.");
    }
    return {
      actor: `operator:${operator.id}`,
      keyId: null,
      operatorId: operator.id,
      rateLimit: RATE_LIMIT,
      scopes,
      project: project.id,
      projectName: project.name,
    };
  }

  /** Returns the projects in which an operator has a role, by name, with the scopes there. */
  async function listProjects({ roles }: OperatorRecord): Promise<{ name: string; scopes: string[] }[]> {
    const all = await store.projects.list();
    return all
      .map(({ name }) => ({ name, scopes: scopesOfRoles(roles, name) as string[] }))
      .filter(({ scopes }) => scopes.length > 0);
  }

  return { getSession, choosePrincipal, listProjects, administersAll };
}

export type SessionCheck = ReturnType<typeof createSessionCheck>;

const TOKEN_BYTES = 32;
const FORM = /^[A-Za-z0-9_-]{43}$/;

/** Returns a new token: 32 random bytes in base64url, for a cookie or a link. */
export function generateToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

/** Returns the hash under which a token is stored. Tokens are random, so a fast hash is enough. */
export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** Returns true if a text has the form of a token. */
export const isToken = (text: string): boolean => FORM.test(text);

/**
 * Returns the CSRF token with which requests of a session prove that they come from a page of the console. It is derived
 * from the session's token, which pages cannot read, so that it belongs to one session and need not be stored.
 */
export function csrfTokenOf(token: string): string {
  return createHmac("sha256", token).update("svc console csrf").digest("base64url");
}

/** Returns true if a request has the CSRF token of its session. Compares in constant time. */
export function isCsrfTokenOf(token: string, given: string | undefined): boolean {
  const expected = Buffer.from(csrfTokenOf(token));
  const got = Buffer.from(given ?? "");
  return expected.length === got.length && timingSafeEqual(expected, got);
}
