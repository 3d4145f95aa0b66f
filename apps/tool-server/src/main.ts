import { runApp } from "@svc/runtime";
import { toolServerService } from "./service.ts";

await runApp("tool-server", process.env, toolServerService);
