import { EmailError } from "@svc/outbound";
import type { Email, Mailer, PushMessage, PushTarget } from "@svc/outbound";
import type { Resources } from "@svc/runtime";
import type { ClaimedEmail } from "@svc/store";

/** Dependencies of sending emails. */
export type EmailContext = Pick<Resources, "store" | "queues" | "log"> & {
  /** Null if no mail server is configured: emails wait until one is. */
  mailer: Mailer | null;
  /** Hands a push notification to the push service of a browser. Throws PushError. */
  push: (notification: { target: PushTarget; message: PushMessage }) => Promise<void>;
  config: Pick<Resources["config"], "consoleUrl" | "widgetUrl">;
};

/** Result of a claimed email. */
export type EmailOutcome = { sent: ClaimedEmail["reasons"] } | { waitMs: number };

/** Outcome of a claimed email of which no reason is left: nothing is sent. */
export const NOTHING_SENT: EmailOutcome = { sent: [] };

/** Sends an email. Throws EmailError. */
export async function sendEmail({ mailer }: Pick<EmailContext, "mailer">, email: Email): Promise<void> {
  if (mailer === null) throw new EmailError("no mail server is configured", { isFinal: false });
  await mailer.send(email);
}
