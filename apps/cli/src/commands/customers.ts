import type { CustomerChange, CustomerDetail, CustomerItem } from "@svc/contracts";
import { InvalidArgumentError } from "commander";
import { asAdministrator, requireId } from "../as-administrator.ts";
import { usageError } from "../cli.ts";
import { defineCommand } from "../define-command.ts";
import { defineList, defineShow } from "../define-resource.ts";
import { choice, definedOnly, option, projectOption, yesOption } from "../options.ts";
import { confirm, readText } from "../read-input.ts";
import { renderFacts, toSecond } from "../render-table.ts";
import { safeLine } from "../terminal.ts";

const CUSTOMER = { "<customerId>": "ID of the customer" } as const;
const ID = "01890a5d-ac96-774b-bcce-b302099a8057";

/** Throws CliError `usage` for an invalid ID, before anything is opened. */
const requireCustomerId = (id: string) => requireId(id, "A customer ID", "customers list");

const nameOf = ({ name, email, externalId, alias }: CustomerItem) => safeLine(name ?? email ?? externalId ?? alias);

function renderCustomer(item: CustomerDetail): string {
  const { id, alias, name, email, phone, language, timeZone, externalId, attributes, identities } = item;
  const facts = { name, alias, email, phone, language, "time zone": timeZone, "external id": externalId };
  const known = Object.entries(facts).flatMap(([fact, value]) =>
    value === null ? [] : [[fact, safeLine(value)] as const],
  );
  const lines = (values: string[]) => values.join("\n") || "none";
  return renderFacts([
    ["customer", id],
    ...known,
    ["attributes", lines(Object.entries(attributes).map(([key, value]) => safeLine(`${key}: ${value}`)))],
    ["identities", lines(identities.map(({ kind, value }) => safeLine(`${kind} ${value}`)))],
    ["first seen", toSecond(item.firstSeenAt)],
    ["last seen", toSecond(item.lastSeenAt)],
    ["emails", item.unsubscribedAt !== null && `unsubscribed since ${toSecond(item.unsubscribedAt)}`],
    ["blocked", item.isBlocked && "yes: messages are spam"],
    ["notes", lines(item.notes.map(({ at, author, text }) => safeLine(`${toSecond(at)} ${author}: ${text}`)))],
  ]);
}

const list = defineList({
  path: "customers list",
  isOfProject: true,
  isPaged: true,
  description: "list the customers of a project, most recently seen first",
  options: { search: option("--search <text>", "part of a name, address, phone number, ID or attribute") },
  examples: ["customers list", "customers list --search weber --json"],
  read: ({ listCustomers }, { search, limit, cursor }) => listCustomers({ q: search, limit, cursor }),
  columns: ["ID", "NAME", "E-MAIL", "LAST SEEN"],
  row: (item) => [item.id, nameOf(item), safeLine(item.email ?? ""), toSecond(item.lastSeenAt)],
  empty: "There are no matching customers.",
});

const show = defineShow({
  isOfProject: true,
  description: "show a customer; tickets list --customer shows the conversations",
  args: CUSTOMER,
  examples: [`customers show ${ID}`],
  check: requireCustomerId,
  find: ({ getCustomer }, id) => getCustomer(id),
  render: renderCustomer,
});

/** Reads `plan=pro`; the option is repeatable. Numbers and booleans are stored as such. */
function collectAttribute(text: string, before: CustomerItem["attributes"] = {}): CustomerItem["attributes"] {
  const [, key, value = ""] = /^([^=]+)=(.*)$/su.exec(text) ?? [];
  if (key === undefined) throw new InvalidArgumentError("Must be a name, an equals sign and a value, as in plan=pro.");
  const isNumber = value.trim() !== "" && String(Number(value)) === value;
  const parsed = isNumber ? Number(value) : ({ true: true, false: false }[value] ?? value);
  return { ...before, [key]: parsed };
}

const orNone = (text: string | undefined) => (text === "" ? null : text);

const update = defineCommand({
  description: "update a customer; channels no longer replace what is set here",
  args: CUSTOMER,
  options: {
    name: option("--name <name>", 'name; "" removes it, as with the options below'),
    email: option("--email <address>", "e-mail address"),
    phone: option("--phone <number>", "phone number"),
    language: option("--language <code>", "ISO 639-1 code"),
    timeZone: option("--time-zone <zone>", "IANA name, as in Europe/Berlin"),
    externalId: option("--external-id <id>", "ID of the customer in your systems"),
    attribute: option("--attribute <name=value>", "attribute; replaces all attributes (repeatable)", collectAttribute),
    emails: choice("--emails <on|off>", "off: the customer gets no emails; on: the customer wants emails again", [
      "on",
      "off",
    ]),
    project: projectOption,
  },
  examples: [`customers update ${ID} --name "Jonas Weber" --attribute plan=pro --attribute seats=12`],
  async run(cli, { customerId, project, attribute, name, email, phone, language, timeZone, externalId, emails }) {
    requireCustomerId(customerId);
    const given = { name, email, phone, language, timeZone, externalId };
    const facts = Object.fromEntries(Object.entries(given).map(([fact, value]) => [fact, orNone(value)]));
    const change: CustomerChange = definedOnly({
      ...facts,
      attributes: attribute,
      unsubscribed: emails === undefined ? undefined : emails === "off",
    });
    if (Object.keys(change).length === 0) throw usageError("Specify what to change. See: svc customers update --help");
    const item = await asAdministrator(cli, project, ({ updateCustomer }) =>
      updateCustomer({ id: customerId }, change),
    );
    cli.terminal.show({ ok: true, project, item }, () => renderCustomer(item));
  },
});

const merge = defineCommand({
  description: "merge another customer into a customer, permanently",
  args: { ...CUSTOMER, "<otherId>": "ID of the customer that becomes part of it" },
  options: { project: projectOption, yes: yesOption },
  about: "Identities and conversations move. The customer keeps its facts and gets what it lacks.",
  examples: [`customers merge ${ID} 01890a5d-ac96-774b-bcce-b302099a8058 --yes`],
  async run(cli, { customerId, otherId, project, yes }) {
    requireCustomerId(customerId);
    requireCustomerId(otherId);
    const item = await asAdministrator(cli, project, async ({ getCustomer, mergeCustomer }) => {
      const [into, from] = [await getCustomer(customerId), await getCustomer(otherId)];
      const question = `Merge ${nameOf(from)} into ${nameOf(into)}?`;
      if (yes !== true && !(await confirm(cli, question, "--yes"))) return null;
      return mergeCustomer(customerId, { customerId: otherId });
    });
    cli.terminal.show({ ok: item !== null, project, item }, () =>
      item === null ? "Nothing was changed." : renderCustomer(item),
    );
  },
});

const block = defineCommand({
  description: "block a customer: open and later conversations become spam",
  args: CUSTOMER,
  options: { project: projectOption, yes: yesOption },
  about: "Messages are accepted on every channel; nobody replies to them. See: svc customers unblock --help",
  examples: [`customers block ${ID} --yes`],
  async run(cli, { customerId, project, yes }) {
    requireCustomerId(customerId);
    const item = await asAdministrator(cli, project, async ({ getCustomer, blockCustomer }) => {
      const question = `Block ${nameOf(await getCustomer(customerId))} and close open conversations as spam?`;
      return yes === true || (await confirm(cli, question, "--yes")) ? blockCustomer(customerId) : null;
    });
    cli.terminal.show({ ok: item !== null, project, item }, () =>
      item === null ? "Nothing was changed." : renderCustomer(item),
    );
  },
});

const unblock = defineCommand({
  description: "unblock a customer: later messages are processed as usual",
  args: CUSTOMER,
  options: { project: projectOption },
  examples: [`customers unblock ${ID}`],
  async run(cli, { customerId, project }) {
    requireCustomerId(customerId);
    const item = await asAdministrator(cli, project, ({ unblockCustomer }) => unblockCustomer(customerId));
    cli.terminal.show({ ok: true, project, item }, () => renderCustomer(item));
  },
});

const note = defineCommand({
  description: "add a note to a customer, which the customer does not see",
  args: { ...CUSTOMER, "[text]": "the note (default: --file or standard input)" },
  options: { file: option("--file <file>", "file with the note"), project: projectOption },
  examples: [`customers note ${ID} "Prefers to be called in the morning."`],
  async run(cli, { customerId, text: given, file, project }) {
    requireCustomerId(customerId);
    const text = await readText(cli, given, file);
    const item = await asAdministrator(cli, project, ({ addCustomerNote }) => addCustomerNote(customerId, { text }));
    cli.terminal.show({ ok: true, project, item }, () => renderCustomer(item));
  },
});

/** `svc customers`: the customers of a project. */
export const customers = defineCommand({
  commands: { list, show, update, merge, block, unblock, note },
});
