export { isDemoShown } from "./serve-demo.ts";
export { widgetService } from "./service.ts";
