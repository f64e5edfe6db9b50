; What a name is where it stands, for bash.  Asked only about names that a rule would find.
