import { z } from "zod";
import { countChars, wellFormedString } from "./limits.ts";

/** Limits of secrets. */
export const SECRET_LIMITS = {
  /** Duration for which the previous webhook secret also signs: one day by default, at most 30 days. */
  overlapDefaultSeconds: 86_400,
  overlapMaxSeconds: 30 * 86_400,
  secretMinBytes: 16,
  secretMaxChars: 512,
} as const;

/** Placeholder for a secret that is set. Sending it back leaves the secret unchanged. */
export const MASKED_SECRET = "********";

/** Returns a secret as shown: the placeholder if it is set, otherwise null. */
export const maskOf = (secret: unknown): typeof MASKED_SECRET | null =>
  secret === null || secret === undefined ? null : MASKED_SECRET;

/** A secret as shown: `********` if set, otherwise null. */
export const maskedSchema = z.literal(MASKED_SECRET).nullable();

/** A secret to set. Null removes it; the placeholder leaves it unchanged. */
export const secretSchema = wellFormedString
  .refine((text) => countChars(text) <= SECRET_LIMITS.secretMaxChars, {
    error: `must have at most ${SECRET_LIMITS.secretMaxChars} characters`,
    params: { code: "too_long" },
  })
  .nullable();

/** Duration for which the previous webhook secret also signs, in seconds. */
export const overlapSecondsSchema = z
  .int()
  .min(0)
  .max(SECRET_LIMITS.overlapMaxSeconds)
  .optional()
  .describe("With a new `webhookSecret`: how long the previous secret also signs. Defaults to one day.");
