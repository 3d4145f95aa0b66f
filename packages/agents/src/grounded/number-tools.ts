import type { CallResult } from "../answer-question.ts";
import type { ChatTool } from "../models/language-model.ts";
import { PROMPT_LIMITS, resultLabel } from "./answer-prompt.ts";
import { defuseText } from "./defuse-text.ts";
import type { Evidence } from "./evidence.ts";
import type { Fence } from "./fence.ts";
import { givesOrders } from "./gives-orders.ts";

const LEFT_OUT = "This result is left out: it contains instructions to its reader.";

/**
 * Tools whose results come fenced and numbered, so that claims can cite them. A result that gives orders to a model is
 * left out.
 */
export function numberTools(tools: readonly ChatTool[], evidence: Evidence, fence: Fence): ChatTool[] {
  return tools.map((tool) => ({
    ...tool,
    execute: async (input, options) => fenceResult(tool.name, await tool.execute(input, options), evidence, fence),
  }));
}

/** What came of calls that were made before the model is asked, as the results of its own calls come. */
export function fenceResults(results: readonly CallResult[], evidence: Evidence, fence: Fence): string[] {
  return results.map(({ tool, text }) => fenceResult(tool, `${tool} ${text}`, evidence, fence));
}

function fenceResult(tool: string, result: string, evidence: Evidence, fence: Fence): string {
  const said = defuseText(result, PROMPT_LIMITS.result);
  const text = givesOrders(said) ? LEFT_OUT : said;
  const number = text === LEFT_OUT ? null : evidence.addResult(tool, text);
  return fence.around(number === null ? "result" : resultLabel(number), text, PROMPT_LIMITS.result);
}
