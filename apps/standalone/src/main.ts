import { startStandalone } from "./start-standalone.ts";

const { urls } = await startStandalone(process.env, (text) => console.log(text));
console.log(JSON.stringify({ ready: true, urls }));
