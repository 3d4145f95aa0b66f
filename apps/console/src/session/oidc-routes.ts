import { auditSession, beginSession, endSession } from "@svc/auth";
import { OPERATOR_LIMITS, ServiceError, operatorInputSchema } from "@svc/contracts";
import { createKnownHosts, methodNotAllowed } from "@svc/http";
import type { OperatorRecord } from "@svc/store";
import type { IRouter, Request, RequestHandler, Response } from "express";
import { z } from "zod";
import { readCookie, unknownHost } from "./signed-in.ts";
import type { ConsoleAddresses, ConsoleContext } from "./signed-in.ts";
import { accountOf } from "./create-sign-in-limit.ts";
import type { OidcClient, OidcPerson } from "./open-oidc.ts";
import { endPreviousSession, signInOriginOf } from "./session-routes.ts";

const PATH = "/oidc";
/**
 * Cookie with the encrypted state of a sign-in at the provider. It is sent when the provider redirects the browser
 * back.
 */
const COOKIE = "svc_oidc";
const LIFETIME_MS = 600_000;

const checkSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  redirectUri: z.string(),
  until: z.number(),
  /**
   * The token of the browser's previous session: its cookie is not sent after a redirect from another site. Absent in
   * states of an older version.
   */
  former: z.string().optional(),
});

/** Reasons for a redirect to the sign-in page, which shows them in the operator's language. */
type SignInProblem = "refused" | "unknown_operator" | "unavailable" | "rate_limited";

/** Characters that names must not contain. */
const CONTROLS = /[\p{C}]+/gu;

/** Returns a valid operator name. */
const nameOf = ({ name }: OidcPerson) =>
  Array.from(name.replaceAll(CONTROLS, " ").trim()).slice(0, OPERATOR_LIMITS.nameMaxChars).join("") || "?";

/** Returns the operator with this email address; creates one if the settings name a role for new operators. */
async function findOperator(
  { store, log }: ConsoleContext,
  { createRole }: OidcClient,
  person: OidcPerson,
): Promise<OperatorRecord | null> {
  const known = await store.operators.findByEmail(person.email);
  if (known !== null || createRole === undefined) return known;
  const { project, role } = createRole;
  const found = project === "*" ? null : await store.projects.findByName(project);
  const { success, data } = operatorInputSchema.safeParse({ email: person.email, name: nameOf(person) });
  if (!success || (project !== "*" && found === null)) {
    log.warn(
      { project },
      "no operator was created at single sign-on: the project in SVC_OIDC_CREATE_ROLE does not exist, or the email address is not valid",
    );
    return null;
  }
  const roles = [{ project: found?.id ?? null, role }];
  const made = await store.operators.insert({ ...data, roles, passwordHash: null });
  if (made === null) return store.operators.findByEmail(person.email);
  const about = { object: made.id, project: null, result: "ok", requestId: null };
  await store.audit.append({ ...about, actor: "single-sign-on", action: "operators.create" });
  return made;
}

/** Returns the reason that the sign-in page shows, and logs the error. Throws an error that has none. */
function reasonOf(error: unknown, log: ConsoleContext["log"]): SignInProblem {
  if (!(error instanceof ServiceError)) throw error;
  log.info({ error }, "single sign-on failed");
  if (error.code === "unavailable" || error.code === "rate_limited") return error.code;
  return "refused";
}

/** Returns the state of a sign-in from its cookie; null if it has expired. */
function readCheck({ store }: ConsoleContext, request: Request) {
  const text = store.sealer.open({ sealed: readCookie(request, COOKIE) ?? "" });
  const parsed = text === null ? null : checkSchema.safeParse(JSON.parse(text));
  return parsed?.success === true && parsed.data.until > Date.now() ? parsed.data : null;
}

const sendBack = (response: Response, error: SignInProblem) =>
  response.set("Cache-Control", "no-store").redirect(303, `/sign-in?fault=${error}`);

/** Adds the routes of single sign-on. */
// oxlint-disable-next-line max-lines-per-function -- two routes over shared cookie and URL helpers
export function addOidcRoutes(
  routes: IRouter,
  context: ConsoleContext,
  oidc: OidcClient,
  { bindHost, publicUrls, trustProxy }: ConsoleAddresses,
): void {
  const { store, cookie, devices, signInLimit, log } = context;
  const hosts = createKnownHosts({ bindHost, publicUrls });
  // A proxy forwards only its own host names. They are known here only from SVC_PUBLIC_URLS.
  const trustsHost = publicUrls.length === 0 && trustProxy.length > 0;
  const options = (request: Request) =>
    ({ httpOnly: true, sameSite: "lax", path: PATH, secure: cookie.isSecure(request) }) as const;

  /** Returns the URL that the provider redirects the browser to. Throws origin_not_allowed for an unknown host. */
  function redirectUriOf(request: Request): string {
    if (!trustsHost && !hosts.isKnown(request.headers.host)) throw unknownHost();
    const host = (request.headers.host ?? "").toLowerCase();
    const known = publicUrls.find((url) => new URL(url).host.toLowerCase() === host);
    const scheme = cookie.isSecure(request) ? "https" : "http";
    return `${known === undefined ? `${scheme}://${host}` : new URL(known).origin}${PATH}/callback`;
  }

  const start = (): RequestHandler => async (request, response) => {
    const redirectUri = redirectUriOf(request);
    try {
      await signInLimit.count(request, "oidc");
      const { url, check } = await oidc.begin(redirectUri);
      const until = Date.now() + LIFETIME_MS;
      const { sealed } = store.sealer.seal(JSON.stringify({ ...check, until, former: cookie.read(request) }));
      response.cookie(COOKIE, sealed, { ...options(request), maxAge: LIFETIME_MS });
      response.set("Cache-Control", "no-store").redirect(303, url.href);
    } catch (error) {
      sendBack(response, reasonOf(error, log));
    }
  };

  const callback = (): RequestHandler => async (request, response) => {
    const origin = signInOriginOf(request, response);
    try {
      const check = readCheck(context, request);
      response.clearCookie(COOKIE, options(request));
      if (check === null) return sendBack(response, "refused");
      const person = await oidc.finish(new URL(request.originalUrl, "http://localhost"), check);
      const operator = await findOperator(context, oidc, person);
      if (operator === null) {
        await auditSession(store, { action: "session.sign_in", operatorId: null, result: "sign_in_failed" }, origin);
        return sendBack(response, "unknown_operator");
      }
      const token = await beginSession(store, operator.id, origin);
      await endPreviousSession(context, request);
      if (check.former !== undefined) await endSession(store, check.former);
      cookie.set(request, response, token);
      devices.add(request, response, accountOf(operator.email));
      response.set("Cache-Control", "no-store").redirect(303, "/");
    } catch (error) {
      sendBack(response, reasonOf(error, log));
    }
  };

  routes.route(`${PATH}/start`).get(start()).all(methodNotAllowed("GET", "HEAD"));
  routes.route(`${PATH}/callback`).get(callback()).all(methodNotAllowed("GET", "HEAD"));
}
