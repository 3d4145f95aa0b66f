import { createHash } from "node:crypto";
import type { ChatTool } from "../models/language-model.ts";
import { bindArguments } from "./bound-arguments.ts";
import type { ToolCustomer } from "./bound-arguments.ts";
import type { CallableTool, ToolOutcome } from "./callable-tool.ts";
import { canonicalJson } from "./callable-tool.ts";
import { checkArguments } from "./check-arguments.ts";

/** Calls of tools that are made for one message at most. */
const CALLS_MAX_COUNT = 20;

/** A call that a model has asked for, with arguments that were checked. */
export interface AskedCall {
  tool: CallableTool;
  arguments: Record<string, unknown>;
  /** The same for the same tool and arguments. */
  key: string;
  /** How many such calls came before it: always 0 for what writes, since that is done once. */
  occurrence: number;
}

/** Decides about each call, makes the allowed ones, and returns the text for the model. */
export type ToolDesk = (call: AskedCall, signal: AbortSignal) => Promise<string>;

/** Text for the model about a call that was made. */
export function tellOutcome({ state, text }: ToolOutcome): string {
  return state === "done" ? text : `${state === "failed" ? "The call failed." : "The call was aborted."}\n${text}`;
}

/**
 * Offers tools to a model: checks what it calls them with, adds the bound arguments of this customer, and leaves the
 * rest to the desk. `onRefused` learns of calls that are not made for this customer. The same call that writes is made
 * once, however often it is asked for, also at the same time. The tools never reject but with what the desk rejects
 * with.
 */
export function offerTools(
  tools: readonly CallableTool[],
  desk: ToolDesk,
  { customer, onRefused }: { customer: ToolCustomer; onRefused: (tool: CallableTool, refusal: string) => void },
): ChatTool[] {
  const occurrences = new Map<string, number>();
  const writes = new Map<string, Promise<string>>();
  let count = 0;

  function ask(tool: CallableTool, input: Record<string, unknown>, signal: AbortSignal): Promise<string> {
    const key = createHash("sha256")
      .update(canonicalJson([tool.mark, tool.name, input]))
      .digest("hex");
    const isRead = tool.access === "read";
    const asked = isRead ? undefined : writes.get(key);
    if (asked !== undefined) return asked;
    const occurrence = isRead ? (occurrences.get(key) ?? 0) : 0;
    occurrences.set(key, occurrence + 1);
    const answer = desk({ tool, arguments: input, key, occurrence }, signal);
    if (!isRead) writes.set(key, answer);
    return answer;
  }

  return tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    parameters: tool.parameters,
    async execute(input, { signal }) {
      count++;
      if (count > CALLS_MAX_COUNT)
        return "Not called: too many calls for this message. Answer with the results so far.";
      const checked = await checkArguments(tool.parameters, input);
      if ("problem" in checked) return `Not called: ${checked.problem}.`;
      const bound = bindArguments(tool, customer, checked.arguments);
      if ("arguments" in bound) return ask(tool, bound.arguments, signal);
      onRefused(tool, bound.refusal);
      return bound.refusal;
    },
  }));
}

/** The desk of a call without a ticket: it reads, and changes nothing. */
export const readOnlyDesk: ToolDesk = async ({ tool, arguments: input, key }, signal) => {
  if (tool.access === "write") return "Not called: tools that change something require a ticket.";
  if (tool.approval === "operator") return "Not called: an operator must approve this call, which requires a ticket.";
  return tellOutcome(await tool.call(input, { callId: key, signal }));
};
