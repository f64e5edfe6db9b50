; The rules for JavaScript: none yet beside those that every language has (bytes that could fool a
; reader, text that the grammar cannot read).  The head of python.scm says how rules are written.
