import type { Cli } from "../cli.ts";
import { safeLine } from "../safe-text.ts";
import { countLines } from "./count-lines.ts";
import { nameOf, withBackup } from "./open-backup.ts";
import { describeRows } from "./watch-tables.ts";

/** `svc backup verify`: whether a file is whole and as it was written. Needs no database and no key. */
export async function runVerify(cli: Cli, file: string): Promise<void> {
  const document = await withBackup(cli, file, async (backup) => {
    const counts: Record<string, number> = {};
    for await (const { table, rows } of backup.tables()) {
      let count = 0;
      for await (const piece of rows) count += countLines(piece);
      counts[table.name] = count;
    }
    const { format, program, takenAt, postgres, migrations } = backup.head;
    const { sha256, tables, rows } = backup.total();
    return { file: nameOf(file), format, program, takenAt, postgres, migrations, tables, rows, sha256, counts };
  });
  cli.terminal.show({ ok: true, ...document }, () => {
    const { green } = cli.terminal.paint;
    const schema = document.migrations.at(-1) ?? "";
    return [
      `${green("complete")}: ${describeRows(document)}, as of ${document.takenAt}`,
      `Written by version ${safeLine(document.program, 60)}, schema ${safeLine(schema, 60)}, from PostgreSQL ${safeLine(document.postgres, 60)}`,
    ].join("\n");
  });
}
