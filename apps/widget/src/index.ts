export { isDemoShown } from "./serve-client.ts";
export { widgetService } from "./service.ts";
