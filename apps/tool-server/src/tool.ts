import type { CallToolResult, Tool as ToolDefinition, ToolAnnotations } from "@modelcontextprotocol/server";
import type { Principal } from "@svc/auth";
import { checkInput } from "@svc/contracts";
import type { RequiredScope } from "@svc/contracts";
import type { Resources } from "@svc/runtime";
import { z } from "zod";

/** What tools work with. */
export type ToolDeps = Pick<Resources, "store" | "queues" | "embeddings" | "models" | "openTools" | "log">;

/** A tool that MCP clients can call. */
export interface Tool {
  /** What a key must have to see it and to call it. */
  scope: RequiredScope;
  /** Description for clients. */
  definition: ToolDefinition;
  /** What to tell who waits, where that may take longer than a moment. */
  waitingFor?: string;
  /**
   * Does the work. `args` is whatever the caller has sent; an aborted signal ends the work. Throws ServiceError, whose
   * text says how to mend the call.
   */
  call: (deps: ToolDeps, principal: Principal, args: unknown, signal: AbortSignal) => Promise<CallToolResult>;
}

/** A tool whose input and output are objects of schemas. */
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

/** What a tool has to say, as data, and as the same JSON for who reads texts only. */
function asResult(data: Record<string, unknown>): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(data, null, 2) }], structuredContent: data };
}

/** Makes a tool that checks its input, all faults at once, and answers what its output schema says. */
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
