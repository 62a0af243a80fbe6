// What the theme makes of blocks of code and of tables, for keyboards and screen readers.
"use strict";

function mend() {
  // The button to copy a block is no landmark.
  for (const one of document.querySelectorAll("nav.md-code__nav:not([role])")) one.setAttribute("role", "none");
  // A wide table is scrolled by keyboard, too.
  for (const one of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) {
    if (one.scrollWidth <= one.clientWidth) continue;
    one.tabIndex = 0;
    one.setAttribute("role", "group");
    one.setAttribute("aria-label", "Table");
  }
}

new MutationObserver(mend).observe(document.documentElement, { childList: true, subtree: true });
addEventListener("resize", mend);
