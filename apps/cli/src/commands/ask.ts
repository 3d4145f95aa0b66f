import { LIMITS } from "@svc/contracts";
import type { DrainAnswer } from "@svc/contracts";
import { makeApiTarget, postMessage, withClient } from "../api-client.ts";
import type { SyncMessage } from "../api-client.ts";
import { usageError } from "../cli.ts";
import type { Cli } from "../cli.ts";
import { defineCommand } from "../define-command.ts";
import type { OptionValues } from "../define-command.ts";
import { definedOnly, option, secondsBetween, urlOption, withDefault } from "../options.ts";
import { renderReplies } from "../render-table.ts";
import { optionWords, safeLine } from "../terminal.ts";

const DEFAULT_TIMEOUT_MS = 30_000;
const MIN_TIMEOUT_S = 0.001;

const OPTIONS = {
  chat: option("--chat <id>", "continue a conversation"),
  timeout: withDefault(
    option(
      "--timeout <seconds>",
      "how long to wait for the answer",
      secondsBetween(MIN_TIMEOUT_S, LIMITS.timeoutMaxMs / 1_000),
    ),
    DEFAULT_TIMEOUT_MS,
    String(DEFAULT_TIMEOUT_MS / 1_000),
  ),
  url: urlOption,
  project: option("--project <name>", "project to ask (requires an administrator's key)"),
};

/** Advice if there is no answer yet, or not from an agent. */
const LATER: Partial<Record<SyncMessage["status"], string>> = {
  pending: "The answer is not ready yet. It is buffered until you collect it.",
  in_review: "An operator must review the answer first.",
};

/** Returns why there is no answer, and none will follow. */
function explainSilence(posted: SyncMessage): string | null {
  if (posted.status === "rejected") return "An operator decided not to answer.";
  const isCovered = posted.status === "answered" && posted.coveredBy !== undefined;
  return isCovered ? "The reply to a later message in this chat also answers this message." : null;
}

function renderPosted(
  { terminal, self }: Cli,
  posted: SyncMessage,
  { project, url }: OptionValues<typeof OPTIONS>,
): string {
  // A chat only exists in its project, and on the called service.
  const command = `${self} ask ${optionWords({ chat: posted.chatId, project, url })}`;
  const later = LATER[posted.status];
  const silence = explainSilence(posted);
  return [
    ...(posted.replies.length === 0 ? [] : [renderReplies(posted.replies, terminal.paint), ""]),
    ...(silence === null ? [] : [silence, ""]),
    ...(later === undefined ? [] : [later, `Check again:  ${command}`, ""]),
    `Chat ${safeLine(posted.chatId)}`,
    terminal.paint.dim(`Continue:     ${command} "…"`),
  ].join("\n");
}

function renderDrained({ terminal }: Cli, drained: DrainAnswer): string {
  if (drained.replies.length === 0) return "There are no new replies in this chat.";
  const rest = drained.more ? ["", "There are more replies. Run the command again."] : [];
  return [renderReplies(drained.replies, terminal.paint), ...rest].join("\n");
}

/** `svc ask`: sends a message to the running service and shows the answer with its sources. */
export const ask = defineCommand({
  args: { "[text]": "the question; if omitted, the new replies of --chat are collected" },
  options: OPTIONS,
  about: `The exit code is 0 if the message was accepted, even if its answer is not ready in time or is held for review.
With --json, "status" is answered, pending, in_review or rejected.`,
  examples: [
    'ask "How do I send a message over the HTTP API?"',
    'ask --chat 42 "And how do I get the reply?"',
    "ask --chat 42 --timeout 60          wait for a late answer",
    'ask --json "What is a chat?"',
  ],
  async run(cli, input) {
    const { text, chat, timeout } = input;
    if (text === undefined && chat === undefined) {
      const example = `${cli.self} ask "How do I send a message over the HTTP API?"`;
      throw usageError(`Enter a question, for example: ${example}`);
    }
    const target = await makeApiTarget(cli, input);
    if (text === undefined && chat !== undefined) {
      const waitMs = Math.min(timeout, LIMITS.waitMaxMs);
      const drained = await withClient(target, (client) => client.drain(chat, { waitMs }));
      cli.terminal.show(drained, () => renderDrained(cli, drained));
      return;
    }
    const message = { text: text ?? "", timeoutMs: timeout, ...definedOnly({ chatId: chat }) };
    const posted = await postMessage(target, message);
    cli.terminal.show(posted, () => renderPosted(cli, posted, input));
  },
});
