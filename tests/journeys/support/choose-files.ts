import type { FileChooser, Page } from "playwright-core";

/**
 * Performs an action that opens a file dialog, and chooses these files. Chromium intercepts such dialogs only after a
 * command, while keys and clicks use another channel: evaluating something in between ensures their order.
 */
export async function chooseFiles(
  page: Page,
  openDialog: () => Promise<void>,
  files: Parameters<FileChooser["setFiles"]>[0],
): Promise<void> {
  const choosing = page.waitForEvent("filechooser");
  const [chooser] = await Promise.all([choosing, page.evaluate("0").then(openDialog)]);
  await chooser.setFiles(files);
}
