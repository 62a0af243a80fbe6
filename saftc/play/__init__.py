"""`saftc play`: a page in a local browser for trying Saft.

  server     the page, and the requests that it may send, after `guard` has admitted them
  guard      admits that page alone
  runs       runs the script in a separate process
  named_run  that process, in which the script has the name of its file
  language_server  for the page: `saftc lsp`, the one of the editors
  page.html, page.css, page.js
  editor.js  the editor, bundled from `editors/play` (see there)

The page is served by `saftc play` only, on the loopback interface, while the command runs.
"""
