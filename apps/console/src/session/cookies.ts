import { SESSION_LIMITS } from "@svc/contracts";
import type { Request, Response } from "express";
import { randomBytes } from "node:crypto";
import type { Sealer } from "@svc/store";
import { z } from "zod";

/** Cookie names, by whether the browser uses https. Browsers accept the first one only for exactly one host. */
const NAMES = { secure: "__Host-svc_session", plain: "svc_session" } as const;

/** Returns the value of a cookie of a request; undefined without one. */
export function readCookie(request: Request, name: string): string | undefined {
  for (const pair of (request.headers.cookie ?? "").split(";")) {
    const at = pair.indexOf("=");
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** The cookie with the token of a session. */
export interface SessionCookie {
  isSecure(request: Request): boolean;
  read(request: Request): string | undefined;
  set(request: Request, response: Response, token: string): void;
  clear(request: Request, response: Response): void;
}

/**
 * Creates the session cookie: it is hidden from scripts, and not sent by pages of other sites. It is restricted to
 * https if the browser uses https, according to `publicUrls` or a trusted proxy.
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
/** Maximum number of accounts that one browser is known for: colleagues who share it. */
const MAX_ACCOUNTS = 5;

const devicesSchema = z.object({
  devices: z.array(z.object({ account: z.string(), id: z.string(), until: z.number() })),
});
type Devices = z.infer<typeof devicesSchema>["devices"];

/** The browsers in which operators have signed in before. */
export interface DeviceCookie {
  /**
   * Returns the id of this browser if the account (`accountOf` in `create-sign-in-limit.ts`) has signed in there
   * before, or null.
   */
  find(request: Request, account: string): string | null;
  /** Stores, in the browser, that the account has signed in. */
  add(request: Request, response: Response, account: string): void;
}

/**
 * Creates the cookie of known devices: encrypted, so that only a sign-in on this installation creates one, and only for
 * the sign-in. It is not a credential: it exempts from limits that other people's attempts could exhaust.
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
