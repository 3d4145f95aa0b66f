import { sumAnswerCounts } from "@svc/contracts";
import type { AnswerCounts, AnswerStats } from "@svc/contracts";
import { renderFacts } from "../render-facts.ts";
import { renderTable } from "../render-table.ts";
import { safeLine } from "../safe-text.ts";
import type { Terminal } from "../terminal.ts";

type AgentStats = AnswerStats["agents"][number];

const NAME_CHARS = 40;
/** Thresholds that are compared, in percent. */
const THRESHOLDS = [30, 40, 50, 60, 70, 80, 90];

const HEAD = ["ACCEPTED", "EDITED", "ASKED FOR A PERSON", "NEGATIVE RATING", "REJECTED", "PENDING"];
const cellsOf = ({ accepted, edited, askedPerson, ratedBadly, rejected, undecided }: AnswerCounts) =>
  [accepted, edited, askedPerson, ratedBadly, rejected, undecided].map(String);
const share = (part: number, whole: number) => (whole === 0 ? "" : ` (${Math.round((100 * part) / whole)} %)`);
const nameOf = ({ agentId, name }: AgentStats) => safeLine(name ?? `${agentId} (deleted)`, NAME_CHARS);

/** What each threshold would have sent of an agent's answers, and what became of these. */
function renderThresholds(agent: AgentStats, width: number): string {
  const rows = THRESHOLDS.map((threshold) => {
    const sent = sumAnswerCounts(agent.byConfidence.filter(({ percent }) => percent >= threshold));
    return [`${threshold} %`, `${sent.answers}${share(sent.answers, agent.answers)}`, ...cellsOf(sent)];
  });
  return renderTable([`THRESHOLD (${nameOf(agent)})`, "WOULD SEND", ...HEAD], rows, width);
}

/** What became of the agents' answers, as a person reads it; of a single agent also what other thresholds would have sent. */
export function renderAnswerStats({ from, to, agents }: AnswerStats, { width }: Terminal): string {
  const [first] = agents;
  if (first === undefined) return `No agent has answered from ${from} to ${to}.`;
  const rows = agents.map((agent) => [
    nameOf(agent),
    agent.autoThreshold === null ? "-" : `${Math.round(agent.autoThreshold * 100)} %`,
    String(agent.answers),
    `${agent.automatic}${share(agent.automatic, agent.answers)}`,
    ...cellsOf(agent),
  ]);
  return [
    renderFacts([
      ["from", from],
      ["to", to],
    ]),
    "",
    renderTable(["AGENT", "THRESHOLD", "ANSWERS", "AUTOMATIC", ...HEAD], rows, width),
    ...(agents.length === 1 ? ["", renderThresholds(first, width)] : []),
  ].join("\n");
}
