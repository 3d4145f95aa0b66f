import { Option } from "commander";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { jsonOption, limitOption, urlOption } from "../options.ts";

interface ListOptions {
  /** Deprecated name of `search`. */
  q?: string;
  search?: string;
  limit: number;
  cursor?: string;
  url?: string;
}

async function list(cli: Cli, { search, q = search, limit, cursor, url }: ListOptions): Promise<void> {
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
    const none = "No models found. Set a model server with SVC_LLM_BASE_URL; see docs/models.md.";
    return [
      ...(items.length === 0 && unreachable.length === 0
        ? [q === undefined ? none : "No model matches this text."]
        : []),
      ...(items.length === 0 ? [] : [renderModels(items, cli.terminal)]),
      ...renderUnreachable(unreachable),
      ...(nextCursor === null
        ? []
        : ["", `Next page:  ${cli.self} models list --limit ${limit} --cursor ${nextCursor}`]),
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
    () => `Cancelled: ${safeLine(cancelled.catalogId)}. Downloaded data is kept for a while.`,
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
        cli.terminal.paint.dim(
          "To use it, set it as the model of an agent. SVC_LLM_MODEL is the default for agents without one.",
        ),
      ].join("\n"),
    );
  } catch (error) {
    if (interrupt.hasHappened()) {
      const word = shellWord(safeLine(name));
      cli.terminal.note(
        `The pull continues in the background.\nFollow it:  ${cli.self} models pull ${word}\nCancel it:  ${cli.self} models pull ${word} --cancel`,
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
    .description("list language models and pull them to Ollama")
    .usage("<list|pull> [options]");
  models
    .command("list")
    .description("list the models of every configured provider, and those that Ollama can install")
    .option("--search <text>", "only models with this text in their ID")
    .addOption(new Option("--q <text>", "deprecated: use --search").hideHelp())
    .addOption(limitOption())
    .option("--cursor <text>", "nextCursor of the previous page")
    .addOption(urlOption())
    .addOption(jsonOption())
    .addHelpText("after", `\nExamples:\n  ${cli.self} models list\n  ${cli.self} models list --search llama --json`)
    .action((options: ListOptions) => list(cli, options));
  models
    .command("pull")
    .description("pull a model to Ollama and show the progress (Ctrl-C does not cancel the pull)")
    .argument("<name>", "name of the model at Ollama, or its ID in the list")
    .option("--cancel", "cancel the running pull")
    .addOption(urlOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
A model is pulled only once, regardless of the number of requests. An interrupted or cancelled pull resumes where it
stopped.
Examples:
  ${cli.self} models pull llama3.2:3b
  ${cli.self} models pull hf.co/bartowski/Llama-3.2-1B-Instruct-GGUF:Q4_K_M
  ${cli.self} models pull llama3.2:3b --cancel`,
    )
    .action((name: string, options: PullOptions) => pull(cli, name, options));
}
