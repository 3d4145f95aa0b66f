import { Option } from "commander";
import type { DrainAnswer } from "@svc/contracts";
import type { Command } from "commander";
import type { Posted } from "../api-client.ts";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { jsonOption, secondsBetween, urlOption } from "../options.ts";
import { renderReplies } from "../render-answer.ts";
import { safeLine } from "../safe-text.ts";
import { shellWord } from "../shell-word.ts";

interface AskOptions {
  url?: string;
  chat?: string;
  project?: string;
  /** Milliseconds. */
  timeout: number;
}

const DEFAULT_TIMEOUT_MS = 30_000;
/** Bounds of `timeoutMs` and `wait` (service document, section 8), in seconds. */
const MAX_TIMEOUT_S = 120;
const MAX_WAIT_MS = 60_000;
const MIN_TIMEOUT_S = 0.001;

/** What is to be done when the answer is not there yet, or not from an agent. */
const LATER: Partial<Record<Posted["status"], string>> = {
  pending: "The answer is not ready yet. It is buffered until you collect it.",
  in_review: "An operator must review the answer first.",
};

/** How the conversation is gone on with: a chat belongs to its project, and to where it is asked. */
function goOnWith(self: string, chatId: string, { project, url }: AskOptions): string {
  const options = { chat: chatId, project, url };
  const words = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${shellWord(safeLine(value))}`],
  );
  return [self, "ask", ...words].join(" ");
}

/** Why there is no answer, and none to come. */
function explainSilence(posted: Posted): string | null {
  if (posted.status === "rejected") return "An operator decided not to answer.";
  const isCovered = posted.status === "answered" && posted.coveredBy !== undefined;
  return isCovered ? "The reply to a later message in this chat also answers this message." : null;
}

function renderPosted({ terminal, self }: Cli, posted: Posted, options: AskOptions): string {
  const goOn = goOnWith(self, posted.chatId, options);
  const later = LATER[posted.status];
  const silence = explainSilence(posted);
  return [
    ...(posted.replies.length === 0 ? [] : [renderReplies(posted.replies, terminal.paint), ""]),
    ...(silence === null ? [] : [silence, ""]),
    ...(later === undefined ? [] : [later, `Check again:  ${goOn}`, ""]),
    `Chat ${safeLine(posted.chatId)}`,
    terminal.paint.dim(`Continue:     ${goOn} "…"`),
  ].join("\n");
}

function renderDrained({ terminal }: Cli, drained: DrainAnswer): string {
  if (drained.replies.length === 0) return "There are no new replies in this chat.";
  const rest = drained.more ? ["", "There are more replies. Run the command again."] : [];
  return [renderReplies(drained.replies, terminal.paint), ...rest].join("\n");
}

async function ask(cli: Cli, text: string | undefined, options: AskOptions): Promise<void> {
  const { chat, timeout } = options;
  if (text === undefined && chat === undefined) {
    throw new CliError(
      "usage",
      EXIT.usage,
      `Enter a question, for example: ${cli.self} ask "How do I send a message over the HTTP API?"`,
    );
  }
  const { makeApiTarget } = await import("../api-target.ts");
  const { collectReplies, postMessage } = await import("../api-client.ts");
  const target = await makeApiTarget(cli, options);
  if (text === undefined && chat !== undefined) {
    const drained = await collectReplies(target, chat, Math.min(timeout, MAX_WAIT_MS));
    cli.terminal.show(drained, () => renderDrained(cli, drained));
    return;
  }
  const posted = await postMessage(target, {
    text: text ?? "",
    timeoutMs: timeout,
    ...(chat === undefined ? {} : { chatId: chat }),
  });
  cli.terminal.show(posted, () => renderPosted(cli, posted, options));
}

/** `svc ask`: sends a message to the running product and shows the answer with its sources. */
export function addAsk(program: Command, cli: Cli): void {
  program
    .command("ask")
    .description("ask the running service and show the answer with its sources")
    .argument("[text]", "the question; if omitted, the new replies of --chat are collected")
    .option("--chat <id>", "continue a conversation")
    .addOption(
      new Option("--timeout <seconds>", "how long to wait for the answer")
        .argParser(secondsBetween(MIN_TIMEOUT_S, MAX_TIMEOUT_S))
        .default(DEFAULT_TIMEOUT_MS, String(DEFAULT_TIMEOUT_MS / 1_000)),
    )
    .addOption(urlOption())
    .option("--project <name>", "project to ask (requires an administrator's key)")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The exit code is 0 if the message was accepted, even if its answer is not ready in time or is held for review.
With --json, "status" is answered, pending, in_review or rejected.
Examples:
  ${cli.self} ask "How do I send a message over the HTTP API?"
  ${cli.self} ask --chat 42 "And how do I get the reply?"
  ${cli.self} ask --chat 42 --timeout 60          wait for a late answer
  ${cli.self} ask --json "What is a chat?"`,
    )
    .action((text: string | undefined, options: AskOptions) => ask(cli, text, options));
}
