export { messengerService } from "./service.ts";
