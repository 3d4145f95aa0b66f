import { exitOnceStopped } from "@svc/runtime";
import { startStandalone } from "./start-standalone.ts";

const running = await startStandalone(process.env, (text) => console.log(text));
console.log(JSON.stringify({ ready: true, urls: running.urls }));
await exitOnceStopped(running);
