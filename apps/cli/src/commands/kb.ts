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
  throw new InvalidArgumentError("Must be a URL such as https://example.com/sitemap.xml.");
}

const kbOption = (description: string) => new Option("--kb <name>", description);

const maxPagesOption = () =>
  new Option("--max-pages <number>", `maximum number of pages of a site, at most ${KB_BOUNDS.maxPages}`)
    .argParser(wholeNumber(1, KB_BOUNDS.maxPages))
    .default(KB_BOUNDS.defaultPages, String(KB_BOUNDS.defaultPages));

function addAdd(kb: Command, cli: Cli): void {
  kb.command("add")
    .description("add files, folders, web pages or whole sites to a knowledge base")
    .argument("[source...]", "files, folders (recursively), and page URLs")
    .addOption(kbOption("knowledge base; created if it does not exist").default(DEFAULT_KB))
    .addOption(
      new Option("--sitemap <url>", "URL of a sitemap or of a site (repeatable)")
        .argParser(parseSitemap)
        .default([], "none"),
    )
    .addOption(maxPagesOption())
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Reads Markdown, text, HTML, PDF, Word (.docx), Excel (.xlsx) and CSV, at most 50 MB per file. In folders, hidden files,
node_modules, links that lead out of the folder and other file types are skipped. A file is identified by its path from
the current folder, a page by its URL: adding it again replaces it, and unchanged documents are skipped. Documents are
searchable immediately, without a restart. Documents that cannot be read are listed with the reason, the others are
added, and the exit code is 1. After Ctrl-C, the same command resumes.
A new knowledge base is assigned to the first agent while that agent only has the product's own guide, which it replaces;
otherwise, the command shows how to assign it (agents update).
Pages are fetched from public addresses and from those in SVC_FETCH_ALLOW, at most two per second from one site. From a
sitemap, only pages of the same site that its robots.txt allows for svc-fetch are added.
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
          "Specify what to add: files, folders, URLs or --sitemap. See: svc kb add --help",
        );
      }
      const { runAdd } = await import("../kb/run-add.ts");
      await runAdd(cli, words, options);
    });
}

function addSync(kb: Command, cli: Cli): void {
  kb.command("sync")
    .description("synchronize a knowledge base with a folder or a site: add, replace and remove")
    .argument("<source>", "a folder, or the URL of a sitemap or site")
    .addOption(kbOption("knowledge base; created if it does not exist").default(DEFAULT_KB))
    .option("--dry-run", "show what would be added and removed, without changing anything")
    .option("--yes", "skip the confirmation before more than half of the source's documents are removed")
    .addOption(maxPagesOption())
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Works like kb add, and also removes documents that no longer exist in the source: those whose path starts with the
folder (run the command from the same folder each time), or pages at or below the folder of the sitemap. Other documents are not
touched, and neither are documents whose file still exists but was skipped, or whose page robots.txt forbids. If the
source is empty, unreachable or only partially readable, nothing is removed, and the exit code is 1. Before removing more
than half of a source's documents, and more than 10, it asks for confirmation or requires --yes.
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
    .description("list the knowledge bases of a project, or the documents of one")
    .addOption(kbOption("knowledge base whose documents are listed"))
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
    .description("search for passages, as agents do")
    .argument("<query>", "a question or keywords")
    .addOption(kbOption("knowledge base to search (default: all of the project)"))
    .addOption(
      new Option("--limit <number>", `maximum number of passages, at most ${KB_BOUNDS.maxHits}`)
        .argParser(wholeNumber(1, KB_BOUNDS.maxHits))
        .default(KB_BOUNDS.defaultHits, String(KB_BOUNDS.defaultHits)),
    )
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The exit code is 0 even if nothing matches.
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
    .description("remove documents from a knowledge base")
    .argument("[document...]", "paths or URLs as they were added, or IDs; kb list shows both")
    .addOption(kbOption("the knowledge base").makeOptionMandatory())
    .option("--all", "all documents of the knowledge base")
    .option("--yes", "with --all: skip the confirmation")
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Removed documents disappear from search results immediately. The files themselves are not deleted. The exit code is 1 if
a document does not exist; the others are removed.
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
    .description("add, sync, list, search and remove documents in knowledge bases")
    .usage("<add|sync|list|search|remove> [options]");
  addAdd(kb, cli);
  addSync(kb, cli);
  addList(kb, cli);
  addSearch(kb, cli);
  addRemove(kb, cli);
}
