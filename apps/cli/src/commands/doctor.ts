import { defineCommand } from "../define-command.ts";

/** `svc doctor`: checks everything that the product needs, and shows how to fix problems. */
export const doctor = defineCommand({
  about: "Changes nothing. Works whether or not the service is running. The exit code is 1 if a check fails.",
  examples: ["doctor", "doctor --json"],
  async run(cli) {
    const { runDoctor } = await import("../doctor/run-doctor.ts");
    await runDoctor(cli);
  },
});
