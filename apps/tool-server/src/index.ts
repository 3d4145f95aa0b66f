export type { Tool } from "./mcp/tool.ts";
export { loadTools, toolServerService } from "./service.ts";
