import { SESSION_LIMITS } from "@svc/contracts";
import type { Request, Response } from "express";
import { randomBytes } from "node:crypto";
import type { Sealer } from "@svc/store";
import { z } from "zod";

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

const DEVICE_COOKIE = "svc_device";
/** The only path that reads it. */
const DEVICE_PATH = "/session";
/** Time without a sign-in after which a browser counts as unknown again. */
const DEVICE_LIFETIME_MS = 90 * 24 * 3_600_000;
/** Accounts that one browser is known for: colleagues who share it. */
const MAX_ACCOUNTS = 5;

const devicesSchema = z.object({
  devices: z.array(z.object({ account: z.string(), id: z.string(), until: z.number() })),
});
type Devices = z.infer<typeof devicesSchema>["devices"];

/** The browsers on which operators have signed in before. */
export interface DeviceCookie {
  /** Id of this browser where the account (`accountOf` in `create-sign-in-limit.ts`) has signed in on it, or null. */
  find(request: Request, account: string): string | null;
  /** Remembers, in the browser, that the account has signed in on it. */
  add(request: Request, response: Response, account: string): void;
}

/**
 * Makes the cookie of known devices: sealed, so that only a sign-in on this installation makes one, and for the sign-in
 * alone. It is no credential: it exempts from the limits that other people's attempts use up.
 */
export function createDeviceCookie(sealer: Sealer, cookie: Pick<SessionCookie, "isSecure">): DeviceCookie {
  function read(request: Request): Devices {
    const text = sealer.open({ sealed: readCookie(request, DEVICE_COOKIE) ?? "" });
    const parsed = text === null ? null : devicesSchema.safeParse(JSON.parse(text));
    return parsed?.success === true ? parsed.data.devices.filter(({ until }) => until > Date.now()) : [];
  }

  return {
    find: (request, account) => read(request).find((device) => device.account === account)?.id ?? null,
    add(request, response, account) {
      const id = randomBytes(12).toString("base64url");
      const others = read(request).filter((device) => device.account !== account);
      const devices: Devices = [{ account, id, until: Date.now() + DEVICE_LIFETIME_MS }, ...others].slice(
        0,
        MAX_ACCOUNTS,
      );
      const { sealed } = sealer.seal(JSON.stringify({ devices }));
      const secure = cookie.isSecure(request);
      response.cookie(DEVICE_COOKIE, sealed, {
        httpOnly: true,
        sameSite: "strict",
        path: DEVICE_PATH,
        secure,
        maxAge: DEVICE_LIFETIME_MS,
      });
    },
  };
}
