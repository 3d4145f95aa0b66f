import { randomBytes } from "node:crypto";
import type { Sealer } from "@svc/store";
import type { Request, Response } from "express";
import { z } from "zod";
import { readCookie } from "./session-cookie.ts";
import type { SessionCookie } from "./session-cookie.ts";

const NAME = "svc_device";
/** The only path that reads it. */
const PATH = "/session";
/** A browser on which nobody has signed in for this long is unknown again. */
const LIFETIME_MS = 90 * 24 * 3_600_000;
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
    const text = sealer.open({ sealed: readCookie(request, NAME) ?? "" });
    const parsed = text === null ? null : devicesSchema.safeParse(JSON.parse(text));
    return parsed?.success === true ? parsed.data.devices.filter(({ until }) => until > Date.now()) : [];
  }

  return {
    find: (request, account) => read(request).find((device) => device.account === account)?.id ?? null,
    add(request, response, account) {
      const id = randomBytes(12).toString("base64url");
      const others = read(request).filter((device) => device.account !== account);
      const devices: Devices = [{ account, id, until: Date.now() + LIFETIME_MS }, ...others].slice(0, MAX_ACCOUNTS);
      const { sealed } = sealer.seal(JSON.stringify({ devices }));
      const secure = cookie.isSecure(request);
      response.cookie(NAME, sealed, { httpOnly: true, sameSite: "strict", path: PATH, secure, maxAge: LIFETIME_MS });
    },
  };
}
