import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import type { Principal } from "@svc/auth";
import type { Operator, OperatorChange, OperatorInput, OperatorRole } from "@svc/contracts";
import type { Store } from "@svc/store";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { confirm } from "../confirm.ts";
import { EXIT } from "../exit-codes.ts";
import { jsonOption } from "../options.ts";
import { renderFacts } from "../render-facts.ts";
import { safeLine } from "../safe-text.ts";

const PAGE = 200;
const ROLES: readonly OperatorRole[] = ["administrator", "operator", "viewer"];

type Role = Operator["roles"][number];

interface NewOperatorOptions {
  name: string;
  role?: Role[];
  password?: true;
}

interface ChangeOptions {
  name?: string;
  /** In place of all roles; false for none. */
  role?: Role[] | false;
  disable?: true;
  enable?: true;
}

/** Works as the person at this machine on the operators, who belong to no project. */
async function onOperators<Result>(
  cli: Cli,
  work: (store: Store, principal: Principal) => Promise<Result>,
): Promise<Result> {
  const [{ withResources }, { localPrincipal }] = await Promise.all([
    import("../with-resources.ts"),
    import("../local-principal.ts"),
  ]);
  return withResources(cli, {}, async ({ store }) => work(store, await localPrincipal(store)));
}

/** `shop:operator`, or `*:administrator` for every project; several may be given. */
function collectRole(text: string, before?: Role[] | false): Role[] {
  const [project = "", name, ...rest] = text.split(":");
  const role = ROLES.find((known) => known === name);
  if (project === "" || role === undefined || rest.length > 0) {
    throw new InvalidArgumentError(`Must be a project (or *), a colon and one of ${ROLES.join(", ")}.`);
  }
  return [...(before === undefined || before === false ? [] : before), { project, role }];
}

const rolesText = ({ roles }: Operator) => roles.map(({ project, role }) => `${project}:${role}`).join(" ");

function stateOf({ disabledAt, hasPassword }: Operator): string {
  if (disabledAt !== null) return "disabled";
  return hasPassword ? "active" : "no password";
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

async function create(cli: Cli, email: string, options: NewOperatorOptions): Promise<void> {
  const [{ createOperator }, { readPassword }] = await Promise.all([
    import("@svc/operations"),
    import("../read-password.ts"),
  ]);
  const password = options.password === true ? await readPassword(cli) : null;
  const input: OperatorInput = { email, name: options.name, roles: options.role ?? [], password };
  const item = await onOperators(cli, (store, principal) => createOperator({ store }, principal, input));
  cli.terminal.show({ ok: true, item }, () => `Made.\n${factsOf(item)}`);
}

async function list(cli: Cli): Promise<void> {
  const [{ listOperators }, { renderTable }] = await Promise.all([
    import("@svc/operations"),
    import("../render-table.ts"),
  ]);
  const items = await onOperators(cli, async (store, principal) => {
    const found: Operator[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await listOperators({ store }, principal, { limit: PAGE, cursor: cursor ?? undefined });
      found.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== null);
    return found;
  });
  cli.terminal.show({ ok: true, items }, () => {
    if (items.length === 0) return "There are no operators.";
    const rows = items.map((item) => [
      item.id,
      `${safeLine(item.name)}\n${cli.terminal.paint.dim(safeLine(item.email))}`,
      rolesText(item),
      item.lastSeenAt === null ? "never" : item.lastSeenAt.slice(0, 10),
      stateOf(item),
    ]);
    return renderTable(["ID", "NAME", "ROLES", "LAST SEEN", "STATE"], rows, cli.terminal.width);
  });
}

async function remove(cli: Cli, named: string, options: { yes?: true }): Promise<void> {
  const { deleteOperator, findOperator } = await import("@svc/operations");
  await onOperators(cli, async (store, principal) => {
    const item = await findOperator({ store }, principal, named);
    const question = `Remove ${safeLine(item.name)} (${safeLine(item.email)})?`;
    if (options.yes !== true && !(await confirm(cli, question, "--yes"))) {
      cli.terminal.show({ ok: true, removed: false, item }, () => "Nothing was removed.");
      return;
    }
    const removed = await deleteOperator({ store }, principal, item.id);
    cli.terminal.show({ ok: true, removed: true, item: removed }, () => `Removed: ${safeLine(removed.name)}.`);
  });
}

async function setPassword(cli: Cli, named: string): Promise<void> {
  const [{ findOperator, updateOperator }, { readPassword }] = await Promise.all([
    import("@svc/operations"),
    import("../read-password.ts"),
  ]);
  const password = await readPassword(cli);
  const item = await onOperators(cli, async (store, principal) => {
    const { id } = await findOperator({ store }, principal, named);
    return updateOperator({ store }, principal, id, { password });
  });
  cli.terminal.show({ ok: true, item }, () => `Password of ${safeLine(item.name)} updated.`);
}

async function change(cli: Cli, named: string, { name, role, disable, enable }: ChangeOptions): Promise<void> {
  const input: OperatorChange = {
    ...(name === undefined ? {} : { name }),
    ...(role === undefined ? {} : { roles: role === false ? [] : role }),
    ...(disable === enable ? {} : { disabled: disable === true }),
  };
  if (Object.keys(input).length === 0) {
    throw new CliError("usage", EXIT.usage, "Specify what to update. See: svc operators update --help");
  }
  const { findOperator, updateOperator } = await import("@svc/operations");
  const item = await onOperators(cli, async (store, principal) => {
    const { id } = await findOperator({ store }, principal, named);
    return updateOperator({ store }, principal, id, input);
  });
  cli.terminal.show({ ok: true, item }, () => `Changed.\n${factsOf(item)}`);
}

const NAMED = "ID or email address of the operator";

/** The address at which somebody chooses a password with this token. */
async function linkUrl(cli: Cli, token: string): Promise<string> {
  const [{ readEnvironment }, { localUrl }] = await Promise.all([import("@svc/runtime"), import("@svc/contracts")]);
  const { bindHost, ports } = readEnvironment(cli.env);
  return `${localUrl(bindHost ?? "127.0.0.1", ports.console)}/link#${token}`;
}

const LINK_USE =
  "The link is valid for one day and can be used once. Behind a proxy, replace the part before /link with the console's public URL.";

async function link(cli: Cli, named: string | undefined): Promise<void> {
  const { createOperatorLink, findOperator, makeFirstLink } = await import("@svc/operations");
  const made = await onOperators(cli, async (store, principal) => {
    if (named === undefined) return makeFirstLink({ store });
    const { id } = await findOperator({ store }, principal, named);
    return createOperatorLink({ store }, principal, id);
  });
  if (made === null) {
    throw new CliError(
      "not_needed",
      EXIT.usage,
      "An operator can already sign in. Specify the operator to create a link for.",
    );
  }
  const url = await linkUrl(cli, made.token);
  const expiresAt = new Date(made.expiresAt).toISOString();
  cli.terminal.show({ ok: true, url, expiresAt }, () => `${url}\n${LINK_USE}`);
}

/** `svc operators create|list|change|remove|password|link`: people who work with the product. */
export function addOperators(program: Command, cli: Cli): void {
  const operators = program
    .command("operators")
    .description("create, list, update and remove operators, and manage their passwords")
    .usage("<create|list|update|remove|password|link> [options]");
  operators
    .command("create")
    .description("create an operator")
    .argument("<email>", "email address")
    .requiredOption("--name <name>", "display name")
    .option(
      "--role <project:role>",
      "administrator, operator or viewer of a project or of all projects (*) (repeatable)",
      collectRole,
    )
    .option("--password", "ask for a password, or read it from standard input")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The password is never passed as an argument, because every user of a machine can see those.
Examples:
  ${cli.self} operators create ann@example.com --name Ann --role "*:administrator" --password
  pass show svc/ben | ${cli.self} operators create ben@example.com --name Ben --role shop:operator --password`,
    )
    .action((email: string, options: NewOperatorOptions) => create(cli, email, options));
  operators
    .command("list")
    .description("list all operators, newest first")
    .addOption(jsonOption())
    .addHelpText("after", `\nExamples:\n  ${cli.self} operators list\n  ${cli.self} operators list --json`)
    .action(() => list(cli));
  operators
    .command("update")
    .alias("change")
    .description("update an operator (the last administrator of all projects cannot lose the role)")
    .argument("<operator>", NAMED)
    .option("--name <name>", "display name")
    .option("--role <project:role>", "role; replaces all roles (repeatable)", collectRole)
    .option("--no-role", "remove all roles")
    .option("--disable", "disable the operator, so that signing in is no longer possible")
    .addOption(new Option("--enable", "enable the operator").conflicts("disable"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Examples:
  ${cli.self} operators update ben@example.com --disable
  ${cli.self} operators update ben@example.com --enable --role shop:operator --role clinic:viewer`,
    )
    .action((named: string, options: ChangeOptions) => change(cli, named, options));
  operators
    .command("remove")
    .description("remove an operator (the last administrator of all projects cannot be removed)")
    .argument("<operator>", NAMED)
    .option("--yes", "skip the confirmation")
    .addOption(jsonOption())
    .addHelpText("after", `\nExamples:\n  ${cli.self} operators remove ben@example.com --yes`)
    .action((named: string, options: { yes?: true }) => remove(cli, named, options));
  operators
    .command("password")
    .description("set an operator's password: typed twice, or from standard input")
    .argument("<operator>", NAMED)
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `\nExamples:\n  ${cli.self} operators password ann@example.com\n  pass show svc/ann | ${cli.self} operators password ann@example.com`,
    )
    .action((named: string) => setPassword(cli, named));
  operators
    .command("link")
    .description("create a link to set an operator's password, or to sign up as the first administrator")
    .argument("[operator]", `${NAMED}; if omitted, the first administrator of the console`)
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `\n${LINK_USE}\nEarlier links become invalid.\nExamples:\n  ${cli.self} operators link\n  ${cli.self} operators link ann@example.com`,
    )
    .action((named: string | undefined) => link(cli, named));
}
