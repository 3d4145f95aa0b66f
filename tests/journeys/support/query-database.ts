export { queryDatabase } from "@svc/testing";
