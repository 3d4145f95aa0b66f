import { ServiceError, checkInput, testEmailSchema } from "@svc/contracts";
import type { TestEmailResult } from "@svc/contracts";
import { EmailError } from "@svc/outbound";
import type { Mailer } from "@svc/outbound";
import { newId } from "@svc/store";
import type { Store } from "@svc/store";
import { operation } from "./operation.ts";

/**
 * Sends a test email and waits until the mail server has responded. Throws invalid_request without a mail server in the
 * configuration.
 */
export const sendTestEmail = operation(
  "sendTestEmail",
  async ({ mailer }: { store: Store; mailer?: Mailer | null }, _principal, input): Promise<TestEmailResult> => {
    const { to } = checkInput(testEmailSchema, input, "The test");
    if (mailer === undefined || mailer === null) {
      throw new ServiceError(
        "invalid_request",
        "No mail server is configured. Set SVC_SMTP_URL and SVC_EMAIL_FROM, and restart the service.",
      );
    }
    try {
      const text = "This is a test email: the settings of the mail server work.";
      await mailer.send({ id: newId(), to, subject: "Test email", text });
    } catch (error) {
      if (!(error instanceof EmailError)) throw error;
      return { to, state: "failed", failure: error.message };
    }
    return { to, state: "sent", failure: null };
  },
  { audit: "email.test", isGlobal: true },
);
