; What a name is where it stands, for JavaScript.  Asked only about names that a rule would find.
