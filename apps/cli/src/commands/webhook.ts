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
  if (sources.length > 1) throw usage("Only one of body, headers and secret can come from standard input.");
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
    throw usage(`Set ${SECRET_VARIABLE} to the secret, or name a file that holds it with --secret-file.`);
  }
  const secret =
    secretFile === undefined ? configured : await readSecret(cli, { file: secretFile, what: "the secret" });
  if (isWebhookSecret(secret)) return secret;
  throw new CliError(
    "bad_secret",
    EXIT.failed,
    "The secret cannot be right: what follows whsec_ is not base64 with padding. Copy it again, to the last character.",
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
    throw usage("Say what the callback's headers are: --headers-file, or --signature, or --id with the others.");
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
  "No webhook secret is set. Callbacks are signed with the API key that sent the message; those of messages that were\n" +
  "sent while a secret was set, and are not delivered yet, cannot be signed any more.";

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
    throw usage("Say one of --generate, --from-stdin and --clear. See: webhook secret --help");
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
    terminal.note(secret === null ? CLEARED : "The webhook secret is set. A running product follows within a second.");
    if (state.previousUntil !== null) {
      terminal.note(`The secret before signs beside it until ${state.previousUntil}.`);
    }
    if (isNew) terminal.note("It is shown this once: give it to the receivers of your callbacks.");
  }
  const document = { ok: true, ...state, ...(isNew ? { secret } : {}) };
  if (isNew || terminal.isJson) terminal.show(document, () => secret ?? "");
}

function addVerify(webhook: Command, cli: Cli): void {
  webhook
    .command("verify")
    .description("check whether a callback that was received is genuine, and find out why not")
    .argument("[file]", "the body, byte by byte as it was received (default: standard input)")
    .option("--signature <value>", "header X-Svc-Signature, as in sha256=…")
    .option("--id <value>", "header webhook-id")
    .option("--timestamp <value>", "header webhook-timestamp")
    .option("--standard-signature <value>", "header webhook-signature, as in v1,…")
    .addOption(
      new Option("--headers-file <file>", "the headers as lines, as a request log or curl -i shows them").conflicts([
        "signature",
        "id",
        "timestamp",
        "standardSignature",
      ]),
    )
    .option("--secret-file <file>", `file with the secret (default: the variable ${SECRET_VARIABLE})`)
    .addOption(
      new Option("--max-age <duration>", "how old it may be, as in 5m or 7d")
        .argParser(durationUpTo(CENTURY))
        .default(DEFAULT_MAX_AGE_SECONDS, "5m"),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Works without the product. The exit code is 0 for a genuine callback and 1 for any other. The headers of Standard
Webhooks (webhook-id, webhook-timestamp, webhook-signature) decide; X-Svc-Signature does where it stands alone. The
secret is never an argument, since every user of a machine can see those.

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
    .option("--generate", "make a new one and print it, once")
    .option("--from-stdin", "take the one that is piped in")
    .addOption(
      new Option("--clear", "set none: callbacks are then signed with the API key that sent the message").conflicts(
        "overlap",
      ),
    )
    .addOption(
      new Option("--overlap <duration>", "how long the secret before goes on signing beside the new one")
        .argParser(durationUpTo(MONTH))
        .default(DEFAULT_OVERLAP_SECONDS, "24h"),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
A running product follows within a second. During the overlap webhook-signature carries two values, one for each
secret, so that no receiver has to change in the same moment; X-Svc-Signature is of the new one at once. The first
secret takes the place of the API keys at once. Each project has its own secret. With --generate the new one is on standard output, and nothing else.

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
