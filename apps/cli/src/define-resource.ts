import type { ListPage } from "@svc/contracts";
import { asAdministrator } from "./as-administrator.ts";
import type { BoundOperations } from "./as-administrator.ts";
import { defineCommand } from "./define-command.ts";
import type { CommandDefinition, OptionValues, Options } from "./define-command.ts";
import { cursorOption, limitOption, projectOption } from "./options.ts";
import { nextPage, renderTable } from "./render-table.ts";
import { optionWords } from "./terminal.ts";
import type { Paint, Terminal } from "./terminal.ts";

/** Common fields of the commands of a resource. */
interface ResourceCommand {
  description: string;
  examples: readonly string[];
  /** True if the items belong to a project, selected by `--project`. */
  isOfProject: boolean;
}

/** Definition of a list: the source of its items, and the columns of its table. */
interface ListDefinition<Item, Given extends Options> extends ResourceCommand {
  /** The words of the command. */
  path: string;
  /** Filters. */
  options?: Given;
  /** True if it is paged, with `--limit` and `--cursor`. */
  isPaged?: boolean;
  read: (
    operations: BoundOperations,
    input: OptionValues<Given> & { limit: number; cursor: string | undefined },
  ) => Promise<ListPage<Item> | Item[]>;
  columns: string[];
  row: (item: Item, paint: Paint) => string[];
  /** Text if there are no items. */
  empty: string | ((input: OptionValues<Given>) => string);
}

/** Options that a command only has if its definition enables them. */
interface SharedInput {
  project: string;
  limit: number;
  cursor: string | undefined;
}

/** Returns the command that lists the items of a resource. */
export function defineList<Item, const Given extends Options>(
  definition: ListDefinition<Item, Given>,
): CommandDefinition {
  const { path, isPaged = false, isOfProject, options, read, columns, row, empty, ...texts } = definition;
  return defineCommand({
    ...texts,
    options: {
      ...options,
      ...(isPaged ? { limit: limitOption, cursor: cursorOption } : {}),
      ...(isOfProject ? { project: projectOption } : {}),
    },
    async run(cli, values) {
      const input = values as OptionValues<Given> & SharedInput;
      const ofProject = isOfProject ? { project: input.project } : {};
      const found = await asAdministrator(cli, ofProject.project, (operations) => read(operations, input));
      const { items, nextCursor } = Array.isArray(found) ? { items: found, nextCursor: null } : found;
      cli.terminal.show({ ok: true, ...ofProject, items, ...(isPaged ? { nextCursor } : {}) }, () => {
        if (items.length === 0) return typeof empty === "string" ? empty : empty(input);
        const { paint, width } = cli.terminal;
        const table = renderTable(
          columns,
          items.map((item) => row(item, paint)),
          width,
        );
        const filters = Object.fromEntries(Object.keys(options ?? {}).map((name) => [name, input[name]]));
        const words = optionWords({ ...(filters as Record<string, string>), ...ofProject, limit: input.limit });
        return table + nextPage(cli, `${path} ${words}`, nextCursor);
      });
    },
  });
}

/** Definition of showing one item: how to find and show it. */
interface ShowDefinition<Item, Name extends string> extends ResourceCommand {
  /** The argument that names the item, with its text. */
  args: Readonly<Record<`<${Name}>`, string>>;
  /** Returns the item that the argument names. Throws CliError or ServiceError `not_found`. */
  find: (operations: BoundOperations, named: string) => Promise<Item>;
  /** Throws CliError `usage` for what cannot name an item. */
  check?: (named: string) => void;
  render: (item: Item, terminal: Terminal) => string;
}

/** Returns the command that shows one item of a resource. */
export function defineShow<Item, const Name extends string>({
  isOfProject,
  find,
  check,
  render,
  ...texts
}: ShowDefinition<Item, Name>): CommandDefinition {
  const [argument = ""] = Object.keys(texts.args);
  return defineCommand({
    ...texts,
    options: isOfProject ? { project: projectOption } : {},
    async run(cli, values) {
      const input = values as Readonly<Record<string, string>>;
      const named = input[argument.slice(1, -1)] ?? "";
      check?.(named);
      const ofProject = isOfProject ? { project: input["project"] } : {};
      const item = await asAdministrator(cli, ofProject.project, (operations) => find(operations, named));
      cli.terminal.show({ ok: true, ...ofProject, item }, () => render(item, cli.terminal));
    },
  });
}
