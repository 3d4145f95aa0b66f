import type { Command } from "commander";
import type { AddedFile } from "../add-files.ts";
import type { Cli } from "../cli.ts";
import { EXIT } from "../exit-codes.ts";
import { jsonOption, projectOption } from "../options.ts";
import { safeLine } from "../safe-text.ts";

interface AddOptions {
  kb: string;
  project: string;
}

async function add(cli: Cli, files: string[], { kb, project }: AddOptions): Promise<void> {
  const [{ withResources }, { addFiles }, { localPrincipal }, { renderTable }] = await Promise.all([
    import("../with-resources.ts"),
    import("../add-files.ts"),
    import("../local-principal.ts"),
    import("../render-table.ts"),
  ]);
  const { terminal, folder } = cli;
  const added = await withResources(cli, {}, async (resources) =>
    addFiles(resources, await localPrincipal(resources.store, project), { kb, folder, files }),
  );
  const isComplete = added.files.every(({ status }) => status !== "failed");
  if (!isComplete) cli.setExitCode(EXIT.failed);
  if (!added.isUsed) {
    terminal.note(
      `No agent answers from the knowledge base "${safeLine(kb)}" yet. The first agent has the one called guide.`,
    );
  }
  terminal.show({ ok: isComplete, project, kb, files: added.files }, () => {
    const row = (file: AddedFile) =>
      file.status === "failed"
        ? [safeLine(file.file), "", `${terminal.paint.red("failed")}: ${safeLine(file.error)}`]
        : [safeLine(file.file), String(file.chunks), file.status];
    return renderTable(["FILE", "CHUNKS", "RESULT"], added.files.map(row), terminal.width);
  });
}

/** `svc kb add`: gives a knowledge base documents to answer from. */
export function addKb(program: Command, cli: Cli): void {
  const kb = program.command("kb").description("knowledge bases").usage("add <file...> [options]");
  kb.command("add")
    .description("add Markdown or text files to a knowledge base")
    .argument("<file...>", "files that end in .md, .markdown, .txt or .text, in UTF-8")
    .option("--kb <name>", "knowledge base; it is made when there is none", "guide")
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
A file is known by its path from the current folder: added again, it replaces itself, and an unchanged one is left
alone. It can be found at once; nothing has to be started again. A file that cannot be read is named with the reason,
the others are added, and the exit code is 1.

Examples:
  ${cli.self} kb add handbook.md faq.txt
  ${cli.self} kb add docs/*.md --kb handbook --project shop --json`,
    )
    .action((files: string[], options: AddOptions) => add(cli, files, options));
}
