import { SESSION_LIMITS, ServiceError } from "@svc/contracts";
import { emailKeyOf } from "@svc/store";
import type { Store } from "@svc/store";
import { hashPassword, verifyPassword } from "./password.ts";
import { generateToken, hashToken } from "./operator-session.ts";

/** From where somebody signs in, for the audit trail. */
export interface SignInPlace {
  network: string | null;
  requestId: string | null;
}

/** What the audit trail can say of signing in and out. */
type SessionAction = "session.sign_in" | "session.sign_out" | "session.sign_out_everywhere" | "session.password";

const signInFailed = () => new ServiceError("sign_in_failed", "Incorrect email or password.");

const linkGone = () =>
  new ServiceError("not_found", "This link is invalid, expired or already used. Request a new one.");

/** Leaves a row in the audit trail of who signs in or out. */
export async function auditSession(
  store: Store,
  action: SessionAction,
  operatorId: string | null,
  result: string,
  { network, requestId }: SignInPlace,
): Promise<void> {
  // Who could not prove to be an operator is none.
  const actor = operatorId === null || result !== "ok" ? "anonymous" : `operator:${operatorId}`;
  await store.audit.append({ actor, action, object: operatorId, project: null, result, requestId, network });
}

/**
 * Begins a session of an operator whose identity is proven, and answers the token that the browser keeps. Throws
 * sign_in_failed where the operator may not sign in.
 */
export async function beginSession(store: Store, operatorId: string, place: SignInPlace): Promise<string> {
  const token = generateToken();
  const session = await store.operatorSessions.insert(operatorId, hashToken(token), SESSION_LIMITS);
  await auditSession(store, "session.sign_in", operatorId, session === null ? "sign_in_failed" : "ok", place);
  if (session === null) throw signInFailed();
  return token;
}

/**
 * Signs somebody in by password, and answers the token of the new session. Takes as long for an unknown address as for a
 * wrong password, and says the same. Throws sign_in_failed. How often it may be tried is for the caller to limit.
 */
export async function signIn(
  store: Store,
  { email, password }: { email: string; password: string },
  place: SignInPlace,
): Promise<string> {
  const known = await store.operators.findPassword(email);
  if (await verifyPassword(password, known?.passwordHash ?? null)) {
    // Of nobody there is no password that could be right.
    if (known !== null) return beginSession(store, known.id, place);
  }
  await auditSession(store, "session.sign_in", known?.id ?? null, "sign_in_failed", place);
  throw signInFailed();
}

/**
 * Sets an operator's password who knows the present one: all sessions end, and the answer is the token of a new one.
 * Throws sign_in_failed where the present password is another one.
 */
export async function changePassword(
  store: Store,
  { id, email }: { id: string; email: string },
  { currentPassword, newPassword }: { currentPassword: string; newPassword: string },
  place: SignInPlace,
): Promise<string> {
  const known = await store.operators.findPassword(email);
  const isRight = await verifyPassword(currentPassword, known?.id === id ? known.passwordHash : null);
  if (!isRight) {
    await auditSession(store, "session.password", id, "sign_in_failed", place);
    throw new ServiceError("sign_in_failed", "Incorrect current password.");
  }
  await store.operators.update(id, { passwordHash: await hashPassword(newPassword) }, null);
  await auditSession(store, "session.password", id, "ok", place);
  return beginSession(store, id, place);
}

/** Ends the session of this token, where it is one. */
export async function endSession(store: Store, token: string): Promise<void> {
  await store.operatorSessions.removeByHash(hashToken(token));
}

/**
 * Makes a link with which an operator chooses a password, or (null) somebody becomes the first administrator; an earlier
 * one for the same is void. Answers its token: the address is the console's, with it as `/link#<token>`.
 */
export async function makeLink(store: Store, operatorId: string | null): Promise<{ token: string; expiresAt: Date }> {
  const token = generateToken();
  const { expiresAt } = await store.operatorLinks.put(operatorId, hashToken(token), SESSION_LIMITS.linkSeconds);
  return { token, expiresAt };
}

/** What a link is for. Throws not_found for one that cannot be used (any more). */
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
 * Uses a link: sets the password of its operator, or makes the first administrator, who is signed in by that. Answers the
 * token of the session. Throws not_found for a link that cannot be used, and invalid_request where name and e-mail address
 * of the first administrator are missing.
 */
export async function useLink(
  store: Store,
  input: { token: string; password: string; email?: string | undefined; name?: string | undefined },
  place: SignInPlace,
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
  await auditSession(store, "session.password", id, "ok", place);
  return beginSession(store, id, place);
}
