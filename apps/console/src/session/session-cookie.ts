import { SESSION_LIMITS } from "@svc/contracts";
import type { Request, Response } from "express";

/** Names by whether the browser came by https. Browsers take the first one only from a host that has it for itself. */
const NAMES = { secure: "__Host-svc_session", plain: "svc_session" } as const;

/** The value of a cookie of a request; undefined without one. */
export function readCookie(request: Request, name: string): string | undefined {
  for (const pair of (request.headers.cookie ?? "").split(";")) {
    const at = pair.indexOf("=");
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** What keeps the token of a session in the browser. */
export interface SessionCookie {
  isSecure(request: Request): boolean;
  read(request: Request): string | undefined;
  set(request: Request, response: Response, token: string): void;
  clear(request: Request, response: Response): void;
}

/**
 * Makes the cookie of sessions: no script can read it, and no other site's page sends it. It is for https alone where
 * the browser came by https, as `publicUrls` or a trusted proxy says.
 */
export function createSessionCookie(publicUrls: readonly string[]): SessionCookie {
  const secureHosts = new Set(
    publicUrls.flatMap((url) => (url.startsWith("https://") ? [new URL(url).host.toLowerCase()] : [])),
  );
  const isSecure = (request: Request) => request.secure || secureHosts.has((request.headers.host ?? "").toLowerCase());
  const nameFor = (request: Request) => (isSecure(request) ? NAMES.secure : NAMES.plain);
  const optionsFor = (request: Request) =>
    ({ httpOnly: true, sameSite: "strict", path: "/", secure: isSecure(request) }) as const;
  return {
    isSecure,
    read: (request) => readCookie(request, nameFor(request)),
    set(request, response, token) {
      response.cookie(nameFor(request), token, { ...optionsFor(request), maxAge: SESSION_LIMITS.totalSeconds * 1_000 });
    },
    clear(request, response) {
      response.clearCookie(nameFor(request), optionsFor(request));
    },
  };
}
