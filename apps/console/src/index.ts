export { consoleService } from "./service.ts";
