import type { SessionAnswer } from "@svc/contracts";
import type { ApiAnswer } from "./api-answer.ts";
import { callApi } from "./call-api.ts";
import type { ApiRequest } from "./call-api.ts";

/** A signed-in browser that calls the console. */
export interface ConsoleClient {
  baseUrl: string;
  session: SessionAnswer;
  /** The cookie as the browser sends it. */
  cookie: string;
  /** Headers that a page of the console sends with each call. */
  headers: Record<string, string>;
  /** Calls the console like its page. */
  call(path: string, request?: ApiRequest): Promise<ApiAnswer>;
}

/** Returns the session cookie that a response sets, as a browser sends it back; null if it sets none. */
export function cookieOf(answer: ApiAnswer): string | null {
  const set = answer.headers.getSetCookie().find((text) => /^(?:__Host-)?svc_session=[^;]/.test(text));
  return set?.split(";")[0] ?? null;
}

/** Returns a client of the session that a response starts. */
export function consoleClientOf(baseUrl: string, answer: ApiAnswer): ConsoleClient {
  const session = answer.body as unknown as SessionAnswer;
  const cookie = cookieOf(answer);
  if (answer.status !== 200 || cookie === null)
    throw new Error(`nobody was signed in: ${answer.status} ${answer.text}`);
  const headers = { Cookie: cookie, "x-svc-csrf": session.csrf };
  return {
    baseUrl,
    session,
    cookie,
    headers,
    call: (path, request = {}) =>
      callApi(`${baseUrl}${path}`, { ...request, headers: { ...headers, ...request.headers } }),
  };
}

/** Signs an operator in with a password, from a new client address. */
export async function signInToConsole(
  baseUrl: string,
  person: { email: string; password: string },
  headers: Record<string, string> = {},
): Promise<ConsoleClient> {
  return consoleClientOf(baseUrl, await callApi(`${baseUrl}/session`, { json: person, headers }));
}
