export { APPS } from "./apps.ts";
export type { Standalone } from "./start-standalone.ts";

/** Loads what starts the whole product, which a process of one app does not need. */
export const loadStandalone = () => import("./start-standalone.ts");
