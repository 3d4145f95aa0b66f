import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import type { Principal } from "@svc/auth";
import type { KeyInput, KeyItem } from "@svc/contracts";
import type { Store } from "@svc/store";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { jsonOption } from "../options.ts";
import { durationUpTo } from "../parse-duration.ts";
import { parseExpiry } from "../parse-expiry.ts";
import { renderFacts } from "../render-facts.ts";
import { safeLine } from "../safe-text.ts";

const DEFAULT_OVERLAP_SECONDS = 86_400;
const WEEK = { seconds: 604_800, text: "7d" };
const WHOLE_NUMBER = /^[1-9]\d{0,6}$/;

interface NewKeyOptions {
  scope: string[];
  project?: string;
  /** RFC 3339. */
  expires?: string;
  rateLimit?: number | "none";
}

/** Works as the person at this machine on the keys of all projects. */
async function onKeys<Result>(
  cli: Cli,
  work: (store: Store, principal: Principal) => Promise<Result>,
): Promise<Result> {
  const [{ withResources }, { localPrincipal }] = await Promise.all([
    import("../with-resources.ts"),
    import("../local-principal.ts"),
  ]);
  return withResources(cli, {}, async ({ store }) => work(store, await localPrincipal(store)));
}

const SCOPE_HELP = "scope of the key, as in messages:write (repeatable)";

/** Scopes that are none are faults of the command line, named with all that there are. */
async function checkScopes(scopes: readonly string[]): Promise<void> {
  const { SCOPE_ACTIONS, SCOPE_RESOURCES, scopeSchema } = await import("@svc/contracts");
  const wrong = scopes.filter((scope) => !scopeSchema.safeParse(scope).success);
  if (wrong.length === 0) return;
  throw new CliError(
    "usage",
    EXIT.usage,
    `Unknown scope: ${wrong.map((scope) => safeLine(scope, 40)).join(", ")}. A scope is admin:*, or one of ` +
      `${SCOPE_RESOURCES.join(", ")} followed by one of ${[...SCOPE_ACTIONS, "*"].map((action) => `:${action}`).join(", ")}.`,
  );
}

function parseRateLimit(text: string): number | "none" {
  if (text === "none") return text;
  if (WHOLE_NUMBER.test(text)) return Number(text);
  throw new InvalidArgumentError("Must be a number of requests per minute, or none.");
}

const minute = (time: string) => `${time.slice(0, 16).replace("T", " ")} UTC`;

function describeRateLimit({ rateLimit }: KeyItem): string {
  if (rateLimit === undefined) return "service default";
  return rateLimit === null ? "none" : `${rateLimit} requests per minute`;
}

function factsOf(item: KeyItem): string {
  return renderFacts([
    ["Name", safeLine(item.name)],
    ["Id", item.id],
    ["Prefix", safeLine(item.prefix)],
    ["Scopes", item.scopes.join(" ")],
    ["Project", item.project ?? "any"],
    ["Expires", item.expiresAt === null ? "never" : minute(item.expiresAt)],
    ["Rate limit", describeRateLimit(item)],
  ]);
}

/** Shows a new key: alone on standard output, so that it can be piped, with everything about it beside. */
function showNewKey({ terminal }: Cli, item: KeyItem & { key?: string }, remark?: string): void {
  if (!terminal.isJson) {
    terminal.note(factsOf(item));
    if (remark !== undefined) terminal.note(remark);
    terminal.note("The key, shown only once:");
  }
  terminal.show({ ok: true, item }, () => item.key ?? "");
}

function inputOf(name: string, { scope, project, expires, rateLimit }: NewKeyOptions): KeyInput {
  return {
    name,
    scopes: scope,
    ...(project === undefined ? {} : { project }),
    ...(expires === undefined ? {} : { expiresAt: expires }),
    ...(rateLimit === undefined ? {} : { rateLimit: rateLimit === "none" ? null : rateLimit }),
  };
}

async function create(cli: Cli, name: string, options: NewKeyOptions): Promise<void> {
  await checkScopes(options.scope);
  const { createKey } = await import("@svc/operations");
  showNewKey(cli, await onKeys(cli, (store, principal) => createKey({ store }, principal, inputOf(name, options))));
}

async function importKey(cli: Cli, name: string, options: NewKeyOptions & { keyFile?: string }): Promise<void> {
  await checkScopes(options.scope);
  const [{ createKey }, { isGuessableKey }, { readSecret }] = await Promise.all([
    import("@svc/operations"),
    import("@svc/auth"),
    import("../read-secret.ts"),
  ]);
  const key = await readSecret(cli, { file: options.keyFile, what: "the key" });
  if (isGuessableKey(key)) cli.terminal.note("This key is easy to guess. Replace it with a generated key.");
  const item = await onKeys(cli, (store, principal) =>
    createKey({ store }, principal, { ...inputOf(name, options), key }),
  );
  cli.terminal.show({ ok: true, item }, () => `Imported.\n${factsOf(item)}`);
}

/** What is said of a key beside its scopes, where there is something to say. */
function remarksOf(item: KeyItem, now: number): string[] {
  return [
    ...(item.revokedAt === null ? [] : [`revoked ${minute(item.revokedAt)}`]),
    ...(item.expiresAt === null || item.revokedAt !== null
      ? []
      : [`${Date.parse(item.expiresAt) <= now ? "expired" : "expires"} ${minute(item.expiresAt)}`]),
    ...(item.rateLimit === undefined ? [] : [`rate limit ${item.rateLimit ?? "none"}`]),
  ];
}

async function list(cli: Cli, options: { all?: true }): Promise<void> {
  const [{ listAllKeys }, { renderTable }] = await Promise.all([
    import("../find-api-key.ts"),
    import("../render-table.ts"),
  ]);
  const known = await onKeys(cli, (store, principal) => listAllKeys(store, principal));
  const items = options.all === true ? known : known.filter(({ revokedAt }) => revokedAt === null);
  cli.terminal.show({ ok: true, items }, () => {
    const hidden = known.length - items.length;
    const rest = hidden === 0 ? [] : ["", `Revoked keys not shown: ${hidden} (use --all to show them).`];
    if (items.length === 0) return ["There are no keys.", ...rest].join("\n");
    const { dim } = cli.terminal.paint;
    const rows = items.map((item) => [
      item.id,
      `${safeLine(item.prefix)}…`,
      item.project ?? "any",
      item.lastUsedAt === null ? "never" : item.lastUsedAt.slice(0, 10),
      [
        safeLine(item.name),
        dim(item.scopes.join(" ")),
        ...remarksOf(item, Date.now()).map((remark) => dim(remark)),
      ].join("\n"),
    ]);
    const head = ["ID", "KEY", "PROJECT", "LAST USED", "NAME AND SCOPES"];
    return [renderTable(head, rows, cli.terminal.width), ...rest].join("\n");
  });
}

async function revoke(cli: Cli, named: string): Promise<void> {
  const [{ revokeKey }, { findApiKeyId }] = await Promise.all([
    import("@svc/operations"),
    import("../find-api-key.ts"),
  ]);
  const item = await onKeys(cli, async (store, principal) =>
    revokeKey({ store }, principal, await findApiKeyId(store, principal, named)),
  );
  cli.terminal.show({ ok: true, item }, () =>
    [
      `Revoked: ${safeLine(item.name)} (${safeLine(item.prefix)}…).`,
      "It stops working on every replica within a second.",
    ].join("\n"),
  );
}

async function rotate(cli: Cli, named: string, options: { overlap: number }): Promise<void> {
  const [{ rotateKey }, { findApiKeyId }] = await Promise.all([
    import("@svc/operations"),
    import("../find-api-key.ts"),
  ]);
  const overlapSeconds = options.overlap;
  const item = await onKeys(cli, async (store, principal) =>
    rotateKey({ store }, principal, await findApiKeyId(store, principal, named), { overlapSeconds }),
  );
  const end = minute(new Date(Date.now() + overlapSeconds * 1_000).toISOString());
  showNewKey(
    cli,
    item,
    overlapSeconds === 0 ? "The old key is revoked." : `The old key is valid until ${end}, unless it expires earlier.`,
  );
}

/** The options that a new key and an imported one share. */
function addKeyOptions(command: Command): Command {
  const collect = (scope: string, scopes: string[] | undefined) => [...(scopes ?? []), scope];
  return command
    .argument("<name>", "display name")
    .addOption(new Option("--scope <scope>", SCOPE_HELP).argParser(collect).makeOptionMandatory())
    .option("--project <name>", "project that the key is bound to (default: default; none with admin:*)")
    .option("--expires <when>", "expiry: a date, time or duration, as in 2030-01-31 or 90d (default: never)", (text) =>
      parseExpiry(text),
    )
    .option("--rate-limit <number>", "requests per minute from one address, or none (default: 120)", parseRateLimit)
    .addOption(jsonOption());
}

/** `svc keys list|create|import|revoke|rotate`: who may do what over the API. */
export function addKeys(program: Command, cli: Cli): void {
  const keys = program
    .command("keys")
    .description("list, create, import, revoke and rotate API keys")
    .usage("<list|create|import|revoke|rotate> [options]");
  keys
    .command("list")
    .description("list the keys of all projects, newest first")
    .option("--all", "include revoked keys")
    .addOption(jsonOption())
    .addHelpText("after", `\nExamples:\n  ${cli.self} keys list\n  ${cli.self} keys list --all --json`)
    .action((options: { all?: true }) => list(cli, options));
  addKeyOptions(keys.command("create").description("create a key and print it once"))
    .addHelpText(
      "after",
      `
Only the key is written to standard output; its details go to standard error. A date expires at its start (UTC).
Examples:
  ${cli.self} keys create "mobile app" --scope messages:write --scope messages:read
  ${cli.silentSelf} keys create shop --scope "messages:*" --project shop --expires 90d > key.txt
  ${cli.self} keys create importer --scope kb:write --rate-limit none --json`,
    )
    .action((name: string, options: NewKeyOptions) => create(cli, name, options));
  addKeyOptions(keys.command("import").description("import an existing key"))
    .option("--key-file <file>", "file with the key (default: standard input)")
    .addHelpText(
      "after",
      `
The key must have at least 16 characters, in any format. It is never passed as an argument, because every user of a
machine can see those.
Examples:
  pass show legacy/key | ${cli.self} keys import "legacy app" --scope messages:write
  ${cli.self} keys import "legacy app" --scope messages:write --key-file key.txt`,
    )
    .action((name: string, options: NewKeyOptions & { keyFile?: string }) => importKey(cli, name, options));
  keys
    .command("revoke")
    .description("revoke a key; it stops working on every replica within a second")
    .argument("<key>", "ID of the key, or its prefix as shown by keys list")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `\nExamples:\n  ${cli.self} keys revoke svc_4fTz\n  ${cli.self} keys revoke 01890a5d-ac96-774b-bcce-b302099a8057`,
    )
    .action((named: string) => revoke(cli, named));
  keys
    .command("rotate")
    .description("replace a key with a new one and print it once")
    .argument("<key>", "ID of the key, or its prefix as shown by keys list")
    .addOption(
      new Option("--overlap <duration>", "how long the old key stays valid (grace period), at most 7d")
        .argParser(durationUpTo(WEEK))
        .default(DEFAULT_OVERLAP_SECONDS, "24h"),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The new key has the name, scopes, project, rate limit and expiry of the old one. Only the key is written to standard
output.
Examples:
  ${cli.silentSelf} keys rotate svc_4fTz > key.txt
  ${cli.self} keys rotate svc_4fTz --overlap 0`,
    )
    .action((named: string, options: { overlap: number }) => rotate(cli, named, options));
}
