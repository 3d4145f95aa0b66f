import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { jsonOption, limitOption, urlOption } from "../options.ts";

interface ListOptions {
  q?: string;
  limit: number;
  cursor?: string;
  url?: string;
}

async function list(cli: Cli, { q, limit, cursor, url }: ListOptions): Promise<void> {
  const [{ withClient }, { makeApiTarget }, { renderModels, renderUnreachable }] = await Promise.all([
    import("../api-client.ts"),
    import("../api-target.ts"),
    import("../models/render-models.ts"),
  ]);
  const target = await makeApiTarget(cli, url === undefined ? {} : { url });
  const query = { limit, ...(q === undefined ? {} : { q }), ...(cursor === undefined ? {} : { cursor }) };
  const page = await withClient(target, (client) => client.call("listModels", { query }));
  cli.terminal.show(page, () => {
    const { items, nextCursor, unreachable } = page;
    const none = "There are no models. Name a server that has some with SVC_LLM_BASE_URL; see docs/models.md.";
    return [
      ...(items.length === 0 && unreachable.length === 0
        ? [q === undefined ? none : "No model has this in its id."]
        : []),
      ...(items.length === 0 ? [] : [renderModels(items, cli.terminal)]),
      ...renderUnreachable(unreachable),
      ...(nextCursor === null
        ? []
        : ["", `There are more:  ${cli.self} models list --limit ${limit} --cursor ${nextCursor}`]),
    ].join("\n");
  });
}

/** Providers by whose names ids begin; what begins with none of them is a name at Ollama. */
const PROVIDER = /^(?:ollama|openai|anthropic):/;

const idOf = (name: string) => (PROVIDER.test(name) ? name : `ollama:${name}`);

interface PullOptions {
  cancel?: true;
  url?: string;
}

/** Calls that may be cut while a model is pulled, in a row. */
const MAX_RETRIES = 5;

async function cancel(cli: Cli, catalogId: string, options: PullOptions): Promise<void> {
  const [{ withClient }, { makeApiTarget }, { safeLine }] = await Promise.all([
    import("../api-client.ts"),
    import("../api-target.ts"),
    import("../safe-text.ts"),
  ]);
  const target = await makeApiTarget(cli, options);
  const cancelled = await withClient(target, (client) => client.call("cancelPull", { params: { catalogId } }));
  cli.terminal.show(
    cancelled,
    () => `Cancelled: ${safeLine(cancelled.catalogId)}. What was downloaded is kept for a while.`,
  );
}

async function pull(cli: Cli, name: string, options: PullOptions): Promise<void> {
  const catalogId = idOf(name);
  if (options.cancel === true) return cancel(cli, catalogId, options);
  const [
    { withClient },
    { makeApiTarget },
    { watchPull },
    { watchInterrupt },
    { safeLine },
    { shellWord },
    { renderSize },
  ] = await Promise.all([
    import("../api-client.ts"),
    import("../api-target.ts"),
    import("../models/watch-pull.ts"),
    import("../watch-interrupt.ts"),
    import("../safe-text.ts"),
    import("../shell-word.ts"),
    import("../models/render-size.ts"),
  ]);
  const target = await makeApiTarget(cli, options);
  const interrupt = watchInterrupt();
  try {
    const last = await withClient(
      target,
      (client) => watchPull(cli.terminal, client.pullModel(catalogId, { signal: interrupt.signal })),
      { maxRetries: MAX_RETRIES },
    );
    const { completedBytes = 0, totalBytes = null, catalogId: id = catalogId } = last ?? {};
    cli.terminal.show({ ok: true, catalogId: id, status: "success", completedBytes, totalBytes }, () =>
      [
        `Installed: ${safeLine(id)}${completedBytes === 0 ? "" : ` (${renderSize(completedBytes)})`}`,
        cli.terminal.paint.dim("Agents use it that name it as their model; SVC_LLM_MODEL is for those that name none."),
      ].join("\n"),
    );
  } catch (error) {
    if (interrupt.hasHappened()) {
      const word = shellWord(safeLine(name));
      cli.terminal.note(
        `The pull goes on without you.\nWatch it again:  ${cli.self} models pull ${word}\nEnd it:  ${cli.self} models pull ${word} --cancel`,
      );
    }
    throw error;
  } finally {
    interrupt.release();
  }
}

/** `svc models list|pull`: the language models that there are, and pulling them to Ollama. */
export function addModels(program: Command, cli: Cli): void {
  const models = program
    .command("models")
    .description("language models: which there are, and pull them to Ollama")
    .usage("<list|pull> [options]");
  models
    .command("list")
    .description("show the models of every configured provider, and those that Ollama can install")
    .option("--q <text>", "only those with this text in their id")
    .addOption(limitOption())
    .option("--cursor <text>", "go on after an earlier page, with its nextCursor")
    .addOption(urlOption())
    .addOption(jsonOption())
    .addHelpText("after", `\nExamples:\n  ${cli.self} models list\n  ${cli.self} models list --q llama --json`)
    .action((options: ListOptions) => list(cli, options));
  models
    .command("pull")
    .description("pull a model to Ollama and watch how far it is; Ctrl-C ends the watching, not the pull")
    .argument("<name>", "its name at Ollama, or its id in the list")
    .option("--cancel", "end the pull that goes on")
    .addOption(urlOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
However many ask for a model, it is pulled once. A pull that was cut off or cancelled goes on where it was.

Examples:
  ${cli.self} models pull llama3.2:3b
  ${cli.self} models pull hf.co/bartowski/Llama-3.2-1B-Instruct-GGUF:Q4_K_M
  ${cli.self} models pull llama3.2:3b --cancel`,
    )
    .action((name: string, options: PullOptions) => pull(cli, name, options));
}
