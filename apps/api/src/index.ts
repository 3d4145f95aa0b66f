export { apiService } from "./service.ts";
