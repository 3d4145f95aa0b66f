import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { SESSION_LIMITS, ServiceError } from "@svc/contracts";
import type { Log } from "@svc/log";
import { DEFAULT_PROJECT, createBriefCache, emailKeyOf } from "@svc/store";
import type { OperatorRecord, Project, SessionRecord, Store } from "@svc/store";
import { administersAll, createUseRecorder, scopesOfRoles } from "./authenticate.ts";
import type { Principal } from "./authenticate.ts";
import { hashPassword, verifyPassword } from "./credentials.ts";

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

/** Origin of a sign-in, for the audit trail. */
export interface SignInOrigin {
  network: string | null;
  requestId: string | null;
}

/** Actions of sessions in the audit trail. */
type SessionAction =
  | "session.sign_in"
  | "session.sign_out"
  | "session.sign_out_everywhere"
  | "session.password"
  | "session.on_duty"
  | "session.off_duty";

const signInFailed = () => new ServiceError("sign_in_failed", "Incorrect email or password.");

const linkGone = () =>
  new ServiceError("not_found", "This link is invalid, expired or already used. Request a new one.");

/** Appends a row about a sign-in, a sign-out, a password change or a change of duty to the audit trail. */
export async function auditSession(
  store: Store,
  { action, operatorId, result }: { action: SessionAction; operatorId: string | null; result: string },
  { network, requestId }: SignInOrigin,
): Promise<void> {
  // A caller that could not prove an operator's identity is anonymous.
  const actor = operatorId === null || result !== "ok" ? "anonymous" : `operator:${operatorId}`;
  await store.audit.append({ actor, action, object: operatorId, project: null, result, requestId, network });
}

/**
 * Starts a session of an operator whose identity is proven, and returns its token. Throws sign_in_failed if the operator
 * is disabled.
 */
export async function beginSession(store: Store, operatorId: string, position: SignInOrigin): Promise<string> {
  const token = generateToken();
  const session = await store.operatorSessions.insert(operatorId, hashToken(token), SESSION_LIMITS);
  await auditSession(
    store,
    { action: "session.sign_in", operatorId, result: session === null ? "sign_in_failed" : "ok" },
    position,
  );
  if (session === null) throw signInFailed();
  return token;
}

/**
 * Signs an operator in by password, and returns the token of the new session. Takes as long, and throws the same error,
 * for an unknown address as for a wrong password. Throws sign_in_failed. The caller limits the rate of attempts.
 */
export async function signIn(
  store: Store,
  { email, password }: { email: string; password: string },
  position: SignInOrigin,
): Promise<string> {
  const known = await store.operators.findPassword(email);
  if (await verifyPassword(password, known?.passwordHash ?? null)) {
    if (known !== null) return beginSession(store, known.id, position);
  }
  await auditSession(
    store,
    { action: "session.sign_in", operatorId: known?.id ?? null, result: "sign_in_failed" },
    position,
  );
  throw signInFailed();
}

/**
 * Changes the password of an operator who knows the current one. Ends all sessions, and returns the token of a new one.
 * Throws sign_in_failed if the current password is wrong.
 */
export async function changePassword(
  store: Store,
  { id, email }: { id: string; email: string },
  { currentPassword, newPassword }: { currentPassword: string; newPassword: string },
  position: SignInOrigin,
): Promise<string> {
  const known = await store.operators.findPassword(email);
  const isRight = await verifyPassword(currentPassword, known?.id === id ? known.passwordHash : null);
  if (!isRight) {
    await auditSession(store, { action: "session.password", operatorId: id, result: "sign_in_failed" }, position);
    throw new ServiceError("sign_in_failed", "Incorrect current password.");
  }
  await store.operators.update(id, { passwordHash: await hashPassword(newPassword) }, null);
  await auditSession(store, { action: "session.password", operatorId: id, result: "ok" }, position);
  return beginSession(store, id, position);
}

/** Ends the session of this token, if there is one. */
export async function endSession(store: Store, token: string): Promise<void> {
  await store.operatorSessions.removeByHash(hashToken(token));
}

/**
 * Creates a link with which an operator chooses a password, or, with null, the first administrator is created. An earlier
 * link for the same purpose becomes invalid. Returns its token; the URL is `/link#<token>` in the console.
 */
export async function makeLink(store: Store, operatorId: string | null): Promise<{ token: string; expiresAt: Date }> {
  const token = generateToken();
  const { expiresAt } = await store.operatorLinks.put(operatorId, hashToken(token), SESSION_LIMITS.linkSeconds);
  return { token, expiresAt };
}

/** Returns the purpose of a link. Throws not_found if it is unknown, used or expired. */
export async function getLink(
  store: Store,
  token: string,
): Promise<{ operatorId: string | null; email: string | null; expiresAt: Date }> {
  const link = await store.operatorLinks.find(hashToken(token));
  if (link === null) throw linkGone();
  const operator = link.operatorId === null ? null : await store.operators.find(link.operatorId);
  return { ...link, email: operator?.email ?? null };
}

/**
 * Uses a link: sets the password of its operator, or creates the first administrator, and signs them in. Returns the token
 * of the session. Throws not_found if the link is unknown, used or expired, and invalid_request if the name or email
 * address of the first administrator is missing.
 */
export async function useLink(
  store: Store,
  input: { token: string; password: string; email?: string | undefined; name?: string | undefined },
  position: SignInOrigin,
): Promise<string> {
  const hash = hashToken(input.token);
  const { operatorId } = await getLink(store, input.token);
  const { email, name } = input;
  const missing = (["email", "name"] as const).filter((field) => input[field] === undefined);
  if (operatorId === null && missing.length > 0) {
    const errors = missing.map((field) => ({ pointer: `/${field}`, code: "required", detail: "is required" }));
    throw new ServiceError("invalid_request", "The first administrator needs a name and an email address.", {
      errors,
    });
  }
  const passwordHash = await hashPassword(input.password);
  const id =
    operatorId === null && email !== undefined && name !== undefined
      ? await store.operatorLinks.useFirst(hash, { email, emailKey: emailKeyOf(email), name, passwordHash })
      : await store.operatorLinks.usePassword(hash, passwordHash);
  if (id === null) throw linkGone();
  await auditSession(store, { action: "session.password", operatorId: id, result: "ok" }, position);
  return beginSession(store, id, position);
}
