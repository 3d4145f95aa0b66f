// `npm start` and `npm run svc -- …`: prepares the checkout when needed, then runs the command line in this process.
import { prepare } from "./prepare.mjs";

try {
  await prepare((line) => console.error(line));
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
await import("../apps/cli/dist/main.js");
