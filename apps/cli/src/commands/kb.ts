import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import type { AddOptions } from "../kb/run-add.ts";
import type { ListOptions } from "../kb/run-list.ts";
import type { RemoveOptions } from "../kb/run-remove.ts";
import type { SearchOptions } from "../kb/run-search.ts";
import type { SyncOptions } from "../kb/run-sync.ts";
import { jsonOption, projectOption, wholeNumber } from "../options.ts";

/** Bounds of the contract, `KB_LIMITS`, which is not loaded before a command runs; a test compares them. */
export const KB_BOUNDS = { maxPages: 10_000, defaultPages: 1_000, maxHits: 50, defaultHits: 5 } as const;

/** Not the one with the product's own guide: who asks about a shop should not read how this service is run. */
const DEFAULT_KB = "documents";

function parseSitemap(text: string, before: string[]): string[] {
  if (URL.canParse(text) && ["http:", "https:"].includes(new URL(text).protocol)) return [...before, text];
  throw new InvalidArgumentError("An address such as https://example.com/sitemap.xml is needed.");
}

const kbOption = (description: string) => new Option("--kb <name>", description);

const maxPagesOption = () =>
  new Option("--max-pages <number>", `most pages of a site, at most ${KB_BOUNDS.maxPages}`)
    .argParser(wholeNumber(1, KB_BOUNDS.maxPages))
    .default(KB_BOUNDS.defaultPages, String(KB_BOUNDS.defaultPages));

function addAdd(kb: Command, cli: Cli): void {
  kb.command("add")
    .description("add files, folders, web pages or whole sites to a knowledge base")
    .argument("[source...]", "files, folders with all that is in them, and addresses of pages")
    .addOption(kbOption("knowledge base; it is made when there is none").default(DEFAULT_KB))
    .addOption(
      new Option("--sitemap <address>", "sitemap of a site, or the site itself; can be given several times")
        .argParser(parseSitemap)
        .default([], "none"),
    )
    .addOption(maxPagesOption())
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Reads Markdown, text, HTML, PDF, Word (.docx), Excel (.xlsx) and CSV, at most 50 MB a file. Of folders, hidden files,
node_modules, links that lead out of the folder and files with other endings are left out. A file is known by its path from the current folder, a page by
its address: added again, it replaces itself, and an unchanged one is left alone. It can be found at once; nothing has
to be started again. What cannot be read is named with the reason, the others are added, and the exit code is 1. After
Ctrl-C the same command goes on where it was.

A knowledge base that no agent answers from is given to the first agent while that has nothing but the product's own
guide, which it then answers from no more; else it is said how an agent gets it (agents change).

Pages are fetched from public addresses, and from those that SVC_FETCH_ALLOW names; two a second from one site. Of a
sitemap, the pages of its own site are taken that its robots.txt leaves to svc-fetch.

Examples:
  ${cli.self} kb add handbook.md prices.xlsx
  ${cli.self} kb add docs https://example.com/help.html --kb handbook
  ${cli.self} kb add --sitemap https://docs.example.com --kb docs
  ${cli.self} kb add docs --kb handbook --project shop --json`,
    )
    .action(async (words: string[], options: AddOptions) => {
      if (words.length === 0 && options.sitemap.length === 0) {
        throw new CliError(
          "usage",
          EXIT.usage,
          "Say what to add: files, folders, addresses or --sitemap. See: kb add --help",
        );
      }
      const { runAdd } = await import("../kb/run-add.ts");
      await runAdd(cli, words, options);
    });
}

function addSync(kb: Command, cli: Cli): void {
  kb.command("sync")
    .description("keep a knowledge base in step with a folder or a site: add, replace and remove")
    .argument("<source>", "a folder, or the address of a sitemap or site")
    .addOption(kbOption("knowledge base; it is made when there is none").default(DEFAULT_KB))
    .option("--dry-run", "say what would be added and removed, and change nothing")
    .option("--yes", "do not ask before more than half of the documents of the source are removed")
    .addOption(maxPagesOption())
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Does what kb add does, and removes the documents of this source that it does not hold any more: those whose path begins
with that of the folder (run it from the same place each time), or the pages in the folder of the sitemap and below it.
Other documents stay, and so do those whose file is still there though it was left out, or whose page robots.txt forbids.
Where the source is empty, cannot be reached or was not seen in full, nothing is removed, and the exit code is 1. Before
it removes more than half of what a source has brought, and more than 10 documents, it asks, or needs --yes.

Examples:
  ${cli.self} kb sync docs --kb handbook --dry-run
  ${cli.self} kb sync docs --kb handbook
  ${cli.self} kb sync https://docs.example.com --kb docs`,
    )
    .action(async (source: string, options: SyncOptions) => {
      const { runSync } = await import("../kb/run-sync.ts");
      await runSync(cli, source, options);
    });
}

function addList(kb: Command, cli: Cli): void {
  kb.command("list")
    .description("show the knowledge bases of a project, or the documents of one")
    .addOption(kbOption("the knowledge base whose documents are shown"))
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText("after", `\nExamples:\n  ${cli.self} kb list\n  ${cli.self} kb list --kb documents --json`)
    .action(async (options: ListOptions) => {
      const { runList } = await import("../kb/run-list.ts");
      await runList(cli, options);
    });
}

function addSearch(kb: Command, cli: Cli): void {
  kb.command("search")
    .description("show the passages that match a question best, as agents find them")
    .argument("<query>", "a question or some words")
    .addOption(kbOption("knowledge base to search (default: all of the project)"))
    .addOption(
      new Option("--limit <number>", `most passages, at most ${KB_BOUNDS.maxHits}`)
        .argParser(wholeNumber(1, KB_BOUNDS.maxHits))
        .default(KB_BOUNDS.defaultHits, String(KB_BOUNDS.defaultHits)),
    )
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The exit code is 0 also when nothing matches.

Examples:
  ${cli.self} kb search "How long is the guarantee?"
  ${cli.self} kb search guarantee --kb handbook --limit 10 --json`,
    )
    .action(async (query: string, options: SearchOptions) => {
      const { runSearch } = await import("../kb/run-search.ts");
      await runSearch(cli, query, options);
    });
}

function addRemove(kb: Command, cli: Cli): void {
  kb.command("remove")
    .description("take documents out of a knowledge base")
    .argument("[document...]", "paths or addresses as they were added, or ids; kb list shows both")
    .addOption(kbOption("the knowledge base").makeOptionMandatory())
    .option("--all", "all documents of the knowledge base")
    .option("--yes", "with --all: do not ask")
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
They are found no more at once. The files themselves stay where they are. The exit code is 1 when there is no such
document; the others are removed.

Examples:
  ${cli.self} kb remove handbook.md https://example.com/help.html --kb documents
  ${cli.self} kb remove --all --kb handbook --yes`,
    )
    .action(async (words: string[], options: RemoveOptions) => {
      const { runRemove } = await import("../kb/run-remove.ts");
      await runRemove(cli, words, options);
    });
}

/** `svc kb`: gives knowledge bases documents to answer from, and shows, searches and removes what is in them. */
export function addKb(program: Command, cli: Cli): void {
  const kb = program
    .command("kb")
    .description("knowledge bases: add, sync, list, search and remove documents")
    .usage("<add|sync|list|search|remove> [options]");
  addAdd(kb, cli);
  addSync(kb, cli);
  addList(kb, cli);
  addSearch(kb, cli);
  addRemove(kb, cli);
}
