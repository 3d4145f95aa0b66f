import type { CallToolResult, Tool as ToolDefinition, ToolAnnotations } from "@modelcontextprotocol/server";
import type { Principal } from "@svc/auth";
import { checkInput } from "@svc/contracts";
import type { RequiredScope } from "@svc/contracts";
import type { Resources } from "@svc/runtime";
import { z } from "zod";

/** Dependencies of tools. */
export type ToolDeps = Pick<Resources, "store" | "queues" | "embeddings" | "models" | "openTools" | "log">;

/** A tool that MCP clients can call. */
export interface Tool {
  /** Scope that a key needs to see and call it. */
  scope: RequiredScope;
  /** Description for clients. */
  definition: ToolDefinition;
  /** Progress message for calls that may take longer than a moment. */
  waitingFor?: string;
  /**
   * Runs the tool. `args` is the caller's unvalidated input; an aborted signal stops the work. Throws ServiceError,
   * whose text says how to fix the call.
   */
  call: (deps: ToolDeps, principal: Principal, args: unknown, signal: AbortSignal) => Promise<CallToolResult>;
}

/** A tool whose input and output are objects with schemas. */
interface DescribedTool<Input extends z.ZodObject, Output extends z.ZodObject> {
  name: string;
  title: string;
  description: string;
  scope: RequiredScope;
  input: Input;
  output: Output;
  annotations: Required<Omit<ToolAnnotations, "title">>;
  waitingFor?: string;
  run: (
    deps: ToolDeps,
    principal: Principal,
    input: z.output<Input>,
    options: { signal: AbortSignal },
  ) => Promise<z.output<Output>>;
}

/** Returns the JSON Schema of an object for clients. Outputs are open: later versions may add fields. */
function asJsonSchema(schema: z.ZodObject, io: "input" | "output"): { type: "object"; [keyword: string]: unknown } {
  const json = z.toJSONSchema(schema, {
    io,
    override({ jsonSchema }) {
      if (io === "output" && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  return { ...json, type: "object" };
}

/** Returns the result of a tool as data, and as the same JSON for clients that only read text. */
function asResult(data: Record<string, unknown>): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(data, null, 2) }], structuredContent: data };
}

/**
 * Creates a tool that validates its input, reports all errors at once, and returns what its output schema describes.
 */
export function describedTool<Input extends z.ZodObject, Output extends z.ZodObject>({
  name,
  title,
  description,
  scope,
  input,
  output,
  annotations,
  waitingFor,
  run,
}: DescribedTool<Input, Output>): Tool {
  return {
    scope,
    definition: {
      name,
      title,
      description,
      inputSchema: asJsonSchema(input, "input"),
      outputSchema: asJsonSchema(output, "output"),
      annotations: { title, ...annotations },
    },
    ...(waitingFor === undefined ? {} : { waitingFor }),
    async call(deps, principal, args, signal) {
      const checked = checkInput<z.output<Input>>(input, args, "The call");
      return asResult(await run(deps, principal, checked, { signal }));
    },
  };
}
