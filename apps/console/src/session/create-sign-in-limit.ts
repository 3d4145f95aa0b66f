import { createHash } from "node:crypto";
import { SESSION_LIMITS, ServiceError } from "@svc/contracts";
import { clientAddress } from "@svc/http";
import type { Counters } from "@svc/queue";
import { emailKeyOf } from "@svc/store";
import type { Request } from "express";

/** How often passwords may be tried. */
export interface SignInLimit {
  /**
   * Counts a try before it is made, by address, and by the e-mail address where there is one; on all replicas together.
   * Throws rate_limited. Call what it answers when the try is over.
   */
  begin(request: Request, email: string | null): Promise<() => void>;
}

/** Passwords that are checked or wait for it at once in this process: each takes a part of a second, one at a time. */
const MAX_AT_ONCE = 20;

function tooMany(detail: string, resetMs: number): ServiceError {
  const seconds = String(Math.max(1, Math.ceil(resetMs / 1_000)));
  return new ServiceError("rate_limited", `${detail} Try again in ${seconds} s.`, {
    headers: { "Retry-After": seconds },
  });
}

/** Counters hold no personal data: an e-mail address is known by its hash. */
const nameOf = (email: string) =>
  `sign-in-email:${createHash("sha256").update(emailKeyOf(email)).digest("hex").slice(0, 32)}`;

/** Makes the limits of signing in. */
export function createSignInLimit(counters: Counters): SignInLimit {
  let running = 0;
  return {
    async begin(request, email) {
      const { triesPerAddress, triesPerEmail, triesWindowSeconds } = SESSION_LIMITS;
      const byAddress = { limit: triesPerAddress, windowSeconds: 60 };
      const ofAddress = await counters.count(`sign-in:${clientAddress(request)}`, byAddress);
      if (ofAddress.isOver) throw tooMany("Too many tries to sign in from this address.", ofAddress.resetMs);
      if (email !== null) {
        const byEmail = { limit: triesPerEmail, windowSeconds: triesWindowSeconds };
        const ofEmail = await counters.count(nameOf(email), byEmail);
        if (ofEmail.isOver) throw tooMany("Too many tries to sign in with this e-mail address.", ofEmail.resetMs);
      }
      if (running >= MAX_AT_ONCE) throw tooMany("Too many people sign in in this moment.", 3_000);
      running += 1;
      return () => {
        running -= 1;
      };
    },
  };
}
