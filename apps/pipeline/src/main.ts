import { runApp } from "@svc/runtime";
import { pipelineService } from "./service.ts";

await runApp("pipeline", process.env, pipelineService);
