export { pipelineService } from "./service.ts";
