import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { SESSION_LIMITS, ServiceError } from "@svc/contracts";
import type { Log } from "@svc/log";
import { DEFAULT_PROJECT, createBriefCache } from "@svc/store";
import type { OperatorRecord, Project, SessionRecord, Store } from "@svc/store";
import { administersAll, scopesOfRoles } from "./principal.ts";
import type { Principal } from "./principal.ts";

/** A session with who it is of, as they are now. */
export interface LiveSession extends SessionRecord {
  operator: OperatorRecord;
  /** What the browser keeps. */
  token: string;
}

/** A session that was ended works at most this long on, on every replica; so do roles that were taken away. */
const CACHE_MS = 900;
const TOUCH_MS = 10_000;
/** Requests a minute that an operator may make from one address: a page asks for more than a program does. */
const RATE_LIMIT = 1_200;

export const notSignedIn = () =>
  new ServiceError("not_signed_in", "You are not signed in, or your session has expired. Sign in again.");

/**
 * Makes the check that every request with a session passes: whose it is, and what they may do in which project. Sessions,
 * operators and projects are remembered for less than a second, so that a change takes effect within that time.
 */
export function createSessionCheck({ store, log }: { store: Store; log: Log }) {
  const sessions = createBriefCache<Omit<LiveSession, "token">>(CACHE_MS);
  const projects = createBriefCache<Project>(CACHE_MS);
  const used = new Set<string>();
  let touching: NodeJS.Timeout | undefined;

  function noteUse(id: string): void {
    used.add(id);
    if (touching !== undefined) return;
    touching = setTimeout(() => {
      touching = undefined;
      const ids = [...used];
      used.clear();
      store.operatorSessions
        .touch(ids)
        .catch((error: unknown) => log.debug({ error }, "failed to record when sessions were last used"));
    }, TOUCH_MS);
    touching.unref();
  }

  async function look(hash: Buffer): Promise<Omit<LiveSession, "token"> | null> {
    const session = await store.operatorSessions.findLive(hash, SESSION_LIMITS);
    if (session === null) return null;
    const operator = await store.operators.find(session.operatorId);
    return operator === null || operator.disabledAt !== null ? null : { ...session, operator };
  }

  /** The session of this token. Throws not_signed_in. */
  async function getSession(token: string | undefined): Promise<LiveSession> {
    if (token === undefined || !isToken(token)) throw notSignedIn();
    const hash = hashToken(token);
    const found = await sessions.get(hash.toString("base64"), () => look(hash));
    if (found === null) throw notSignedIn();
    noteUse(found.id);
    return { ...found, token };
  }

  /** The name of the project that a request works on which names none: the default one where it may, else the first. */
  function projectOf({ roles }: OperatorRecord): string {
    const names = roles.map(({ project }) => project);
    if (names.includes("*") || names.includes(DEFAULT_PROJECT)) return DEFAULT_PROJECT;
    return names.toSorted()[0] ?? DEFAULT_PROJECT;
  }

  /**
   * What an operator may do in the project that a request names. Throws project_mismatch where they have no role in it,
   * which does not tell whether it exists, and not_found for who has a role in all projects.
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

  /** The projects that an operator has a role in, by name, with what they may do there. */
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

/** A new token, which nobody can guess: 32 random bytes, written for a cookie or a link. */
export function generateToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

/** What is stored of a token. It is random throughout, so that a fast hash is enough. */
export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** True for a text that may be a token of ours. */
export const isToken = (text: string): boolean => FORM.test(text);

/**
 * What calls of a session prove with that they come from a page of the console. It follows from the token, which pages
 * cannot read, so that it belongs to one session, and nothing of it has to be stored.
 */
export function csrfTokenOf(token: string): string {
  return createHmac("sha256", token).update("svc console csrf").digest("base64url");
}

/** True when a call has the token that belongs to its session; compared in constant time. */
export function isCsrfTokenOf(token: string, given: string | undefined): boolean {
  const expected = Buffer.from(csrfTokenOf(token));
  const got = Buffer.from(given ?? "");
  return expected.length === got.length && timingSafeEqual(expected, got);
}
