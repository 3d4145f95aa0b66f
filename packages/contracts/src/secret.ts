import { z } from "zod";
import { countChars, wellFormedString } from "./well-formed.ts";

/** Bounds of secrets. */
export const SECRET_LIMITS = {
  /** How long a webhook secret signs beside its successor: a day by default, at most 30 days. */
  overlapDefaultSeconds: 86_400,
  overlapMaxSeconds: 30 * 86_400,
  secretMinBytes: 16,
  secretMaxChars: 512,
} as const;

/** What stands for a secret that is set. Sent back it changes nothing. */
export const MASKED_SECRET = "********";

/** A secret as it is shown: `********` if one is set, else null. */
export const maskedSchema = z.literal(MASKED_SECRET).nullable();

/** A secret to set; null removes it, and what stands for the present one leaves it as it is. */
export const secretSchema = wellFormedString
  .refine((text) => countChars(text) <= SECRET_LIMITS.secretMaxChars, {
    error: `at most ${SECRET_LIMITS.secretMaxChars} characters`,
    params: { code: "too_long" },
  })
  .nullable();

/** How long the previous webhook secret signs beside a new one, in seconds. */
export const overlapSecondsSchema = z
  .int()
  .min(0)
  .max(SECRET_LIMITS.overlapMaxSeconds)
  .optional()
  .describe("With a new `webhookSecret`: how long the previous one also signs; a day by default.");
