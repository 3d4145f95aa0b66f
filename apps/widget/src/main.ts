import { runApp } from "@svc/runtime";
import { widgetService } from "./service.ts";

await runApp("widget", process.env, widgetService);
