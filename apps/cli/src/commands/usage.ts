import { asAdministrator } from "../as-administrator.ts";
import { defineCommand } from "../define-command.ts";
import { definedOnly, flag, option } from "../options.ts";
import { renderTable } from "../render-table.ts";

const COLUMNS = ["DAY", "PROJECT", "MESSAGES", "DOCUMENTS", "STORED MB", "SOCKETS", "MODEL TOKENS"];
const MB = 1024 * 1024;

/** `svc usage`: usage of projects by day. */
export const usage = defineCommand({
  options: {
    from: option("--from <day>", "first day (UTC; default: 30 days before the last one)"),
    to: option("--to <day>", "last day, inclusive (UTC; default: today)"),
    of: option("--of <project>", "only this project (default: all projects)"),
    csv: flag("--csv", "print CSV"),
  },
  examples: ["usage", "usage --of shop --from 2026-11-01 --to 2026-11-30", "usage --csv > usage.csv"],
  async run(cli, { from, to, of, csv }) {
    const query = definedOnly({ from, to, project: of });
    if (csv === true) {
      const { content } = await asAdministrator(cli, undefined, ({ exportUsage }) => exportUsage(query));
      const text = content.toString();
      cli.terminal.show({ ok: true, csv: text }, () => text.trimEnd());
      return;
    }
    const found = await asAdministrator(cli, undefined, ({ getUsage }) => getUsage(query));
    cli.terminal.show({ ok: true, ...found }, () =>
      renderTable(
        COLUMNS,
        found.items.map(({ day, project, messages, documents, storedBytes, sockets, modelTokens }) => [
          day,
          project,
          ...[messages, documents].map(String),
          (storedBytes / MB).toFixed(1),
          ...[sockets, modelTokens].map(String),
        ]),
        cli.terminal.width,
      ),
    );
  },
});
