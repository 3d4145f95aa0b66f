import type { ToolCall, ToolCallState } from "@svc/contracts";
import { renderTable } from "../render-table.ts";
import { safeLine } from "../safe-text.ts";
import type { Paint, Terminal } from "../terminal.ts";

const ARGUMENTS_CHARS = 200;
const RESULT_CHARS = 300;
const NAME_CHARS = 80;

const minute = (time: string) => `${time.slice(0, 16).replace("T", " ")} UTC`;

const STATES: Record<ToolCallState, string> = {
  waiting: "waiting for an operator",
  approved: "about to run",
  running: "running",
  done: "done",
  failed: "failed",
  unknown: "unknown whether it was made; check the other system",
  rejected: "not made",
};

/** By whom it was decided; one that nobody has decided about was rejected by what has become of its message. */
function decisionOf({ state, decidedBy }: ToolCall): string {
  if (decidedBy === null) return state === "rejected" ? ", its message no longer needs it" : "";
  return `, ${state === "rejected" ? "rejected" : "approved"} by ${safeLine(decidedBy, NAME_CHARS)}`;
}

/** How far a call is and who has decided about it, in words. */
function stateOf(call: ToolCall, { yellow, red, green }: Paint): string {
  const colours: Partial<Record<ToolCallState, Paint["red"]>> = {
    waiting: yellow,
    done: green,
    failed: red,
    unknown: red,
  };
  const paint = colours[call.state];
  const words = STATES[call.state];
  return `${paint === undefined ? words : paint(words)}${decisionOf(call)}`;
}

const argumentsOf = (call: ToolCall, maxChars: number) => safeLine(JSON.stringify(call.arguments), maxChars);

/** A call with its arguments, and in short what came of it. Texts of strangers are made harmless. */
export function renderToolCall(call: ToolCall, paint: Paint, maxChars = ARGUMENTS_CHARS): string {
  const { id, at, tool, result } = call;
  return [
    `${paint.dim(minute(at))}  ${paint.bold(tool)}  ${stateOf(call, paint)}  ${paint.dim(id)}`,
    `  │ ${argumentsOf(call, maxChars)}`,
    ...(result === null ? [] : [`  │ → ${safeLine(result, RESULT_CHARS)}`]),
  ].join("\n");
}

/** Calls as a table: what each is, how far it is, and for which ticket. */
export function renderToolCalls(calls: readonly ToolCall[], { paint, width }: Terminal): string {
  const rows = calls.map((call) => [
    call.id,
    `${call.tool}\n${paint.dim(call.access)}`,
    [
      stateOf(call, paint),
      argumentsOf(call, ARGUMENTS_CHARS),
      paint.dim(`${minute(call.at)}, ticket ${call.ticketId}`),
    ].join("\n"),
  ]);
  return renderTable(["CALL", "TOOL", "STATE, ARGUMENTS AND TICKET"], rows, width);
}
