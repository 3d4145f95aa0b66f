import { SCOPE_ACTIONS, SCOPE_RESOURCES, scopeSchema } from "@svc/contracts";
import type { KeyInput, KeyItem } from "@svc/contracts";
import { asAdministrator, findApiKeyId, listAllKeys } from "../as-administrator.ts";
import { usageError } from "../cli.ts";
import type { Cli } from "../cli.ts";
import { defineCommand, jsonOption } from "../define-command.ts";
import type { OptionValues } from "../define-command.ts";
import {
  definedOnly,
  durationUpTo,
  flag,
  list as repeatable,
  mandatory,
  numberOr,
  option,
  parseExpiry,
  withDefault,
} from "../options.ts";
import { readSecret } from "../read-input.ts";
import { renderFacts, renderTable, toMinute } from "../render-table.ts";
import { safeLine } from "../terminal.ts";

const DEFAULT_OVERLAP_SECONDS = 86_400;
const WEEK = { seconds: 604_800, text: "7d" };

/** Throws CliError `usage` for unknown scopes, with all that exist. */
function checkScopes(scopes: readonly string[]): void {
  const wrong = scopes.filter((scope) => !scopeSchema.safeParse(scope).success);
  if (wrong.length === 0) return;
  throw usageError(
    `Unknown scope: ${wrong.map((scope) => safeLine(scope, 40)).join(", ")}. A scope is admin:*, or one of ` +
      `${SCOPE_RESOURCES.join(", ")} followed by one of ${[...SCOPE_ACTIONS, "*"].map((action) => `:${action}`).join(", ")}.`,
  );
}

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
    ["Expires", item.expiresAt === null ? "never" : toMinute(item.expiresAt)],
    ["Rate limit", describeRateLimit(item)],
  ]);
}

/** Shows a new key: alone on standard output, so that it can be piped; its details go to standard error. */
function showNewKey({ terminal }: Cli, item: KeyItem & { key?: string }, remark?: string): void {
  if (!terminal.isJson) {
    terminal.note(factsOf(item));
    if (remark !== undefined) terminal.note(remark);
    terminal.note("The key, shown only once:");
  }
  terminal.show({ ok: true, item }, () => item.key ?? "");
}

/** Returns the expiry, revocation and rate limit of a key, as far as they are set. */
function remarksOf({ revokedAt, expiresAt, rateLimit }: KeyItem, now: number): string[] {
  return [
    ...(revokedAt === null ? [] : [`revoked ${toMinute(revokedAt)}`]),
    ...(expiresAt === null || revokedAt !== null
      ? []
      : [`${Date.parse(expiresAt) <= now ? "expired" : "expires"} ${toMinute(expiresAt)}`]),
    ...(rateLimit === undefined ? [] : [`rate limit ${rateLimit ?? "none"}`]),
  ];
}

const list = defineCommand({
  description: "list the keys of all projects, newest first",
  options: { all: flag("--all", "include revoked keys") },
  examples: ["keys list", "keys list --all --json"],
  async run(cli, { all }) {
    const known = await asAdministrator(cli, undefined, (operations) => listAllKeys(operations));
    const items = all === true ? known : known.filter(({ revokedAt }) => revokedAt === null);
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
  },
});

/** The options that a new key and an imported one share. */
const KEY_OPTIONS = {
  scope: mandatory(repeatable("--scope <scope>", "scope of the key, as in messages:write")),
  project: option("--project <name>", "project that the key is bound to (default: default; none with admin:*)"),
  expires: option(
    "--expires <when>",
    "expiry: a date, time or duration, as in 2030-01-31 or 90d (default: never)",
    (text) => parseExpiry(text),
  ),
  rateLimit: option(
    "--rate-limit <number>",
    "requests per minute from one address, or none (default: 120)",
    numberOr("none", 7, "Must be a number of requests per minute, or none."),
  ),
  json: jsonOption,
};
const NAME = { "<name>": "display name" } as const;

function inputOf(input: OptionValues<typeof KEY_OPTIONS> & { name: string }): KeyInput {
  const { name, scope, project, expires, rateLimit } = input;
  checkScopes(scope);
  const limit = rateLimit === "none" ? null : rateLimit;
  return { name, scopes: scope, ...definedOnly({ project, expiresAt: expires, rateLimit: limit }) };
}

const create = defineCommand({
  description: "create a key and print it once",
  args: NAME,
  options: KEY_OPTIONS,
  about: `Only the key is written to standard output; its details go to standard error. A date expires at its start (UTC).`,
  examples: [
    'keys create "mobile app" --scope messages:write --scope messages:read',
    '{silent} keys create shop --scope "messages:*" --project shop --expires 90d > key.txt',
    "keys create importer --scope kb:write --rate-limit none --json",
  ],
  async run(cli, input) {
    const given = inputOf(input);
    showNewKey(cli, await asAdministrator(cli, undefined, ({ createKey }) => createKey(given)));
  },
});

const importCommand = defineCommand({
  description: "import an existing key",
  args: NAME,
  options: { ...KEY_OPTIONS, keyFile: option("--key-file <file>", "file with the key (default: standard input)") },
  about: `The key must have at least 16 characters, in any format. It is never passed as an argument, because every user of a
machine can see those.`,
  examples: [
    'pass show legacy/key | {svc} keys import "legacy app" --scope messages:write',
    'keys import "legacy app" --scope messages:write --key-file key.txt',
  ],
  async run(cli, input) {
    const given = inputOf(input);
    const key = await readSecret(cli, { file: input.keyFile, what: "the key" });
    const { isGuessableKey } = await import("@svc/auth");
    if (isGuessableKey(key)) cli.terminal.note("This key is easy to guess. Replace it with a generated key.");
    const item = await asAdministrator(cli, undefined, ({ createKey }) => createKey({ ...given, key }));
    cli.terminal.show({ ok: true, item }, () => `Imported.\n${factsOf(item)}`);
  },
});

const KEY = { "<key>": "ID of the key, or its prefix as shown by keys list" } as const;

const revoke = defineCommand({
  description: "revoke a key; it stops working on every replica within a second",
  args: KEY,
  examples: ["keys revoke svc_4fTz", "keys revoke 01890a5d-ac96-774b-bcce-b302099a8057"],
  async run(cli, { key }) {
    const item = await asAdministrator(cli, undefined, async (operations) =>
      operations.revokeKey(await findApiKeyId(operations, key)),
    );
    cli.terminal.show({ ok: true, item }, () =>
      [
        `Revoked: ${safeLine(item.name)} (${safeLine(item.prefix)}…).`,
        "It stops working on every replica within a second.",
      ].join("\n"),
    );
  },
});

const rotate = defineCommand({
  description: "replace a key with a new one and print it once",
  args: KEY,
  options: {
    overlap: withDefault(
      option("--overlap <duration>", "how long the old key stays valid (grace period), at most 7d", durationUpTo(WEEK)),
      DEFAULT_OVERLAP_SECONDS,
      "24h",
    ),
  },
  about: `The new key has the name, scopes, project, rate limit and expiry of the old one. Only the key is written to standard
output.`,
  examples: ["{silent} keys rotate svc_4fTz > key.txt", "keys rotate svc_4fTz --overlap 0"],
  async run(cli, { key, overlap }) {
    const item = await asAdministrator(cli, undefined, async (operations) =>
      operations.rotateKey(await findApiKeyId(operations, key), { overlapSeconds: overlap }),
    );
    const end = toMinute(new Date(Date.now() + overlap * 1_000).toISOString());
    showNewKey(
      cli,
      item,
      overlap === 0 ? "The old key is revoked." : `The old key is valid until ${end}, unless it expires earlier.`,
    );
  },
});

/** `svc keys`: API keys and their scopes. */
export const keys = defineCommand({
  commands: { list, create, import: importCommand, revoke, rotate },
});
