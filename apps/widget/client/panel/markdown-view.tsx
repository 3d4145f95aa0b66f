import { h, type ComponentChild } from "preact";
import type { Texts } from "../locales/create-texts.ts";
import type { MarkdownNode } from "./markdown-node.ts";

/** A link to another site, which learns nothing of this page and gets no hold of it. */
export const viewLink = (href: string, children: ComponentChild, texts: Texts) => (
  <a href={href} target="_blank" rel="noopener noreferrer nofollow">
    {children}
    <span class="sr"> ({texts.text("opensNewTab")})</span>
  </a>
);

/** The elements of Markdown. What can be wider than the panel scrolls by itself, with the keyboard too. */
export const viewMarkdown = (nodes: readonly MarkdownNode[], texts: Texts): ComponentChild[] =>
  nodes.map((node) => {
    if (typeof node === "string") return node;
    const { tag, href, start } = node;
    const children = viewMarkdown(node.children, texts);
    if (href !== undefined) return viewLink(href, children, texts);
    const isWide = tag === "table" || tag === "pre";
    const view = h(tag, { start }, children);
    return isWide ? (
      <div class="wide" tabIndex={0}>
        {view}
      </div>
    ) : (
      view
    );
  });
