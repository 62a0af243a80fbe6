"""`saftc play`: a page in a local browser for trying Saft.

  server     serves the page, and answers the requests that `guard` has admitted
  guard      refuses all requests that do not come from the page
  runs       starts a separate process for each run of the script
  named_run  the program of that process; it runs the script under the name of its file
  language_server  connects the page to `saftc lsp`, the same language server as for editors
  page.html, page.css, page.js
  editor.js  the editor, bundled from `editors/play` (see there)

The page is served on the loopback interface only, as long as the command runs.
"""
