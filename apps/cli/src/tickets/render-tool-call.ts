import type { ToolCall, ToolCallState } from "@svc/contracts";
import { toMinute } from "../render-table.ts";
import { safeLine } from "../terminal.ts";
import type { Paint } from "../terminal.ts";

const ARGUMENTS_CHARS = 200;
const RESULT_CHARS = 300;
const NAME_CHARS = 80;

const STATES: Record<ToolCallState, string> = {
  waiting: "waiting for an operator",
  approved: "about to run",
  running: "running",
  done: "done",
  failed: "failed",
  unknown: "unknown whether it was made; check the other system",
  rejected: "not made",
};

/** Returns who decided about a call. A rejected call without a decision was no longer needed. */
function decisionOf({ state, decidedBy }: ToolCall): string {
  if (decidedBy === null) return state === "rejected" ? ", its message no longer needs it" : "";
  return `, ${state === "rejected" ? "rejected" : "approved"} by ${safeLine(decidedBy, NAME_CHARS)}`;
}

/** Returns the state of a call and who decided about it, in words. */
function stateOf(call: ToolCall, { yellow, red, green }: Paint): string {
  const colors: Partial<Record<ToolCallState, Paint["red"]>> = {
    waiting: yellow,
    done: green,
    failed: red,
    unknown: red,
  };
  const paint = colors[call.state];
  const words = STATES[call.state];
  return `${paint === undefined ? words : paint(words)}${decisionOf(call)}`;
}

const argumentsOf = (call: ToolCall, maxChars: number) => safeLine(JSON.stringify(call.arguments), maxChars);

/** Returns a call with its arguments and the start of its result. External texts are escaped. */
export function renderToolCall(call: ToolCall, paint: Paint, maxChars = ARGUMENTS_CHARS): string {
  const { id, at, tool, result } = call;
  return [
    `${paint.dim(toMinute(at))}  ${paint.bold(tool)}  ${stateOf(call, paint)}  ${paint.dim(id)}`,
    `  │ ${argumentsOf(call, maxChars)}`,
    ...(result === null ? [] : [`  │ → ${safeLine(result, RESULT_CHARS)}`]),
  ].join("\n");
}

/** Returns the lines about a call in a table: its state, its arguments and its ticket. */
export function describeToolCall(call: ToolCall, paint: Paint): string {
  const ticket = paint.dim(`${toMinute(call.at)}, ticket ${call.ticketId}`);
  return [stateOf(call, paint), argumentsOf(call, ARGUMENTS_CHARS), ticket].join("\n");
}
