import { runApp } from "@svc/runtime";
import { consoleService } from "./service.ts";

await runApp("console", process.env, consoleService);
