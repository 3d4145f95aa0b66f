/** After so many returns somebody surely wants the element away. */
const MOST_RETURNS = 20;

/**
 * Puts `host` into the page's body, and puts it back when a page that changes its content without loading (history
 * navigation, hydration, an exchanged body) has thrown it out. Answers a function that takes it away for good.
 */
export function keepMounted(host: HTMLElement): () => void {
  let returns = 0;
  const observer = new MutationObserver(attach);

  function attach(): void {
    if (host.isConnected || returns++ > MOST_RETURNS) return;
    const { body, documentElement } = document;
    // Between two bodies there is none; the next change tells.
    if (body === null) return;
    body.append(host);
    observer.disconnect();
    // Only direct children are watched, so that this costs nothing on a page that is busy inside.
    observer.observe(documentElement, { childList: true });
    observer.observe(body, { childList: true });
  }

  observer.observe(document.documentElement, { childList: true });
  attach();
  return () => {
    observer.disconnect();
    host.remove();
  };
}
