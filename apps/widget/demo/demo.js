"use strict";

// What a page does with the widget: changes attributes of the tag, and calls `window.svcWidget`.
{
  const EVENTS = ["ready", "open", "close", "message", "unread", "error"];
  const MAX_EVENTS = 50;

  const find = (selector) => document.querySelector(selector);
  const switches = find("#switches");
  const snippet = find("#snippet");
  const copied = find("#copied");
  const events = find("#events");
  const plainSnippet = snippet.textContent;

  const setting = (name) => switches.elements.namedItem(name);

  /** The attributes that differ from the defaults, as they stand in the tag. */
  let attributes = {};

  /** The tag as somebody would paste it, with the attributes that were chosen. */
  function showSnippet() {
    const more = Object.entries(attributes).map(([name, value]) => ` ${name}="${value}"`);
    snippet.textContent = plainSnippet.replace(/><\/script>$/, `${more.join("")}></script>`);
  }

  /** Puts the tag into the page, from the page's own template: no URL is made up by a script. */
  function addTag() {
    const tag = find("#tag").content.querySelector("script")?.cloneNode(true);
    if (tag === undefined) return;
    for (const [name, value] of Object.entries(attributes)) tag.setAttribute(name, value);
    tag.addEventListener("load", listen, { once: true });
    tag.addEventListener("error", () => note("the script failed to load"), { once: true });
    document.body.append(tag);
  }

  function replaceTag() {
    call("destroy");
    for (const tag of document.body.querySelectorAll(":scope > script[data-svc-widget]")) tag.remove();
    addTag();
  }

  function call(name, ...values) {
    const made = window.svcWidget?.[name];
    if (typeof made === "function") made(...values);
    else note(`${name}() is not available yet`);
  }

  function note(text) {
    events.querySelector(".none")?.remove();
    const entry = document.createElement("li");
    const time = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" }).format(new Date());
    entry.textContent = `${time}  ${text}`;
    events.prepend(entry);
    while (events.children.length > MAX_EVENTS) events.lastElementChild.remove();
  }

  /** A widget that was taken away has no listeners any more. */
  function listen() {
    applyChoices();
    for (const name of EVENTS) {
      call("on", name, (detail) => note(detail === undefined ? name : `${name} ${JSON.stringify(detail)}`));
    }
  }

  function applyChoices() {
    if (setting("theme").value !== "auto") call("setTheme", setting("theme").value);
    if (setting("locale").value !== "en") call("setLocale", setting("locale").value);
  }

  const CHANGES = {
    accent({ value }) {
      attributes = { ...attributes, "data-accent": value };
      replaceTag();
      showSnippet();
    },
    position({ value }) {
      attributes = { ...attributes, "data-position": value };
      replaceTag();
      showSnippet();
    },
    theme({ value }) {
      document.documentElement.dataset.theme = value;
      call("setTheme", value);
    },
    locale({ value }) {
      call("setLocale", value);
    },
    dir({ value }) {
      document.documentElement.dir = value;
    },
  };

  switches.addEventListener("submit", (event) => event.preventDefault());
  switches.addEventListener("change", ({ target }) => CHANGES[target.name]?.(target));

  document.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest("button") : null;
    if (button?.dataset.call !== undefined) call(button.dataset.call);
    if (button?.dataset.send !== undefined) {
      call("open");
      call("send", button.dataset.send);
    }
  });

  find("#copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(snippet.textContent);
      copied.textContent = "Copied";
    } catch {
      // A browser may refuse: then the text is marked, and Ctrl-C does it.
      getSelection().selectAllChildren(snippet);
      copied.textContent = "Press Ctrl+C to copy";
    }
  });

  // A reload keeps what was chosen in the form, in some browsers.
  document.documentElement.dataset.theme = setting("theme").value;
  document.documentElement.dir = setting("dir").value;
  addTag();
}
