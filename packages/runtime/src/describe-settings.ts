import { SETTINGS } from "./settings-schema.ts";

/** docs/configuration.md, made from the schema that checks the configuration. */
export function describeSettings(): string {
  const rows = Object.entries(SETTINGS).map(
    ([name, { description, defaultText }]) => `| \`${name}\` | ${description} | ${defaultText} |`,
  );
  return `# Configuration

Read once when a process starts. Each variable can also be given as a file: \`NAME_FILE\` names a file whose content is
the value (for secrets of Docker and Kubernetes). A bad value stops the start, and all bad ones are named at once.

| Variable | What it is | Default |
|---|---|---|
${rows.join("\n")}

Settings that change while the service runs live in the table \`channels_config\`: \`channels_config.enabled\`,
\`channels_config.api.config.bindHost\`, \`channels_config.api.config.timeoutMs\`,
\`channels_config.api.config.webhookSecret\`, \`channels_config.api.config.bufferDays\`,
\`channels_config.widget.config.apiKey\`, \`channels_config.widget.config.allowedOrigins\`,
\`channels_config.messenger.config.botToken\`. \`PUT /api/v1/admin/channels/:id\` changes each of them, \`svc channels
enable|disable\` the list of enabled channels, and \`svc webhook secret\` the
secret of the project \`default\`; those of other projects are in \`projects\`.

This page is made by \`npm run docs\`; a test compares it with the code.
`;
}
