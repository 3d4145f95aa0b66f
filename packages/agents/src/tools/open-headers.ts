import type { Sealer, StoredTool } from "@svc/store";
import type { OpenedTool } from "./callable-tool.ts";

/**
 * Tools with the values of their headers, for their calls. A tool of which one cannot be opened any more (it was sealed
 * with another key) is left out.
 */
export function openHeaders(tools: readonly StoredTool[], sealer: Pick<Sealer, "open">): OpenedTool[] {
  return tools.flatMap((tool) => {
    const headers: Record<string, string> = {};
    for (const [name, sealed] of Object.entries(tool.headers)) {
      const value = sealer.open(sealed);
      if (value === null) return [];
      headers[name] = value;
    }
    return [{ ...tool, headers }];
  });
}
