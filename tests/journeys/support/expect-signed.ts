import { createHmac } from "node:crypto";
import { expect } from "@jest/globals";
import type { CallbackBody } from "@svc/contracts";
import type { ReceivedRequest } from "@svc/testing";
import { Webhook } from "standardwebhooks";

/** Returns the body of a callback. */
export const callbackOf = ({ json }: ReceivedRequest) => json as CallbackBody;

/** Returns whether the reference verifier of Standard Webhooks accepts a callback with this secret. */
export function isAccepted({ headers, body }: ReceivedRequest, secret: string): boolean {
  const verifier = new Webhook(secret, secret.startsWith("whsec_") ? {} : { format: "raw" });
  try {
    verifier.verify(body.toString(), headers);
    return true;
  } catch {
    // Its error contains no further information.
    return false;
  }
}

/** Checks a callback like its receivers: with three lines of node:crypto, and with the package `standardwebhooks`. */
export function expectSigned(request: ReceivedRequest, secret: string): void {
  const hex = createHmac("sha256", secret).update(request.body).digest("hex");
  expect(request.headers["x-svc-signature"]).toBe(`sha256=${hex}`);
  expect(isAccepted(request, secret)).toBe(true);
}
