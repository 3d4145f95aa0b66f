import { resolve } from "node:path";
import { CHANNEL_IDS } from "@svc/contracts";
import type { PrivacySubject } from "@svc/contracts";
import type { PersonalData } from "@svc/operations";
import { errorCode } from "@svc/primitives";
import { asAdministrator } from "../as-administrator.ts";
import { failure, usageError } from "../cli.ts";
import type { Cli } from "../cli.ts";
import { defineCommand, jsonOption } from "../define-command.ts";
import type { OptionValues } from "../define-command.ts";
import { choice, definedOnly, option, projectOption, yesOption } from "../options.ts";
import { writeNewFile } from "../private-files.ts";
import { confirm } from "../read-input.ts";
import { safeJson, safeLine } from "../terminal.ts";

/** Options that identify the person. */
const SUBJECT = {
  user: option("--user <userId>", "a user ID as in messages; covers every chat in which the user wrote"),
  visitor: option("--visitor <visitorId>", "a visitor of the widget"),
  customer: option("--customer <customerId>", "a customer, with every conversation"),
  chat: option("--chat <chatId>", "a chat, on every channel unless --channel is given"),
  channel: choice("--channel <channel>", "channel of the chat", CHANNEL_IDS),
  project: projectOption,
  json: jsonOption,
};
type SubjectInput = OptionValues<typeof SUBJECT>;

/** Returns the subject that the options name. Throws CliError `usage` unless exactly one ID is given. */
function subjectOf({ user, visitor, customer, chat, channel }: SubjectInput): PrivacySubject {
  if ([user, visitor, customer, chat].filter((id) => id !== undefined).length !== 1) {
    throw usageError("Specify one of --user, --visitor, --customer and --chat. See: svc privacy --help");
  }
  return definedOnly({ userId: user, visitorId: visitor, customerId: customer, chatId: chat, channelId: channel });
}

/** Returns the subject in words that are safe for a terminal. A visitor's ID is a secret and is not shown. */
function describeSubject({ user, customer, chat, channel }: SubjectInput): string {
  if (user !== undefined) return `the user "${safeLine(user, 80)}"`;
  if (customer !== undefined) return `the customer ${safeLine(customer, 80)}`;
  if (chat === undefined) return "this visitor";
  return `the chat "${safeLine(chat, 80)}"${channel === undefined ? "" : ` of the channel ${channel}`}`;
}

/** Writes an export to a new file; a failed export leaves no file. */
async function writeFile(cli: Cli, out: string, data: PersonalData): Promise<void> {
  try {
    await writeNewFile(resolve(cli.folder, out), data.itemJson);
  } catch (error) {
    const code = errorCode(error);
    if (code !== "EEXIST") throw error;
    throw failure("bad_input", `${safeLine(out, 200)} already exists. Choose another file.`);
  }
}

async function readWhole(data: PersonalData): Promise<object> {
  let text = "";
  for await (const piece of data.itemJson) text += piece;
  return JSON.parse(text) as object;
}

const exportCommand = defineCommand({
  description: "export all data of a user, a visitor, a customer or a chat in a project, as one JSON document",
  options: {
    ...SUBJECT,
    out: option("--out <file>", "new output file, readable only by you (default: standard output)"),
  },
  examples: [
    "privacy export --user u-42 --out u-42.json",
    "privacy export --chat 4711 --channel api --project shop --json",
  ],
  async run(cli, input) {
    const subject = subjectOf(input);
    const { project, out } = input;
    const item = await asAdministrator(cli, project, async ({ exportPersonalData }) => {
      const data = await exportPersonalData(subject);
      if (out === undefined) return readWhole(data);
      await writeFile(cli, out, data);
      return null;
    });
    cli.terminal.show({ ok: true, project, ...(item === null ? { out } : { item }) }, () =>
      item === null ? `Written to ${safeLine(out ?? "", 200)}` : safeJson(item),
    );
  },
});

const erase = defineCommand({
  description: "erase all data of a user, a visitor, a customer or a chat in a project, permanently",
  options: { ...SUBJECT, yes: yesOption },
  about: `The receipt contains the number of erased records, and identifies the person by a keyed hash. docs/privacy.md describes
what is not erased.`,
  examples: ["privacy erase --user u-42", "privacy erase --chat 4711 --channel api --project shop --yes"],
  async run(cli, input) {
    const subject = subjectOf(input);
    const { project, yes } = input;
    const item = await asAdministrator(cli, project, async ({ erasePersonalData }) => {
      const question = `Permanently erase all data of ${describeSubject(input)} in the project "${safeLine(project, 80)}"?`;
      const isAgreed = yes === true || (await confirm(cli, question, "--yes"));
      return isAgreed ? erasePersonalData(subject) : null;
    });
    cli.terminal.show({ ok: item !== null, project, item }, () => {
      if (item === null) return "Nothing was erased.";
      const erased = Object.entries(item.counts).filter(([, count]) => count > 0);
      if (erased.length === 0) return "There was no data.";
      return `Erased: ${erased.map(([kind, count]) => `${kind} ${count}`).join(", ")}.\nReceipt ${item.id} for ${item.subject}`;
    });
  },
});

/** `svc privacy`: personal data of one person. */
export const privacy = defineCommand({
  commands: { export: exportCommand, erase },
});
