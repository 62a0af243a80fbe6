"""A page to try Saft on, in a browser on this machine: `saftc play`.

    server     the page, and what it may ask for; who asks is looked at first
    guard      admits that page alone
    runs       a run of the script, in a process of its own
    named_run  that process, in which the script has the name of its file
    language_server  for the page: `saftc lsp`, the one of the editors
    page.html, page.css, page.js
    editor.js  the editor, bundled from `editors/play` (see there)

Only `saftc play` itself serves the page, only on the loopback interface, and only while it runs.
"""
