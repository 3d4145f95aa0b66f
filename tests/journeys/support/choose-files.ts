import type { FileChooser, Page } from "playwright-core";

/**
 * Does what opens a dialog for files, and gives it these. Chromium catches such dialogs only once the page has been told
 * to, while keys and clicks come to it by another way: the page is asked something in between, lest they overtake it.
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
