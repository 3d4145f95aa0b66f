import { LIMITS, WEEKDAYS } from "@svc/contracts";
import type { ProjectChange, ProjectItem } from "@svc/contracts";
import type { Store } from "@svc/store";
import { InvalidArgumentError } from "commander";
import { asAdministrator, getProject, listAllProjects } from "../as-administrator.ts";
import { usageError } from "../cli.ts";
import type { Cli } from "../cli.ts";
import { defineCommand } from "../define-command.ts";
import { defineList, defineShow } from "../define-resource.ts";
import type { OptionValues } from "../define-command.ts";
import { choice, definedOnly, numberOr, option } from "../options.ts";
import { askLine, readInput } from "../read-input.ts";
import { renderFacts } from "../render-table.ts";
import { safeLine } from "../terminal.ts";

const TEXT_CHARS = 300;

const describeDays = (days: number) => (days === 1 ? "1 day" : `${days} days`);

const describeRetention = ({ retentionDays }: ProjectItem) =>
  retentionDays === null ? "forever" : describeDays(retentionDays);

/** Returns the limits of a project for language models, in words. */
function describeModelLimits({ modelLimits: { concurrency, tokensPerDay } }: ProjectItem): string {
  const calls = concurrency === null ? "unlimited concurrent calls" : `${concurrency} concurrent calls`;
  return tokensPerDay === null ? `${calls}, unlimited tokens` : `${calls}, ${tokensPerDay} tokens per day`;
}

/** Returns the limits that a project has, in words. */
function describeQuotas({ quotas }: ProjectItem): string {
  const given = Object.entries(quotas).filter(([, limit]) => limit !== null);
  return given.length === 0 ? "none" : given.map(([name, limit]) => `${name} ${limit}`).join(", ");
}

/** Returns the SLA targets of a project, in the order in which they match. */
function describeSla({ slaTargets }: ProjectItem): string {
  const described = slaTargets.map(({ priority = "any priority", channelId, ...minutes }) => {
    const given = Object.entries(minutes).map(([name, count]) => `${name} ${count}`);
    return `${priority}${channelId === undefined ? "" : ` on ${channelId}`}: ${given.join(", ")}`;
  });
  return described.length === 0 ? "none" : described.join("; ");
}

/** Returns the business hours of a project, day by day. */
function describeHours({ businessHours }: ProjectItem): string {
  if (businessHours === null) return "always";
  const { timeZone, week, holidays } = businessHours;
  const days = WEEKDAYS.flatMap((day) => {
    const periods = (week[day] ?? []).map(([from, to]) => `${from}-${to}`);
    return periods.length === 0 ? [] : [`${day} ${periods.join(" and ")}`];
  });
  const closed = holidays.length === 0 ? "" : `; closed on ${holidays.map(({ date }) => date).join(", ")}`;
  return `${days.join(", ") || "never"} (${timeZone})${closed}`;
}

/** Returns when customers who have left get replies by email. */
function describeReplyEmails({ replyEmails }: ProjectItem): string {
  if (replyEmails === null) return "off";
  const { delayMinutes, recipients } = replyEmails;
  return `after ${delayMinutes} minutes, to ${recipients === "all" ? "all" : "verified"} addresses`;
}

const describeHandoff = ({ handoffText }: ProjectItem) =>
  handoffText === "" ? "none" : safeLine(handoffText, TEXT_CHARS);

/** Returns the state of the secret that signs the callbacks of a project. */
function describeSecret({ webhookSecret, previousWebhookSecretUntil: until }: ProjectItem): string {
  if (webhookSecret === null) return "not set: callbacks are signed with the API key that sent the message";
  return until === null ? "set" : `set; the previous one also signs until ${until}`;
}

function renderProject(project: ProjectItem): string {
  const { handoffTexts, greeting, fileRetentionDays: fileDays, replyTimeMinutes } = project;
  return renderFacts([
    ["name", project.name],
    ["id", project.id],
    ["created", project.createdAt],
    ["handoff text", describeHandoff(project)],
    ...Object.entries(handoffTexts).map(
      ([language, text]) => [`handoff text (${language})`, safeLine(text, TEXT_CHARS)] as const,
    ),
    ["greeting", greeting === "" ? "service default" : safeLine(greeting, TEXT_CHARS)],
    ["tables as XLSX", project.tablesAsXlsx ? "yes" : "no"],
    ["retention of conversations", describeRetention(project)],
    ["retention of customers' files", fileDays === null ? "as long as the conversation" : describeDays(fileDays)],
    ["language models", describeModelLimits(project)],
    ["quotas", describeQuotas(project)],
    ["business hours", describeHours(project)],
    ["expected reply time", replyTimeMinutes === null ? "not set" : `${replyTimeMinutes} minutes`],
    ["SLA targets", describeSla(project)],
    ["replies by email", describeReplyEmails(project)],
    ["webhook secret", describeSecret(project)],
    ["version", String(project.version)],
  ]);
}

const list = defineList({
  path: "projects list",
  isOfProject: false,
  description: "list all projects",
  examples: ["projects list", "projects list --json"],
  read: listAllProjects,
  columns: ["NAME", "CREATED", "RETENTION", "TABLES AS XLSX", "HANDOFF TEXT"],
  row: (project) => [
    project.name,
    project.createdAt.slice(0, 10),
    describeRetention(project),
    project.tablesAsXlsx ? "yes" : "no",
    describeHandoff(project),
  ],
  empty: "There are no projects.",
});

const PROJECT = { "<project>": "name of the project, as shown by projects list" } as const;

const show = defineShow({
  isOfProject: false,
  description: "show a project with its settings",
  args: PROJECT,
  examples: ["projects show shop"],
  find: getProject,
  render: renderProject,
});

const parseRetention = numberOr("forever", 5, "Must be a number of days, or forever.");
const parseModelLimit = numberOr("any", 13, "Must be a number, or any.");

function parseHandoffIn(given: string, before: Record<string, string> = {}): Record<string, string> {
  const [, language = "", text = ""] = /^([a-z]{2})=(.*)$/s.exec(given) ?? [];
  if (language === "") throw new InvalidArgumentError('Must be a language and a text, such as de="…".');
  return { ...before, [language]: text.trim() };
}

const parseReplyTime = numberOr("none", 5, "Must be a number of minutes, or none.");

/** Parses an option as JSON; the operation validates it. */
function parseJson(given: string, help: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    throw new InvalidArgumentError(help);
  }
}

const parseSla = (given: string) => parseJson(given, "Must be JSON.") as ProjectChange["slaTargets"];
const parseHours = (given: string) =>
  given === "always" ? null : (parseJson(given, "Must be JSON, or always.") as ProjectChange["businessHours"]);

const parseReplyEmails = (given: string) =>
  given === "off" ? null : (parseJson(given, "Must be JSON, or off.") as ProjectChange["replyEmails"]);

/** The options for the settings of a project. */
const SETTINGS = {
  handoffText: option(
    "--handoff-text <text>",
    "text sent to customers when a conversation is handed over to a person; can be empty",
  ).conflicts("handoffFile"),
  handoffFile: option("--handoff-file <file>", "file with the handoff text; - for standard input"),
  handoffIn: option(
    "--handoff-in <language=text>",
    'handoff text for customers who write in that language, such as de="…"; empty for the service\'s own (repeatable)',
    parseHandoffIn,
  ),
  greeting: option(
    "--greeting <text>",
    'greeting for customers who start the Telegram bot; "" for the service\'s own text',
  ),
  tables: choice("--tables <on|off>", "whether tables in answers are also sent as XLSX files", ["on", "off"]),
  retention: option("--retention <days>", "how long conversations are kept (default: forever)", parseRetention),
  fileRetention: option(
    "--file-retention <days>",
    "how long files of customers are kept (default: 90; forever: as long as the conversation)",
    parseRetention,
  ),
  modelCalls: option(
    "--model-calls <number>",
    "concurrent calls to language models; any for no limit (default: 8)",
    parseModelLimit,
  ),
  modelTokens: option(
    "--model-tokens <number>",
    "tokens of language models per day (UTC); any for no limit (default: any)",
    parseModelLimit,
  ),
  maxMessages: option(
    "--max-messages <number>",
    "messages per day (UTC); any for no limit (default: any)",
    parseModelLimit,
  ),
  maxDocuments: option("--max-documents <number>", "documents; any for no limit (default: any)", parseModelLimit),
  maxStorage: option("--max-storage <MB>", "stored content in MB; any for no limit (default: any)", parseModelLimit),
  businessHours: option(
    "--business-hours <JSON>",
    'when the team works, such as {"timeZone":"Europe/Berlin","week":{"monday":[["09:00","17:00"]]}}; always for no hours',
    parseHours,
  ),
  replyTime: option(
    "--reply-time <minutes>",
    "minutes within which the team usually replies, as customers read it; none for no such text",
    parseReplyTime,
  ),
  sla: option(
    "--sla <JSON>",
    'SLA targets in minutes of business time, such as [{"priority":"urgent","firstReplyMinutes":30}]; [] for none',
    parseSla,
  ),
  replyEmails: option(
    "--reply-emails <JSON>",
    'when customers who have left get replies by email, such as {"delayMinutes":5,"recipients":"verified"}; off for never',
    parseReplyEmails,
  ),
  maxSockets: option("--max-sockets <number>", "open widget sockets; any for no limit (default: any)", parseModelLimit),
};

/** Merges handoff texts by language; an empty one removes that of its language. */
const mergeHandoffTexts = (before: Record<string, string>, given: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries({ ...before, ...given }).filter(([, text]) => text !== ""));

/** Returns null for the word that means no limit. */
const numberOrNull = (given: number | string | undefined) => (typeof given === "string" ? null : given);

/** Returns the settings that the options name, without handoff texts by language. */
async function settingsOf(cli: Cli, input: OptionValues<typeof SETTINGS>): Promise<ProjectChange> {
  const { handoffText, handoffFile, greeting, tables, retention, fileRetention, modelCalls, modelTokens } = input;
  const expected = { what: "the handoff text", maxBytes: LIMITS.bodyMaxBytes };
  const text =
    handoffFile === undefined
      ? handoffText
      : new TextDecoder().decode(await readInput(cli, handoffFile, expected)).trimEnd();
  const modelLimits = definedOnly({
    concurrency: numberOrNull(modelCalls),
    tokensPerDay: numberOrNull(modelTokens),
  });
  const quotas = definedOnly({
    messagesPerDay: numberOrNull(input.maxMessages),
    documents: numberOrNull(input.maxDocuments),
    storageMb: numberOrNull(input.maxStorage),
    sockets: numberOrNull(input.maxSockets),
  });
  return definedOnly({
    handoffText: text,
    greeting,
    tablesAsXlsx: tables === undefined ? undefined : tables === "on",
    retentionDays: numberOrNull(retention),
    fileRetentionDays: numberOrNull(fileRetention),
    modelLimits: Object.keys(modelLimits).length === 0 ? undefined : modelLimits,
    quotas: Object.keys(quotas).length === 0 ? undefined : quotas,
    businessHours: input.businessHours,
    slaTargets: input.sla,
    replyEmails: input.replyEmails,
    replyTimeMinutes: numberOrNull(input.replyTime),
  });
}

const create = defineCommand({
  description: "create a project",
  args: { "<name>": "a-z, 0-9 and -" },
  options: SETTINGS,
  about: "Projects keep their chats, agents, knowledge bases and keys separate.",
  examples: ["projects create shop", 'projects create clinic --retention 90 --handoff-text "A nurse will answer you."'],
  async run(cli, input) {
    const { name, handoffIn } = input;
    const settings = await settingsOf(cli, input);
    const handoffTexts = handoffIn === undefined ? undefined : mergeHandoffTexts({}, handoffIn);
    const item = await asAdministrator(cli, undefined, ({ createProject }) =>
      createProject({ ...settings, ...definedOnly({ handoffTexts }), name }),
    );
    cli.terminal.show({ ok: true, item }, () => renderProject(item));
    cli.terminal.note(
      `It has no agent yet. Create one with: ${cli.self} agents create NAME --kb KNOWLEDGE-BASE --project ${item.name}`,
    );
  },
});

async function change(cli: Cli, name: string, changesOf: (project: ProjectItem) => ProjectChange): Promise<void> {
  const item = await asAdministrator(cli, undefined, async (operations) => {
    const project = await getProject(operations, name);
    return operations.updateProject({ id: project.id, versions: [project.version] }, changesOf(project));
  });
  cli.terminal.show({ ok: true, item }, () => renderProject(item));
}

const update = defineCommand({
  description: "update a project's settings",
  alias: "change",
  args: PROJECT,
  options: SETTINGS,
  about: `Omitted options stay unchanged. A running service applies changes within seconds. To set the secret that signs the
project's callbacks, use webhook secret.`,
  examples: [
    "projects update shop --retention 365",
    "projects update shop --handoff-file handoff.txt --tables off",
    'projects update shop --handoff-in de="Ein Mensch antwortet Ihnen hier."',
    "projects update shop --model-calls 4 --model-tokens 2000000",
    "projects update shop --max-messages 10000 --max-storage 500",
    `projects update shop --reply-time 60 --business-hours '{"timeZone":"Europe/Berlin","week":{"monday":[["09:00","17:00"]]}}'`,
    "webhook secret --project shop --generate",
  ],
  async run(cli, input) {
    const { project, handoffIn } = input;
    const changes = await settingsOf(cli, input);
    if (Object.keys(changes).length === 0 && handoffIn === undefined) {
      throw usageError("Specify what to update, for example --retention. See: svc projects update --help");
    }
    await change(cli, project, ({ handoffTexts }) =>
      handoffIn === undefined ? changes : { ...changes, handoffTexts: mergeHandoffTexts(handoffTexts, handoffIn) },
    );
  },
});

const rename = defineCommand({
  description: "rename a project; its keys and chats are not affected",
  args: { ...PROJECT, "<new name>": "a-z, 0-9 and -" },
  examples: ["projects rename shop store"],
  run: (cli, { project, "new name": name }) => change(cli, project, () => ({ name })),
});

/** Shows what is deleted with the project, and asks for its name. */
async function askName(cli: Cli, store: Store, { id, name }: ProjectItem): Promise<string> {
  const { asProjectId } = await import("@svc/store");
  const held = Object.entries(await store.projects.countHeld(asProjectId(id))).filter(([, count]) => count > 0);
  const what =
    held.length === 0 ? "It is empty." : `It contains ${held.map(([kind, count]) => `${count} ${kind}`).join(", ")}.`;
  return askLine(cli, {
    question: `This permanently deletes the project ${name} and everything in it. ${what}`,
    request: "Type its name and press Enter",
    instead: `Cannot ask for confirmation, because the input is not a terminal. Add --confirm ${name}.`,
  });
}

const deleteCommand = defineCommand({
  description: "delete a project with its agents, knowledge bases, chats and keys",
  args: PROJECT,
  options: { confirm: option("--confirm <name>", "name of the project, to skip the confirmation") },
  about: "Shows what would be deleted, and asks you to type the name. This cannot be undone.",
  examples: ["projects delete shop", "projects delete shop --confirm shop"],
  async run(cli, { project: name, confirm: given }) {
    const item = await asAdministrator(cli, undefined, async (operations, { resources }) => {
      const project = await getProject(operations, name);
      const confirm = given ?? (await askName(cli, resources.store, project)).trim();
      // Any other answer to the question cancels; a wrong option is an error, which the operation explains.
      if (given === undefined && confirm !== project.name) return null;
      return operations.deleteProject({ id: project.id, versions: [project.version] }, { confirm });
    });
    cli.terminal.show({ ok: item !== null, item }, () =>
      item === null ? "Nothing was deleted." : `Deleted the project ${item.name} and everything in it.`,
    );
  },
});

/** `svc projects`: projects and their settings. */
export const projects = defineCommand({
  commands: { list, show, create, update, rename, delete: deleteCommand },
});
