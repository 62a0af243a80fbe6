; What is in the holes of prompts and formatted strings is Saft in the same tree.

([(comment) (doc_comment)] @injection.content
  (#set! injection.language "comment"))
