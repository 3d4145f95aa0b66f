import type { PullProgress } from "@svc/client";
import { modelApiSchema } from "@svc/contracts";
import type { Model, ModelPullProgress, ModelSettings } from "@svc/contracts";
import { makeApiTarget, withClient } from "../api-client.ts";
import { asAdministrator } from "../as-administrator.ts";
import { EXIT, watchInterrupt } from "../cli.ts";
import type { Cli } from "../cli.ts";
import { defineCommand } from "../define-command.ts";
import { choice, cursorOption, definedOnly, flag, limitOption, option, urlOption } from "../options.ts";
import { readText } from "../read-input.ts";
import { nextPage, renderTable } from "../render-table.ts";
import { safeLine, shellWord } from "../terminal.ts";
import type { Terminal } from "../terminal.ts";

const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;

/** Returns a size as providers write it: 2.0 GB, 815 MB. */
export function renderSize(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), UNITS.length - 1);
  const amount = bytes / 1_000 ** power;
  return `${amount < 10 && power > 0 ? amount.toFixed(1) : Math.round(amount)} ${UNITS[power]}`;
}

/** Returns the progress of a pull in whole percent, never rounded up to 100; null if unknown. */
export function percentOf({ completedBytes, totalBytes }: ModelPullProgress): number | null {
  if (totalBytes === null) return null;
  return totalBytes === 0 ? 100 : Math.floor((100 * Math.min(completedBytes, totalBytes)) / totalBytes);
}

const BAR_CHARS = 24;
const STATUS_CHARS = 40;

/** Returns the progress of a pull as one line with a bar. */
export function renderProgress(progress: ModelPullProgress): string {
  const { status, completedBytes, totalBytes } = progress;
  const percent = percentOf(progress);
  const words = safeLine(status, STATUS_CHARS);
  if (percent === null || totalBytes === null) return words;
  const full = Math.floor((BAR_CHARS * percent) / 100);
  const bar = `[${"#".repeat(full)}${".".repeat(BAR_CHARS - full)}]`;
  return `${bar} ${String(percent).padStart(3)} %  ${renderSize(completedBytes)} of ${renderSize(totalBytes)}  ${words}`;
}

function stateOf({ local, installed, pull: running }: Model): string {
  if (running !== null) {
    const percent = percentOf(running);
    return percent === null ? "being pulled" : `being pulled: ${percent} %`;
  }
  if (installed) return local ? "installed" : "hosted";
  return "not installed";
}

function renderModels(models: readonly Model[], { paint, width }: Terminal): string {
  const rows = models.map((model) => {
    const { catalogId, sizeBytes, contextWindow } = model;
    const state = stateOf(model);
    return [
      safeLine(catalogId),
      sizeBytes === null ? "" : renderSize(sizeBytes),
      contextWindow === null ? "" : String(contextWindow),
      model.installed ? paint.green(state) : state,
    ];
  });
  return renderTable(["MODEL", "SIZE", "CONTEXT", "STATE"], rows, width);
}

const list = defineCommand({
  description: "list the models of every configured provider, and those that Ollama can install",
  options: {
    search: option("--search <text>", "only models with this text in their ID"),
    q: option("--q <text>", "deprecated: use --search").hideHelp(),
    limit: limitOption,
    cursor: cursorOption,
    url: urlOption,
  },
  examples: ["models list", "models list --search llama --json"],
  async run(cli, { search, q = search, limit, cursor, url }) {
    const target = await makeApiTarget(cli, { url });
    const query = { limit, ...definedOnly({ q, cursor }) };
    const page = await withClient(target, (client) => client.call("listModels", { query }));
    cli.terminal.show(page, () => {
      const { items, nextCursor, unreachable } = page;
      const none = "No models found. Set a model server: svc models set-server --help";
      const lines = [
        ...(items.length === 0 && unreachable.length === 0
          ? [q === undefined ? none : "No model matches this text."]
          : []),
        ...(items.length === 0 ? [] : [renderModels(items, cli.terminal)]),
        ...unreachable.map(({ detail }) => `Missing: ${safeLine(detail)}`),
      ];
      return lines.join("\n") + nextPage(cli, `models list --limit ${limit}`, nextCursor);
    });
  },
});

/** Providers that an ID may begin with; any other ID is a name at Ollama. */
const PROVIDER = /^(?:ollama|openai|anthropic):/;

/** Maximum number of consecutive dropped calls while a model is pulled. */
const MAX_RETRIES = 5;

/** Without a terminal, a line is logged at each step of this many percent. */
const STEP_PERCENT = 10;

/** Returns a function that formats the progress as a line; null if the line is the same as the last one. */
function createLines(): (progress: ModelPullProgress) => string | null {
  let last = "";
  return (progress) => {
    const percent = percentOf(progress);
    const { status, totalBytes } = progress;
    const isDownload = percent !== null && percent < 100 && totalBytes !== null;
    const step = isDownload ? Math.floor(percent / STEP_PERCENT) * STEP_PERCENT : null;
    const line = step === null ? safeLine(status) : `${step} % of ${renderSize(totalBytes ?? 0)}`;
    if (line === last) return null;
    last = line;
    return line;
  };
}

/**
 * Shows the progress of a pull until it ends: a bar on a terminal, lines elsewhere, nothing with `--json`. Returns the last
 * progress. Rejects as the iterable does.
 */
async function watchPull(terminal: Terminal, pulling: AsyncIterable<PullProgress>): Promise<PullProgress | null> {
  const nextLine = createLines();
  let last: PullProgress | null = null;
  try {
    for await (const progress of pulling) {
      last = progress;
      if (terminal.isWatched) terminal.status(renderProgress(progress));
      else if (!terminal.isJson) {
        const line = nextLine(progress);
        if (line !== null) terminal.note(line);
      }
    }
  } finally {
    terminal.status(null);
  }
  return last;
}

async function cancelPull(cli: Cli, catalogId: string, url: string | undefined): Promise<void> {
  const target = await makeApiTarget(cli, { url });
  const cancelled = await withClient(target, (client) => client.call("cancelPull", { params: { catalogId } }));
  cli.terminal.show(
    cancelled,
    () => `Cancelled: ${safeLine(cancelled.catalogId)}. Downloaded data is kept for a while.`,
  );
}

const pull = defineCommand({
  description: "pull a model to Ollama and show the progress (Ctrl-C does not cancel the pull)",
  args: { "<name>": "name of the model at Ollama, or its ID in the list" },
  options: { cancel: flag("--cancel", "cancel the running pull"), url: urlOption },
  about: `A model is pulled only once, regardless of the number of requests. An interrupted or cancelled pull resumes where it
stopped.`,
  examples: [
    "models pull llama3.2:3b",
    "models pull hf.co/bartowski/Llama-3.2-1B-Instruct-GGUF:Q4_K_M",
    "models pull llama3.2:3b --cancel",
  ],
  async run(cli, { name, cancel, url }) {
    const catalogId = PROVIDER.test(name) ? name : `ollama:${name}`;
    if (cancel === true) return cancelPull(cli, catalogId, url);
    const target = await makeApiTarget(cli, { url });
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
        const command = `${cli.self} models pull ${shellWord(safeLine(name))}`;
        cli.terminal.note(
          `The pull continues in the background.\nFollow it:  ${command}\nCancel it:  ${command} --cancel`,
        );
      }
      throw error;
    } finally {
      interrupt.release();
    }
  },
});

function renderSettings({ source, baseUrl, api, apiKey, model }: ModelSettings): string {
  if (source === null || baseUrl === null)
    return "No model server is set here. Without models of other providers, agents quote their knowledge bases.";
  const key = apiKey === null ? "no API key" : "with an API key";
  const lines = [
    `Server  ${safeLine(baseUrl)} (${api}, ${key})`,
    `Model   ${model === null ? "none; only agents that name a model use one" : safeLine(model)}`,
    ...(source === "environment" ? ["Set by environment variables, which take precedence."] : []),
  ];
  return lines.join("\n");
}

const server = defineCommand({
  description: "show the model server",
  options: {},
  examples: ["models server"],
  async run(cli) {
    const settings = await asAdministrator(cli, undefined, ({ getModelSettings }) => getModelSettings());
    cli.terminal.show(settings, () => renderSettings(settings));
  },
});

const setServer = defineCommand({
  description: "set the model server of the installation; running processes use it within two seconds",
  args: { "<url>": "URL of its API, for example http://localhost:11434/v1" },
  options: {
    model: option("--model <name>", "model of agents that name none"),
    api: choice("--api <api>", "API that the server implements", modelApiSchema.options),
    keyFile: option(
      "--key-file <file>",
      "file with the API key, or - for standard input; a stored key is kept without it",
    ),
    test: flag("--test", "only test the settings, without storing them"),
  },
  examples: [
    "models set-server http://localhost:11434/v1 --model qwen3:8b",
    "models set-server https://api.openai.com/v1 --model gpt-4o-mini --key-file key.txt",
    "models set-server http://localhost:11434/v1 --model qwen3:8b --test",
  ],
  async run(cli, { url: baseUrl, model = null, api, keyFile, test }) {
    const apiKey = keyFile === undefined ? undefined : (await readText(cli, undefined, keyFile)).trim();
    const input = { baseUrl, model, ...definedOnly({ api, apiKey }) };
    await asAdministrator(cli, undefined, async ({ setModelSettings, testModelSettings }) => {
      if (test !== true) {
        const settings = await setModelSettings(input);
        cli.terminal.show(settings, () => renderSettings(settings));
        return;
      }
      const { models: found, problem, ms } = await testModelSettings(input);
      if (problem !== null) cli.setExitCode(EXIT.failed);
      cli.terminal.show({ ok: problem === null, models: found, problem, ms }, () =>
        [
          problem === null ? `${safeLine(model ?? "")} responded in ${ms} ms.` : safeLine(problem),
          ...(found.length === 0 ? [] : [`Models: ${safeLine(found.slice(0, 20).join(", "))}`]),
        ].join("\n"),
      );
    });
  },
});

const removeServer = defineCommand({
  description: "remove the model server; agents quote their knowledge bases from then on",
  options: {},
  examples: ["models remove-server"],
  async run(cli) {
    const settings = await asAdministrator(cli, undefined, ({ removeModelSettings }) => removeModelSettings());
    cli.terminal.show(settings, () => renderSettings(settings));
  },
});

/** `svc models`: language models, their server, and pulling them to Ollama. */
export const models = defineCommand({
  commands: { list, pull, server, "set-server": setServer, "remove-server": removeServer },
});
