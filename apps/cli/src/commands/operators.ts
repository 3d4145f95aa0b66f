import { NOTIFICATION_KINDS, localUrl, operatorRoleSchema } from "@svc/contracts";
import type { NotificationKind, Operator } from "@svc/contracts";
import { InvalidArgumentError } from "commander";
import { asAdministrator, readAll } from "../as-administrator.ts";
import type { BoundOperations } from "../as-administrator.ts";
import { CliError, EXIT, usageError } from "../cli.ts";
import type { Cli } from "../cli.ts";
import { defineCommand } from "../define-command.ts";
import { defineList } from "../define-resource.ts";
import { definedOnly, flag, mandatory, option, yesOption } from "../options.ts";
import type { TypedOption } from "../options.ts";
import { confirm, readPassword } from "../read-input.ts";
import { renderFacts } from "../render-table.ts";
import { safeLine } from "../terminal.ts";

type Role = Operator["roles"][number];

/** Reads `shop:operator`, or `*:administrator` for every project; the option is repeatable. */
function collectRole(text: string, before?: Role[] | false): Role[] {
  const roles = operatorRoleSchema.options;
  const [project = "", name, ...rest] = text.split(":");
  const role = roles.find((known) => known === name);
  if (project === "" || role === undefined || rest.length > 0) {
    throw new InvalidArgumentError(`Must be a project (or *), a colon and one of ${roles.join(", ")}.`);
  }
  return [...(before === undefined || before === false ? [] : before), { project, role }];
}

const rolesText = ({ roles }: Operator) => roles.map(({ project, role }) => `${project}:${role}`).join(" ");

function stateOf({ disabledAt, hasPassword, onDuty }: Operator): string {
  if (disabledAt !== null) return "disabled";
  if (!hasPassword) return "no password";
  return onDuty ? "on duty" : "active";
}

function factsOf(item: Operator): string {
  return renderFacts([
    ["Name", safeLine(item.name)],
    ["E-mail", safeLine(item.email)],
    ["Id", item.id],
    ["Roles", rolesText(item) || "none"],
    ["State", stateOf(item)],
  ]);
}

const create = defineCommand({
  description: "create an operator",
  args: { "<email>": "email address" },
  options: {
    name: mandatory(option("--name <name>", "display name")),
    role: option(
      "--role <project:role>",
      "administrator, operator or viewer of a project or of all projects (*) (repeatable)",
      collectRole,
    ),
    password: flag("--password", "ask for a password, or read it from standard input"),
  },
  about: "The password is never passed as an argument, because every user of a machine can see those.",
  examples: [
    'operators create ann@example.com --name Ann --role "*:administrator" --password',
    "pass show svc/ben | {svc} operators create ben@example.com --name Ben --role shop:operator --password",
  ],
  async run(cli, { email, name, role: roles = [], password: hasPassword }) {
    const password = hasPassword === true ? await readPassword(cli) : null;
    const item = await asAdministrator(cli, undefined, ({ createOperator }) =>
      createOperator({ email, name, roles, password }),
    );
    cli.terminal.show({ ok: true, item }, () => `Made.\n${factsOf(item)}`);
  },
});

const list = defineList({
  path: "operators list",
  isOfProject: false,
  description: "list all operators, newest first",
  examples: ["operators list", "operators list --json"],
  read: ({ listOperators }) => readAll(listOperators),
  columns: ["ID", "NAME", "ROLES", "LAST SEEN", "STATE"],
  row: (item, { dim }) => [
    item.id,
    `${safeLine(item.name)}\n${dim(safeLine(item.email))}`,
    rolesText(item),
    item.lastSeenAt === null ? "never" : item.lastSeenAt.slice(0, 10),
    stateOf(item),
  ],
  empty: "There are no operators.",
});

const NAMED = "ID or email address of the operator";
const OPERATOR = { "<operator>": NAMED } as const;

/** Runs work on the operator with this ID or email address. */
function onOperator<Result>(
  cli: Cli,
  named: string,
  work: (operator: Operator, operations: BoundOperations) => Promise<Result>,
): Promise<Result> {
  return asAdministrator(cli, undefined, async (operations) => work(await operations.findOperator(named), operations));
}

const newRoles: TypedOption<Role[] | false | undefined> = option(
  "--role <project:role>",
  "role; replaces all roles (repeatable)",
  collectRole,
);

const update = defineCommand({
  description: "update an operator (the last administrator of all projects cannot lose the role)",
  alias: "change",
  args: OPERATOR,
  options: {
    name: option("--name <name>", "display name"),
    role: newRoles,
    noRole: flag("--no-role", "remove all roles"),
    disable: flag("--disable", "disable the operator, so that signing in is no longer possible"),
    enable: flag("--enable", "enable the operator").conflicts("disable"),
    onDuty: flag("--on-duty", "put the operator on duty: tickets can be assigned in turn"),
    offDuty: flag("--off-duty", "take the operator off duty").conflicts("onDuty"),
  },
  examples: [
    "operators update ben@example.com --disable",
    "operators update ben@example.com --enable --role shop:operator --role clinic:viewer",
  ],
  async run(cli, { operator, name, role, disable, enable, onDuty, offDuty }) {
    const change = definedOnly({
      name,
      roles: role === false ? [] : role,
      disabled: disable === enable ? undefined : disable === true,
      onDuty: onDuty === offDuty ? undefined : onDuty === true,
    });
    if (Object.keys(change).length === 0) {
      throw usageError("Specify what to update. See: svc operators update --help");
    }
    const item = await onOperator(cli, operator, ({ id }, { updateOperator }) => updateOperator({ id }, change));
    cli.terminal.show({ ok: true, item }, () => `Changed.\n${factsOf(item)}`);
  },
});

const remove = defineCommand({
  description: "remove an operator (the last administrator of all projects cannot be removed)",
  args: OPERATOR,
  options: { yes: yesOption },
  examples: ["operators remove ben@example.com --yes"],
  async run(cli, { operator, yes }) {
    await onOperator(cli, operator, async (item, { deleteOperator }) => {
      const question = `Remove ${safeLine(item.name)} (${safeLine(item.email)})?`;
      if (yes !== true && !(await confirm(cli, question, "--yes"))) {
        cli.terminal.show({ ok: true, removed: false, item }, () => "Nothing was removed.");
        return;
      }
      const removed = await deleteOperator({ id: item.id });
      cli.terminal.show({ ok: true, removed: true, item: removed }, () => `Removed: ${safeLine(removed.name)}.`);
    });
  },
});

/** Reads a kind of email; the option is repeatable. */
function collectKind(text: string, before: NotificationKind[] = []): NotificationKind[] {
  const kind = NOTIFICATION_KINDS.find((known) => known === text);
  if (kind === undefined) throw new InvalidArgumentError(`Must be one of ${NOTIFICATION_KINDS.join(", ")}.`);
  return [...before, kind];
}

/** Reads `20:00-07:00`. */
function readQuietHours(text: string): [string, string] {
  const [, from, to] = /^(\d{2}:\d{2})-(\d{2}:\d{2})$/.exec(text) ?? [];
  if (from === undefined || to === undefined) throw new InvalidArgumentError("Must be two times, such as 20:00-07:00.");
  return [from, to];
}

const quietHours: TypedOption<[string, string] | false | undefined> = option(
  "--quiet <from-to>",
  "hours without emails, such as 20:00-07:00",
  readQuietHours,
);

function notificationsText({ notifications }: Operator): string {
  const { quietHours: quiet, digestAt, timeZone, language } = notifications;
  const kinds = NOTIFICATION_KINDS.filter((kind) => notifications[kind]);
  return renderFacts([
    ["Emails", kinds.join(", ") || "none"],
    ["Digest at", digestAt],
    ["Quiet hours", quiet === null ? "none" : quiet.join("-")],
    ["Time zone", timeZone],
    ["Language", language],
  ]);
}

const notifications = defineCommand({
  description: "show or change which emails an operator gets, and when",
  args: OPERATOR,
  options: {
    on: option("--on <kind>", `turn on one of ${NOTIFICATION_KINDS.join(", ")} (repeatable)`, collectKind),
    off: option("--off <kind>", "turn off one of them (repeatable)", collectKind),
    digestAt: option("--digest-at <time>", "time of the daily digest, such as 08:00"),
    quiet: quietHours,
    noQuiet: flag("--no-quiet", "no quiet hours"),
    timeZone: option("--time-zone <zone>", "time zone of these times, such as Europe/Berlin"),
    language: option("--language <language>", "language of the emails: en or de"),
  },
  examples: [
    "operators notifications ann@example.com",
    "operators notifications ann@example.com --on digest --quiet 20:00-07:00 --time-zone Europe/Berlin",
  ],
  async run(cli, { operator, on = [], off = [], digestAt, quiet, timeZone, language }) {
    const change = definedOnly({
      ...Object.fromEntries([...on.map((kind) => [kind, true]), ...off.map((kind) => [kind, false])]),
      digestAt,
      quietHours: quiet === false ? null : quiet,
      timeZone,
      language: language as Operator["notifications"]["language"] | undefined,
    });
    const item = await onOperator(cli, operator, async (known, { updateOperator }) =>
      Object.keys(change).length === 0
        ? known
        : updateOperator({ id: known.id }, { notifications: { ...known.notifications, ...change } }),
    );
    cli.terminal.show({ ok: true, item }, () => notificationsText(item));
  },
});

const password = defineCommand({
  description: "set an operator's password: typed twice, or from standard input",
  args: OPERATOR,
  examples: ["operators password ann@example.com", "pass show svc/ann | {svc} operators password ann@example.com"],
  async run(cli, { operator }) {
    const given = await readPassword(cli);
    const item = await onOperator(cli, operator, ({ id }, { updateOperator }) =>
      updateOperator({ id }, { password: given }),
    );
    cli.terminal.show({ ok: true, item }, () => `Password of ${safeLine(item.name)} updated.`);
  },
});

const LINK_USE =
  "The link is valid for one day and can be used once. Behind a proxy, replace the part before /link with the console's public URL.";

const link = defineCommand({
  description: "create a link to set an operator's password, or to sign up as the first administrator",
  args: { "[operator]": `${NAMED}; if omitted, the first administrator of the console` },
  about: `${LINK_USE}\nEarlier links become invalid.`,
  examples: ["operators link", "operators link ann@example.com"],
  async run(cli, { operator }) {
    const made = await asAdministrator(cli, undefined, async (operations) => {
      if (operator === undefined) return operations.makeFirstLink();
      const { id } = await operations.findOperator(operator);
      return operations.createOperatorLink(id);
    });
    if (made === null) {
      const message = "An operator can already sign in. Specify the operator to create a link for.";
      throw new CliError("not_needed", EXIT.usage, message);
    }
    const { readEnvironment } = await import("@svc/runtime");
    const { bindHost, ports } = readEnvironment(cli.env);
    const url = `${localUrl(bindHost ?? "127.0.0.1", ports.console)}/link#${made.token}`;
    const expiresAt = new Date(made.expiresAt).toISOString();
    cli.terminal.show({ ok: true, url, expiresAt }, () => `${url}\n${LINK_USE}`);
  },
});

/** `svc operators`: operators of the console. */
export const operators = defineCommand({
  commands: { create, list, update, notifications, remove, password, link },
});
