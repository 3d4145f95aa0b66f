import { asAdministrator } from "../as-administrator.ts";
import { EXIT } from "../cli-error.ts";
import { defineCommand } from "../define-command.ts";
import { safeLine } from "../safe-text.ts";

const test = defineCommand({
  description: "send a test email with SVC_SMTP_URL and SVC_EMAIL_FROM",
  args: { "<address>": "email address of the recipient" },
  examples: ["email test ann@example.com"],
  async run(cli, { address }) {
    const item = await asAdministrator(cli, undefined, ({ sendTestEmail }) => sendTestEmail({ to: address }));
    const isSent = item.state === "sent";
    if (!isSent) cli.setExitCode(EXIT.failed);
    cli.terminal.show({ ok: isSent, item }, () =>
      isSent
        ? `The mail server has accepted the test email to ${safeLine(item.to)}.`
        : `The mail server has not accepted the email: ${safeLine(item.failure ?? "")}`,
    );
  },
});

/** `svc email`: the settings for emails. */
export const email = defineCommand({ commands: { test } });
