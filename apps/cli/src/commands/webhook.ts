import { asAdministrator } from "../as-administrator.ts";
import { EXIT, failure, usageError } from "../cli.ts";
import type { Cli } from "../cli.ts";
import { defineCommand } from "../define-command.ts";
import type { OptionValues } from "../define-command.ts";
import { definedOnly, durationUpTo, flag, option, projectOption, withDefault } from "../options.ts";
import { readInput, readSecret } from "../read-input.ts";
import { safeText } from "../terminal.ts";
import type { CallbackReport, Headers } from "../webhook/check-callback.ts";

const BODY_MAX_BYTES = 16 * 1024 * 1024;
const HEADERS_MAX_BYTES = 256 * 1024;
const DEFAULT_MAX_AGE_SECONDS = 300;
const DEFAULT_OVERLAP_SECONDS = 86_400;
const MONTH = { seconds: 30 * 86_400, text: "30d" };
const CENTURY = { seconds: 36_500 * 86_400, text: "36500d" };

/** Variable with the secret for `webhook verify`, unless a file is given. */
const SECRET_VARIABLE = "SVC_WEBHOOK_SECRET";

const VERIFY_OPTIONS = {
  signature: option("--signature <value>", "header X-Svc-Signature, as in sha256=…"),
  id: option("--id <value>", "header webhook-id"),
  timestamp: option("--timestamp <value>", "header webhook-timestamp"),
  standardSignature: option("--standard-signature <value>", "header webhook-signature, as in v1,…"),
  headersFile: option("--headers-file <file>", "headers as lines, as in a request log or curl -i").conflicts([
    "signature",
    "id",
    "timestamp",
    "standardSignature",
  ]),
  secretFile: option("--secret-file <file>", `file with the secret (default: the variable ${SECRET_VARIABLE})`),
  maxAge: withDefault(
    option("--max-age <duration>", "maximum age, as in 5m or 7d", durationUpTo(CENTURY)),
    DEFAULT_MAX_AGE_SECONDS,
    "5m",
  ),
};
type VerifyInput = OptionValues<typeof VERIFY_OPTIONS> & { file: string | undefined };

async function readHeaders(cli: Cli, input: VerifyInput): Promise<Headers> {
  const { signature, id, timestamp, standardSignature, headersFile } = input;
  if (headersFile !== undefined) {
    const bytes = await readInput(cli, headersFile, { what: "the headers", maxBytes: HEADERS_MAX_BYTES });
    const { parseHeaderLines } = await import("../webhook/check-callback.ts");
    return parseHeaderLines(bytes.toString("utf8"));
  }
  const headers: Headers = definedOnly({
    "x-svc-signature": signature,
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": standardSignature,
  });
  return headers;
}

async function findSecret(cli: Cli, { secretFile }: VerifyInput): Promise<string> {
  const configured = cli.env[SECRET_VARIABLE] ?? "";
  if (secretFile === undefined && configured === "") {
    throw usageError(`Set ${SECRET_VARIABLE} to the secret, or pass a file that contains it with --secret-file.`);
  }
  const secret =
    secretFile === undefined ? configured : await readSecret(cli, { file: secretFile, what: "the secret" });
  const { isWebhookSecret } = await import("@svc/outbound");
  if (isWebhookSecret(secret)) return secret;
  throw failure(
    "bad_secret",
    "The secret is not valid: the part after whsec_ must be padded base64. Copy the complete secret.",
  );
}

function renderReport({ terminal }: Cli, { ok, detail, hints }: CallbackReport): string {
  const verdict = ok ? terminal.paint.green("valid") : terminal.paint.red("not valid");
  return [`${verdict}: ${safeText(detail)}`, ...hints.map((hint) => terminal.paint.dim(hint))].join("\n");
}

const verify = defineCommand({
  description: "check whether a received callback is authentic, and find out why not",
  args: { "[file]": "the body, exactly as received (default: standard input)" },
  options: VERIFY_OPTIONS,
  about: `Works without the service. The exit code is 0 for an authentic callback and 1 otherwise. The headers of Standard Webhooks
(webhook-id, webhook-timestamp, webhook-signature) have priority; X-Svc-Signature is only used without them. The secret
is never passed as an argument, because every user of a machine can see those.`,
  examples: [
    "webhook verify body.json --headers-file headers.txt --secret-file secret.txt",
    `${SECRET_VARIABLE}=… {svc} webhook verify body.json --signature sha256=5b1f…`,
    "webhook verify --id 0193… --timestamp 1795000000 --standard-signature v1,K5oZ… < body.json",
  ],
  async run(cli, input) {
    const { file, headersFile, secretFile, maxAge } = input;
    if ([file ?? "-", headersFile, secretFile].filter((source) => source === "-").length > 1) {
      throw usageError("Only one of body, headers and secret can be read from standard input.");
    }
    const headers = await readHeaders(cli, input);
    if (Object.keys(headers).length === 0) {
      throw usageError(
        "Pass the callback's headers with --headers-file, with --signature, or with --id, --timestamp and --standard-signature.",
      );
    }
    const secret = await findSecret(cli, input);
    const body = await readInput(cli, file, { what: "the body", maxBytes: BODY_MAX_BYTES });
    const { checkCallback } = await import("../webhook/check-callback.ts");
    const report = checkCallback({ body, headers, secret, now: new Date(), maxAgeMs: maxAge * 1_000 });
    const { ok, scheme, reason, detail, hints } = report;
    if (!ok) cli.setExitCode(EXIT.failed);
    const document = ok ? { ok, scheme, hints } : { ok, error: { code: reason, message: detail }, scheme, hints };
    cli.terminal.show(document, () => renderReport(cli, report));
  },
});

const CLEARED =
  "No webhook secret is set. Callbacks are signed with the API key that sent the message. Undelivered callbacks of messages\n" +
  "that were sent while a secret was set can no longer be signed.";

const SECRET_OPTIONS = {
  project: projectOption,
  generate: flag("--generate", "generate a secret and print it once"),
  fromStdin: flag("--from-stdin", "read the secret from standard input"),
  clear: flag(
    "--clear",
    "remove the secret: callbacks are then signed with the API key that sent the message",
  ).conflicts("overlap"),
  overlap: withDefault(
    option("--overlap <duration>", "how long the previous secret also signs", durationUpTo(MONTH)),
    DEFAULT_OVERLAP_SECONDS,
    "24h",
  ),
};

/** Returns the secret to set; null for none. */
async function chooseSecret(cli: Cli, input: OptionValues<typeof SECRET_OPTIONS>): Promise<string | null> {
  const { generate, fromStdin, clear } = input;
  if ([generate, fromStdin, clear].filter(Boolean).length !== 1) {
    throw usageError("Use exactly one of --generate, --from-stdin and --clear. See: svc webhook secret --help");
  }
  if (clear === true) return null;
  if (generate !== true) return readSecret(cli, { file: undefined, what: "the secret" });
  const { generateWebhookSecret } = await import("@svc/operations");
  return generateWebhookSecret();
}

const secretCommand = defineCommand({
  description: "set the secret that signs the callbacks of a project",
  options: SECRET_OPTIONS,
  about: `A running service applies it within a second. During the overlap, webhook-signature contains two values, one for each
secret, so that receivers can switch at any time; X-Svc-Signature uses the new secret immediately. The first secret
replaces signing with API keys immediately. Each project has its own secret. With --generate, only the new secret is written to
standard output.`,
  examples: [
    "webhook secret --generate",
    "webhook secret --project shop --generate",
    "{silent} webhook secret --generate --overlap 7d > secret.txt",
    "pass show svc/webhook | {svc} webhook secret --from-stdin --overlap 0",
  ],
  async run(cli, input) {
    const secret = await chooseSecret(cli, input);
    const state = await asAdministrator(cli, input.project, ({ setWebhookSecret }) =>
      setWebhookSecret({ secret, overlapSeconds: input.overlap }),
    );
    const { terminal } = cli;
    const isNew = input.generate === true;
    if (!terminal.isJson) {
      terminal.note(
        secret === null ? CLEARED : "The webhook secret is set. A running service applies it within a second.",
      );
      if (state.previousUntil !== null) terminal.note(`The previous secret also signs until ${state.previousUntil}.`);
      if (isNew) terminal.note("The secret is shown only once: give it to the receivers of your callbacks.");
    }
    const document = { ok: true, ...state, ...(isNew ? { secret } : {}) };
    if (isNew || terminal.isJson) terminal.show(document, () => secret ?? "");
  },
});

/** `svc webhook`: the secret that signs callbacks, and whether a callback is authentic. */
export const webhook = defineCommand({
  commands: { verify, secret: secretCommand },
});
