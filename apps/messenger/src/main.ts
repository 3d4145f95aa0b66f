import { runApp } from "@svc/runtime";
import { messengerService } from "./service.ts";

await runApp("messenger", process.env, messengerService);
