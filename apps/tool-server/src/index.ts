export type { Tool } from "./tool.ts";
export { loadTools, toolServerService } from "./service.ts";
