import { TAG_COLORS } from "@svc/contracts";
import type { Tag } from "@svc/contracts";
import { asAdministrator, getTagNamed, readAll } from "../as-administrator.ts";
import type { BoundOperations } from "../as-administrator.ts";
import { usageError } from "../cli.ts";
import type { Cli } from "../cli.ts";
import { defineCommand } from "../define-command.ts";
import { defineList } from "../define-resource.ts";
import { choice, definedOnly, option, projectOption, yesOption } from "../options.ts";
import { confirm } from "../read-input.ts";
import { safeLine } from "../terminal.ts";

const TAG = { "<tag>": "name or ID of the tag" } as const;

const SETTINGS = {
  color: choice("--color <color>", "color", TAG_COLORS),
  description: option("--description <text>", "what the tag is for"),
};

const list = defineList({
  path: "tags list",
  isOfProject: true,
  description: "list the managed tags of a project, newest first",
  examples: ["tags list", "tags list --json"],
  read: ({ listTags }) => readAll(listTags),
  columns: ["NAME", "COLOR", "DESCRIPTION", "ID"],
  row: (item) => [safeLine(item.name), item.color, safeLine(item.description), item.id],
  empty: "There are no managed tags.",
});

const create = defineCommand({
  description: "create a managed tag",
  args: { "<name>": "name of the tag" },
  options: { ...SETTINGS, project: projectOption },
  examples: ['tags create Refund --color orange --description "The customer wants money back."'],
  async run(cli, { name, color, description, project }) {
    const item = await asAdministrator(cli, project, ({ createTag }) =>
      createTag({ name, ...definedOnly({ color, description }) }),
    );
    cli.terminal.show({ ok: true, project, item }, () => `Created: ${safeLine(item.name)}.`);
  },
});

const update = defineCommand({
  description: "update a managed tag; a new name also replaces the former one on tickets",
  args: TAG,
  options: { name: option("--name <name>", "new name"), ...SETTINGS, project: projectOption },
  examples: ["tags update refunds --name Refund", "tags update Refund --color red"],
  async run(cli, { tag: named, name, color, description, project }) {
    const change = definedOnly({ name, color, description });
    if (Object.keys(change).length === 0) throw usageError("Specify what to change. See: svc tags update --help");
    const item = await asAdministrator(cli, project, async (operations) => {
      const { id, version } = await getTagNamed(operations, named);
      return operations.updateTag({ id, versions: [version] }, change);
    });
    cli.terminal.show({ ok: true, project, item }, () => `Changed: ${safeLine(item.name)}.`);
  },
});

/** Asks for confirmation unless `--yes` is given; then runs the action, and shows the result. */
async function afterConfirmation(
  cli: Cli,
  { project, yes }: { project: string; yes: boolean | undefined },
  ask: (operations: BoundOperations) => Promise<{ question: string; work: () => Promise<Tag> }>,
): Promise<void> {
  const item = await asAdministrator(cli, project, async (operations) => {
    const { question, work } = await ask(operations);
    return yes === true || (await confirm(cli, question, "--yes")) ? work() : null;
  });
  cli.terminal.show({ ok: item !== null, project, item }, () => (item === null ? "Nothing was changed." : "Done."));
}

const remove = defineCommand({
  description: "delete a managed tag, and remove it from tickets",
  args: TAG,
  options: { project: projectOption, yes: yesOption },
  examples: ["tags remove refund --yes"],
  run: (cli, { tag: named, project, yes }) =>
    afterConfirmation(cli, { project, yes }, async (operations) => {
      const { id, name, version } = await getTagNamed(operations, named);
      return {
        question: `Delete ${safeLine(name)} and remove it from all tickets?`,
        work: () => operations.deleteTag({ id, versions: [version] }),
      };
    }),
});

const merge = defineCommand({
  description: "merge another managed tag into a tag, permanently",
  args: { ...TAG, "<other>": "name or ID of the tag that becomes part of it" },
  options: { project: projectOption, yes: yesOption },
  examples: ["tags merge Refund money-back --yes"],
  run: (cli, { tag: named, other, project, yes }) =>
    afterConfirmation(cli, { project, yes }, async (operations) => {
      const [into, from] = [await getTagNamed(operations, named), await getTagNamed(operations, other)];
      return {
        question: `Merge ${safeLine(from.name)} into ${safeLine(into.name)}?`,
        work: () => operations.mergeTag(into.id, { tagId: from.id }),
      };
    }),
});

/** `svc tags`: tags with colors, and their names on tickets. */
export const tags = defineCommand({ commands: { list, create, update, merge, remove } });
