export { GUIDE_DIR, startStandalone } from "./start-standalone.ts";
export type { Standalone } from "./start-standalone.ts";
