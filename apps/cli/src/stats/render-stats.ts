import type { Stats } from "@svc/contracts";
import { renderFacts } from "../render-facts.ts";
import { renderTable } from "../render-table.ts";
import { safeLine } from "../safe-text.ts";
import type { Terminal } from "../terminal.ts";

const NAME_CHARS = 40;
const QUESTION_CHARS = 200;
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

type Counts = Omit<Stats["byChannel"][number], "channelId">;

/** A span of time as people say it, as in "1.2 s" or "3 min". */
function renderSpan(ms: number | null): string {
  if (ms === null) return "-";
  if (ms < SECOND_MS) return `${ms} ms`;
  if (ms < MINUTE_MS) return `${(ms / SECOND_MS).toFixed(1)} s`;
  if (ms < HOUR_MS) return `${Math.round(ms / MINUTE_MS)} min`;
  return `${(ms / HOUR_MS).toFixed(1)} h`;
}

const share = (part: number, whole: number) => (whole === 0 ? "" : ` (${Math.round((100 * part) / whole)} %)`);

function cellsOf({ messages, automatic, handoffs, edits, firstReplyMs }: Counts): string[] {
  return [
    String(messages),
    `${automatic}${share(automatic, messages)}`,
    String(handoffs),
    String(edits),
    `${renderSpan(firstReplyMs.p50)}, ${renderSpan(firstReplyMs.p90)}`,
  ];
}

const HEAD = ["MESSAGES", "AUTOMATIC", "HANDOFFS", "EDITS", "FIRST REPLY (MEDIAN, P90)"];

/** How a project fared, as a person reads it. */
export function renderStats(stats: Stats, { width }: Terminal): string {
  const { from, to, messages, automatic, handoffs, edits, firstReplyMs, byChannel, byAgent, topUnanswered, models } =
    stats;
  const rows = (table: [name: string, counts: Counts][]) => table.map(([name, counts]) => [name, ...cellsOf(counts)]);
  const agents = byAgent.map((agent): [string, Counts] => {
    const name = agent.name ?? (agent.agentId === null ? "no agent" : `${agent.agentId} (deleted)`);
    return [safeLine(name, NAME_CHARS), agent];
  });
  const channels = byChannel.map((channel): [string, Counts] => [channel.channelId, channel]);
  return [
    renderFacts([
      ["from", from],
      ["to", to],
      ["messages", String(messages)],
      ["answered automatically", `${automatic}${share(automatic, messages)}`],
      ["handed over to a person", `${handoffs}${share(handoffs, messages)}`],
      ["drafts edited", String(edits)],
      [
        "time to first reply",
        `median ${renderSpan(firstReplyMs.p50)}, 90th percentile ${renderSpan(firstReplyMs.p90)}`,
      ],
    ]),
    ...(channels.length === 0 ? [] : ["", renderTable(["CHANNEL", ...HEAD], rows(channels), width)]),
    ...(agents.length === 0 ? [] : ["", renderTable(["AGENT", ...HEAD], rows(agents), width)]),
    ...(models.length === 0
      ? []
      : [
          "",
          renderTable(
            ["LANGUAGE MODEL", "CALLS", "FAILED", "INPUT TOKENS", "OUTPUT TOKENS", "COST"],
            models.map(({ model, calls, faults, inputTokens, outputTokens, costUsd }) => [
              safeLine(model, NAME_CHARS),
              String(calls),
              `${faults}${share(faults, calls)}`,
              String(inputTokens),
              String(outputTokens),
              costUsd === null ? "-" : `$${costUsd.toFixed(2)}`,
            ]),
            width,
          ),
        ]),
    ...(topUnanswered.length === 0
      ? []
      : [
          "",
          renderTable(
            ["COUNT", "LAST ASKED", "QUESTION WITHOUT A GOOD ANSWER"],
            topUnanswered.map(({ question, count, lastAt }) => [
              String(count),
              lastAt.slice(0, 10),
              safeLine(question, QUESTION_CHARS),
            ]),
            width,
          ),
        ]),
  ].join("\n");
}
