import { runApp } from "@svc/runtime";
import { apiService } from "./service.ts";

await runApp("api", process.env, apiService);
