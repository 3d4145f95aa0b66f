import { Option } from "commander";
import type { Command } from "commander";
import type { CallbackReport } from "../check-callback.ts";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { jsonOption, projectOption } from "../options.ts";
import { durationUpTo } from "../parse-duration.ts";
import type { Headers } from "../parse-header-lines.ts";
import { safeText } from "../safe-text.ts";

const BODY_MAX_BYTES = 16 * 1024 * 1024;
const HEADERS_MAX_BYTES = 256 * 1024;
const DEFAULT_MAX_AGE_SECONDS = 300;
const DEFAULT_OVERLAP_SECONDS = 86_400;
const MONTH = { seconds: 30 * 86_400, text: "30d" };
const CENTURY = { seconds: 36_500 * 86_400, text: "36500d" };

/** Where `webhook verify` finds the secret, besides a file. */
const SECRET_VARIABLE = "SVC_WEBHOOK_SECRET";

interface VerifyOptions {
  signature?: string;
  id?: string;
  timestamp?: string;
  standardSignature?: string;
  headersFile?: string;
  secretFile?: string;
  /** Seconds. */
  maxAge: number;
}

const usage = (message: string) => new CliError("usage", EXIT.usage, message);

/** Standard input can be one thing only. */
function checkSources(bodyFile: string | undefined, { headersFile, secretFile }: VerifyOptions): void {
  const sources = [bodyFile ?? "-", headersFile, secretFile].filter((source) => source === "-");
  if (sources.length > 1) throw usage("Only one of body, headers and secret can be read from standard input.");
}

async function readHeaders(cli: Cli, options: VerifyOptions): Promise<Headers> {
  const { signature, id, timestamp, standardSignature, headersFile } = options;
  if (headersFile !== undefined) {
    const [{ readInput }, { parseHeaderLines }] = await Promise.all([
      import("../read-input.ts"),
      import("../parse-header-lines.ts"),
    ]);
    const bytes = await readInput(cli, headersFile, { what: "the headers", maxBytes: HEADERS_MAX_BYTES });
    return parseHeaderLines(bytes.toString("utf8"));
  }
  const given: Record<string, string | undefined> = {
    "x-svc-signature": signature,
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": standardSignature,
  };
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

async function findSecret(cli: Cli, { secretFile }: VerifyOptions): Promise<string> {
  const [{ isWebhookSecret }, { readSecret }] = await Promise.all([
    import("@svc/outbound"),
    import("../read-secret.ts"),
  ]);
  const configured = cli.env[SECRET_VARIABLE] ?? "";
  if (secretFile === undefined && configured === "") {
    throw usage(`Set ${SECRET_VARIABLE} to the secret, or pass a file that contains it with --secret-file.`);
  }
  const secret =
    secretFile === undefined ? configured : await readSecret(cli, { file: secretFile, what: "the secret" });
  if (isWebhookSecret(secret)) return secret;
  throw new CliError(
    "bad_secret",
    EXIT.failed,
    "The secret is not valid: the part after whsec_ must be padded base64. Copy the complete secret.",
  );
}

function renderReport({ terminal }: Cli, { ok, detail, hints }: CallbackReport): string {
  const verdict = ok ? terminal.paint.green("valid") : terminal.paint.red("not valid");
  return [`${verdict}: ${safeText(detail)}`, ...hints.map((hint) => terminal.paint.dim(hint))].join("\n");
}

async function verify(cli: Cli, file: string | undefined, options: VerifyOptions): Promise<void> {
  checkSources(file, options);
  const headers = await readHeaders(cli, options);
  if (Object.keys(headers).length === 0) {
    throw usage(
      "Pass the callback's headers with --headers-file, with --signature, or with --id, --timestamp and --standard-signature.",
    );
  }
  const secret = await findSecret(cli, options);
  const [{ readInput }, { checkCallback }] = await Promise.all([
    import("../read-input.ts"),
    import("../check-callback.ts"),
  ]);
  const body = await readInput(cli, file, { what: "the body", maxBytes: BODY_MAX_BYTES });
  const report = checkCallback({ body, headers, secret, now: new Date(), maxAgeMs: options.maxAge * 1_000 });
  const { ok, scheme, reason, detail, hints } = report;
  if (!ok) cli.setExitCode(EXIT.failed);
  const document = ok ? { ok, scheme, hints } : { ok, error: { code: reason, message: detail }, scheme, hints };
  cli.terminal.show(document, () => renderReport(cli, report));
}

const CLEARED =
  "No webhook secret is set. Callbacks are signed with the API key that sent the message. Undelivered callbacks of messages\n" +
  "that were sent while a secret was set can no longer be signed.";

interface SecretOptions {
  project: string;
  generate?: true;
  fromStdin?: true;
  clear?: true;
  /** Seconds. */
  overlap: number;
}

/** The secret that is to be set; null for none. */
async function chooseSecret(cli: Cli, { generate, fromStdin, clear }: SecretOptions): Promise<string | null> {
  if ([generate, fromStdin, clear].filter(Boolean).length !== 1) {
    throw usage("Use exactly one of --generate, --from-stdin and --clear. See: svc webhook secret --help");
  }
  if (clear === true) return null;
  const [{ generateWebhookSecret }, { readSecret }] = await Promise.all([
    import("@svc/operations"),
    import("../read-secret.ts"),
  ]);
  return generate === true ? generateWebhookSecret() : readSecret(cli, { file: undefined, what: "the secret" });
}

async function setSecret(cli: Cli, options: SecretOptions): Promise<void> {
  const secret = await chooseSecret(cli, options);
  const [{ withResources }, { setWebhookSecret }, { localPrincipal }] = await Promise.all([
    import("../with-resources.ts"),
    import("@svc/operations"),
    import("../local-principal.ts"),
  ]);
  const state = await withResources(cli, {}, async ({ store }) =>
    setWebhookSecret({ store }, await localPrincipal(store, options.project), {
      secret,
      overlapSeconds: options.overlap,
    }),
  );
  const { terminal } = cli;
  const isNew = options.generate === true;
  if (!terminal.isJson) {
    terminal.note(
      secret === null ? CLEARED : "The webhook secret is set. A running service applies it within a second.",
    );
    if (state.previousUntil !== null) {
      terminal.note(`The previous secret also signs until ${state.previousUntil}.`);
    }
    if (isNew) terminal.note("The secret is shown only once: give it to the receivers of your callbacks.");
  }
  const document = { ok: true, ...state, ...(isNew ? { secret } : {}) };
  if (isNew || terminal.isJson) terminal.show(document, () => secret ?? "");
}

function addVerify(webhook: Command, cli: Cli): void {
  webhook
    .command("verify")
    .description("check whether a received callback is authentic, and find out why not")
    .argument("[file]", "the body, exactly as received (default: standard input)")
    .option("--signature <value>", "header X-Svc-Signature, as in sha256=…")
    .option("--id <value>", "header webhook-id")
    .option("--timestamp <value>", "header webhook-timestamp")
    .option("--standard-signature <value>", "header webhook-signature, as in v1,…")
    .addOption(
      new Option("--headers-file <file>", "headers as lines, as in a request log or curl -i").conflicts([
        "signature",
        "id",
        "timestamp",
        "standardSignature",
      ]),
    )
    .option("--secret-file <file>", `file with the secret (default: the variable ${SECRET_VARIABLE})`)
    .addOption(
      new Option("--max-age <duration>", "maximum age, as in 5m or 7d")
        .argParser(durationUpTo(CENTURY))
        .default(DEFAULT_MAX_AGE_SECONDS, "5m"),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Works without the service. The exit code is 0 for an authentic callback and 1 otherwise. The headers of Standard Webhooks
(webhook-id, webhook-timestamp, webhook-signature) have priority; X-Svc-Signature is only used without them. The secret
is never passed as an argument, because every user of a machine can see those.
Examples:
  ${cli.self} webhook verify body.json --headers-file headers.txt --secret-file secret.txt
  ${SECRET_VARIABLE}=… ${cli.self} webhook verify body.json --signature sha256=5b1f…
  ${cli.self} webhook verify --id 0193… --timestamp 1795000000 --standard-signature v1,K5oZ… < body.json`,
    )
    .action((file: string | undefined, options: VerifyOptions) => verify(cli, file, options));
}

function addSecret(webhook: Command, cli: Cli): void {
  webhook
    .command("secret")
    .description("set the secret that signs the callbacks of a project")
    .addOption(projectOption())
    .option("--generate", "generate a secret and print it once")
    .option("--from-stdin", "read the secret from standard input")
    .addOption(
      new Option(
        "--clear",
        "remove the secret: callbacks are then signed with the API key that sent the message",
      ).conflicts("overlap"),
    )
    .addOption(
      new Option("--overlap <duration>", "how long the previous secret also signs")
        .argParser(durationUpTo(MONTH))
        .default(DEFAULT_OVERLAP_SECONDS, "24h"),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
A running service applies it within a second. During the overlap, webhook-signature contains two values, one for each
secret, so that receivers can switch at any time; X-Svc-Signature uses the new secret immediately. The first secret
replaces signing with API keys immediately. Each project has its own secret. With --generate, only the new secret is written to
standard output.
Examples:
  ${cli.self} webhook secret --generate
  ${cli.self} webhook secret --project shop --generate
  ${cli.silentSelf} webhook secret --generate --overlap 7d > secret.txt
  pass show svc/webhook | ${cli.self} webhook secret --from-stdin --overlap 0`,
    )
    .action((options: SecretOptions) => setSecret(cli, options));
}

/** `svc webhook verify|secret`: what signs callbacks, and whether one is genuine. */
export function addWebhook(program: Command, cli: Cli): void {
  const webhook = program
    .command("webhook")
    .description("verify callbacks, and set the secret that signs them")
    .usage("<verify|secret> [options]");
  addVerify(webhook, cli);
  addSecret(webhook, cli);
}
