import { SESSION_LIMITS, ServiceError } from "@svc/contracts";
import { emailKeyOf } from "@svc/store";
import type { Store } from "@svc/store";
import { hashPassword, verifyPassword } from "./password.ts";
import { generateToken, hashToken } from "./operator-session.ts";

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
